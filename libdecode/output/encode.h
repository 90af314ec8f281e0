/* encode.h - the encoder's state; encode.c takes the parts, encode_stated.c what `file` says, encode_file.c lays a file out,
 * encode_pipe.c a pipe. */
#ifndef PD_OUTPUT_ENCODE_H
#define PD_OUTPUT_ENCODE_H

#include "output/compose.h"
#include "output/compressor.h"
#include "output/out.h"

#define PD_ENCODE_MAX_FILES 4096

/* What `file` says of where things lie. */
struct pd_stated {
	bool given;			/* there was a `file` */
	bool v1, complete, has_sections;
	enum pd_mode mode;
	enum pd_byte_order order;
	uint64_t size, header_size, attr_size, data_offset, data_size, long_size;
	bool has_size;
	struct pd_section *sections;
	size_t nr_sections;
	struct pd_map ids;		/* an event's index -> the section of its ids */
	bool adds_features[PD_FEATURE_BITS];
};

struct pd_gap {
	uint64_t offset;
	struct pd_buf bytes;
};

/* The events that have names, sorted by them. */
struct pd_encode_events {
	struct pd_attr **by_name;	/* NULL: not sorted yet */
	size_t nr_named, nr_attrs;
	uint64_t renames;		/* the session's, when they were sorted */
	uint64_t credit;		/* events that may be sorted again */
};

/* Each file of a directory is a stream of its own. */
struct pd_encode_compressor {
	struct pd_out *out;
	struct pd_compressor *compressor;
};

/* What is wrong with a part. Its texts are lent to the pd_error of the caller. */
struct pd_encode_error {
	enum pd_code code;
	uint64_t have;		/* errno of PD_E_IO */
	char path[160];		/* "callchain[3]", relative to the part */
	char text[160];		/* what was expected */
};

struct pd_encoder {
	struct pd_encode_error wrong;
	const struct pd_values *v;
	struct pd_encoder_options options;
	struct pd_budget budget;
	struct pd_session session;
	struct pd_stated stated;
	enum pd_mode mode;		/* of the output */
	bool converts;			/* to another mode, byte order or compression: offsets that were said don't hold */
	bool turns;			/* to the other byte order */
	bool started, begun, ended;
	struct pd_out out;
	struct pd_encode_compressor *compressors;
	size_t nr_compressors;
	bool uncompressed;		/* what was compressed is written as it was before */
	struct pd_buf scratch;
	const struct pd_record_desc *last_desc;
	struct pd_encode_events events;
	uint64_t data_offset;
	bool nowhere;			/* data_offset is none that a file can have */
	struct pd_composed_feature features[PD_FEATURE_BITS];
	struct pd_buf event_types;
	struct pd_gap *gaps;
	size_t nr_gaps;
	bool wrote_gaps;
	uint64_t left_out;		/* records */
	bool skip_inner;		/* the compressed record that holds them was written */
	struct pd_out *others;		/* data.N of a directory */
	char **other_names;
	size_t nr_others;
};

int pd_encode_fail(struct pd_encode_error *e, enum pd_code code, const char *path, const char *text);
int pd_encode_io(struct pd_encode_error *e, int error);
int pd_encode_no_memory(struct pd_encode_error *e);
int pd_encode_fail_pack(struct pd_encode_error *e, const struct pd_pack_error *p, const char *prefix);

/* The byte order is settled: from now on things can be packed. 0, or -1 and *e. */
int pd_encode_start(struct pd_encoder *enc, struct pd_encode_error *e);

/* The member as a number, where it is there. 0, or -1 and *e, with a path that begins with `prefix`. */
int pd_encode_take_number(const struct pd_encoder *enc, pd_node object, const char *prefix, const char *name, uint64_t *out,
			  struct pd_encode_error *e);

/* Is the member that text? */
bool pd_encode_states(const struct pd_encoder *enc, pd_node object, const char *name, const char *text);

/* Copies a text, NUL-terminated and cut to size. */
bool pd_encode_text_of(const struct pd_encoder *enc, pd_node n, char *buf, size_t size);

/* Sets *out to the first event of that name, if there is one. 0, or -1 and *e. */
int pd_encode_event_named(struct pd_encoder *enc, const char *name, const struct pd_attr **out, struct pd_encode_error *e);

/* A data.N of the directory; made when it is first named. */
struct pd_out *pd_encode_out_named(struct pd_encoder *enc, pd_node n, const char *path, struct pd_encode_error *e);

/* Compresses a record; writes out what was taken (of all files: NULL); at the end of a file. 0, or -1 and *e. */
int pd_encode_compress(struct pd_encoder *enc, struct pd_bytes record, struct pd_out *out, struct pd_encode_error *e);
int pd_encode_compress_flush(struct pd_encoder *enc, struct pd_out *out, struct pd_encode_error *e);
int pd_encode_compress_finish(struct pd_encoder *enc, struct pd_encode_error *e);
void pd_encode_compress_free(struct pd_encoder *enc);

/* The functions behind pd_encoder_file() and so on. 0, or -1 and *e. */
int pd_encode_file(struct pd_encoder *enc, pd_node file, struct pd_encode_error *e);
int pd_encode_attr(struct pd_encoder *enc, pd_node attr, struct pd_encode_error *e);
int pd_encode_features(struct pd_encoder *enc, pd_node features, struct pd_encode_error *e);
int pd_encode_record(struct pd_encoder *enc, pd_node record, struct pd_encode_error *e);
int pd_encode_finish(struct pd_encoder *enc, struct pd_encode_error *e);

/* Before the first record, and at the end. 0, or -1 and *e. */
int pd_encode_begin_file(struct pd_encoder *enc, struct pd_encode_error *e);
int pd_encode_finish_file(struct pd_encoder *enc, struct pd_encode_error *e);
int pd_encode_begin_pipe(struct pd_encoder *enc, struct pd_encode_error *e);

#endif
