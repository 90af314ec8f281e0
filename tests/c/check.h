/* check.h - what the C tests share that count what is wrong: each says where, and goes on. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			printf("%s:%d: %s\n", __func__, __LINE__, #condition), failures++; \
	} while (0)

#endif
