/* output.h - where bytes go: the caller's function. */
#ifndef PD_OUTPUT_H
#define PD_OUTPUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_output {
	/* Takes all n bytes; 0, or an errno, after which it is not called again. Of a sink with threads any may call it,
	 * but never two at once. */
	int (*write)(void *ctx, const void *p, size_t n);
	void *ctx;
};

#ifdef __cplusplus
}
#endif
#endif
