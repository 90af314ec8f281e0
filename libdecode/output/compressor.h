/* compressor.h - compresses records into COMPRESSED or COMPRESSED2 records: zstd frames, one after the other through the whole
 * file. zstd_stream.h is the other way. */
#ifndef PD_OUTPUT_COMPRESSOR_H
#define PD_OUTPUT_COMPRESSOR_H

#include "output/out.h"
#include "pd/write.h"
#include "session/session.h"

/* Bytes that one compressed record may hold decompressed: perf's room for them is that of its buffers. */
#define PD_COMPRESSED_MOST PD_WRITER_COMPRESSED_MOST

struct pd_compressor;

enum pd_compressed_as {
	PD_AS_COMPRESSED,	/* perf before 6.16 knows only this one */
	PD_AS_COMPRESSED2,
};

/* NULL: no memory, or no such level (1 to 22). */
struct pd_compressor *pd_compressor_new(int level, enum pd_compressed_as as, enum pd_swap swap);
void pd_compressor_free(struct pd_compressor *p);
/* Takes records, compressed and written to out when there are many. 0, or the errno; the others likewise. */
int pd_compressor_write(struct pd_compressor *p, struct pd_bytes records, struct pd_out *out);
/* As many as belong together, PD_COMPRESSED_MOST bytes at most, at once: they need not be gathered. */
int pd_compressor_add(struct pd_compressor *p, struct pd_bytes records, struct pd_out *out);
/* All that was taken comes out: before a record that is not compressed. */
int pd_compressor_flush(struct pd_compressor *p, struct pd_out *out);
/* Bytes taken and bytes made. */
void pd_compressor_sizes(const struct pd_compressor *p, uint64_t *in, uint64_t *out);

#endif
