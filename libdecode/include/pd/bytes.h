/* bytes.h - a borrowed span of bytes; shared by every public header. */
#ifndef PD_BYTES_H
#define PD_BYTES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_bytes {
	const uint8_t *data;	/* may be NULL when size is 0 */
	size_t size;
};

#ifdef __cplusplus
}
#endif
#endif
