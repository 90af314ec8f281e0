/* output.h - the caller's function that takes output bytes. */
#ifndef PD_OUTPUT_H
#define PD_OUTPUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_output {
	/* Must take all n bytes. Returns 0, or an errno, after which it is not called again. Sinks
	 * with threads call it from any of them, but never from two at once. */
	int (*write)(void *ctx, const void *p, size_t n);
	void *ctx;
};

#ifdef __cplusplus
}
#endif
#endif
