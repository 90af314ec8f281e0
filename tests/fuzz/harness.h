/* harness.h - what the fuzz targets share: decoding and encoding in memory, and the properties that
 * hold for every input.
 *
 * A property that does not hold ends the process: fuzz_fail(). The targets are driven by libFuzzer,
 * by main.c with files, and by mutate.c with mutants of files.
 */
#ifndef PD_TESTS_FUZZ_HARNESS_H
#define PD_TESTS_FUZZ_HARNESS_H

#include "pd/pd.h"
#include "pd/write.h"

#define FUZZ_MEMORY (16u << 20)		/* the limit that the library gets */
#define FUZZ_SLACK (24u << 20)		/* more, for sinks, buffers and zstd at this input size */
#define FUZZ_FACTOR 2048		/* bytes of output for a byte of records: as documented */
#define FUZZ_NS 2000000000ull		/* CPU time of a run with the sanitizers: a constant part */
#define FUZZ_NS_PER_BYTE 20000		/* ... and for each byte of input, expanded */
#define FUZZ_OUTPUT_MAX (192u << 20)	/* more is not kept */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn void fuzz_fail(const char *what, ...) __attribute__((format(printf, 1, 2)));
#define FUZZ_ASSERT(condition, ...) do { if (!(condition)) fuzz_fail(__VA_ARGS__); } while (0)

/* CPU time of all threads: other programs don't count. A target that neither decodes nor encodes
 * through the functions below checks its time itself. */
uint64_t fuzz_cpu_time(void);
void fuzz_check_time(uint64_t from, uint64_t bytes);

struct fuzz_bytes {
	uint8_t *data;
	size_t size, capacity;
};
void fuzz_append(struct fuzz_bytes *b, const void *p, size_t n);
void fuzz_free(struct fuzz_bytes *b);

struct fuzz_decoded {
	struct fuzz_bytes json;
	bool opened;
	size_t errors;		/* what pdecode exits with 1 for */
	uint64_t records, record_bytes, skipped;
	uint64_t headers;	/* records that stand for a file's header */
};

struct fuzz_how {
	enum pd_order_by order;
	enum pd_json_shape shape;
	enum pd_blobs blobs;
	enum { FUZZ_JSON, FUZZ_STATS } sink;
	/* 0: records one by one, as any caller may; else in batches, as pdecode does */
	unsigned int threads;
	uint64_t memory;	/* 0: FUZZ_MEMORY */
	bool resolves;		/* with a history, learned before */
};

/* Decodes and holds the output to the properties: strict JSON, bounded memory and output. Free json
 * afterwards. */
void fuzz_decode(struct pd_bytes in, const struct fuzz_how *how, struct fuzz_decoded *out);

enum fuzz_encoded {
	FUZZ_REFUSED,
	FUZZ_PARTIAL,		/* the encoder says what was left out */
	FUZZ_COMPLETE,
};

/* Encodes JSON Lines. */
enum fuzz_encoded fuzz_encode(struct pd_bytes json, const struct pd_encoder_options *o,
			      struct fuzz_bytes *out);

/* NULL, or what is wrong with the text as one value of RFC 8259: UTF-8, no lone surrogates, no key
 * twice in an object. */
const char *fuzz_json_fault(const char *text, size_t size);

#endif
