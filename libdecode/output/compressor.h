/* compressor.h - compress records into COMPRESSED or COMPRESSED2 records: consecutive zstd frames
 * through the whole file. zstd_stream.h decompresses.
 */
#ifndef PD_OUTPUT_COMPRESSOR_H
#define PD_OUTPUT_COMPRESSOR_H

#include "output/out.h"
#include "pd/write.h"
#include "session/session.h"

/* Decompressed bytes per compressed record: the size of perf's buffers for them. */
#define PD_COMPRESSED_MOST PD_WRITER_COMPRESSED_MOST

struct pd_compressor;

enum pd_compressed_as {
	PD_AS_COMPRESSED,	/* the only one that perf before 6.16 knows */
	PD_AS_COMPRESSED2,
};

/* Returns NULL if out of memory or if the level is not 1 to 22. */
struct pd_compressor *pd_compressor_new(int level, enum pd_compressed_as as, enum pd_swap swap);
void pd_compressor_free(struct pd_compressor *p);
/* Buffers records; compresses and writes them when there are enough. This and the next two return 0
 * or an errno. */
int pd_compressor_write(struct pd_compressor *p, struct pd_bytes records, struct pd_out *out);
/* Compresses and writes records at once, without copying them: at most PD_COMPRESSED_MOST bytes. */
int pd_compressor_add(struct pd_compressor *p, struct pd_bytes records, struct pd_out *out);
/* Writes everything buffered; needed before a record that is not compressed. */
int pd_compressor_flush(struct pd_compressor *p, struct pd_out *out);
/* Sets the total sizes of the input and the output. */
void pd_compressor_sizes(const struct pd_compressor *p, uint64_t *in, uint64_t *out);

#endif
