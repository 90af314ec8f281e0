/* encode.h - the encoder's state and what its files share: encode.c encodes the parts,
 * encode_stated.c reads `file`, encode_ids.c the ids of events, encode_file.c writes the layout of
 * a file, encode_pipe.c that of a pipe, encode_ignored.c finds what is stated twice and differs,
 * encode_tracepoint.c the fields of tracepoints that do.
 */
#ifndef PD_OUTPUT_ENCODE_H
#define PD_OUTPUT_ENCODE_H

#include "output/compose.h"
#include "output/compressor.h"
#include "output/out.h"

#define PD_ENCODE_MAX_FILES 4096

/* The layout that `file` states. */
struct pd_stated {
	bool given;			/* there is a `file` */
	bool v1, complete, has_sections;
	struct pd_buf damaged_magic;	/* 8 bytes, or empty */
	enum pd_mode mode;
	enum pd_byte_order order;
	uint64_t size, header_size, attr_size, data_offset, data_size, long_size;
	bool has_size;
	struct pd_section *sections;
	size_t nr_sections;
	struct pd_map ids;		/* index of an event -> section of its ids */
	bool adds_features[PD_FEATURE_BITS];
};

struct pd_gap {
	uint64_t offset;
	struct pd_buf bytes;
};

/* The named events, sorted by name. */
struct pd_encode_events {
	struct pd_attr **by_name;	/* NULL: not yet sorted */
	size_t nr_named, nr_attrs;
	uint64_t renames;		/* the session's count at the last sort */
	uint64_t credit;		/* events that may still be sorted again */
};

/* Each file of a directory has its own zstd stream. */
struct pd_encode_compressor {
	struct pd_out *out;
	struct pd_compressor *compressor;
};

/* The error of a part. Its texts are borrowed by the pd_error of the caller. */
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
	/* mode, byte order or compression changes: stated offsets are not used */
	bool converts;
	bool swaps;			/* the byte order changes */
	bool started, begun, ended;
	struct pd_out out;
	struct pd_encode_compressor *compressors;
	size_t nr_compressors;
	bool uncompressed;		/* compressed records are written decompressed */
	struct pd_buf scratch;
	const struct pd_record_desc *last_desc;
	struct pd_encode_events events;
	struct pd_buf outside_ids;	/* uint64_t: ids that are not in their stated section */
	bool lacks_ids;			/* an event has fewer ids than its stated section */
	uint64_t data_offset;
	bool offset_invalid;		/* data_offset exceeds the size of any file */
	struct pd_composed_feature features[PD_FEATURE_BITS];
	struct pd_buf event_types;
	struct pd_gap *gaps;
	size_t nr_gaps;
	bool wrote_gaps;
	uint64_t left_out;		/* number of records */
	/* the compressed record that contains them is written instead */
	bool skip_inner;
	uint64_t seed;			/* of the hashes below */
	bool has_records;		/* one was given */
	bool has_formats;		/* those of tracepoints are in the session */
	struct pd_buf stated_names;	/* uint64_t: hashes by the event's index; 0: none */
	uint64_t nr_stated_attrs;	/* of a pipe */
	/* of a pipe: hash of the section that a record has, 0: none; whether `features` has it */
	uint64_t in_records[PD_FEATURE_BITS];
	bool in_features[PD_FEATURE_BITS], has_features;
	uint64_t nr_ignored;		/* number of members without effect */
	char first_ignored[160];	/* path of the first */
	struct pd_out *others;		/* the data.N of a directory */
	char **other_names;
	size_t nr_others;
};

int pd_encode_fail(struct pd_encode_error *e, enum pd_code code, const char *path,
		   const char *text);
int pd_encode_io(struct pd_encode_error *e, int error);
int pd_encode_no_memory(struct pd_encode_error *e);
int pd_encode_fail_pack(struct pd_encode_error *e, const struct pd_pack_error *p,
			const char *prefix);

/* Fixes the byte order and mode; must precede packing. Returns 0, or -1 and *e. */
int pd_encode_start(struct pd_encoder *enc, struct pd_encode_error *e);
/* Begins the output: must precede writing. Returns 0, or -1 and *e. */
int pd_encode_begin(struct pd_encoder *enc, struct pd_encode_error *e);

/* Sets *out to the member, if it exists. Returns 0, or -1 and *e with a path that begins with
 * `prefix`. */
int pd_encode_get_number(const struct pd_encoder *enc, pd_node object, const char *prefix,
			 const char *name, uint64_t *out, struct pd_encode_error *e);

/* Returns whether the member is that text. */
bool pd_encode_text_is(const struct pd_encoder *enc, pd_node object, const char *name,
		       const char *text);

/* Copies a text, truncated and NUL-terminated. Returns false if n is no text. */
bool pd_encode_copy_text(const struct pd_encoder *enc, pd_node n, char *buf, size_t size);

/* Sets *out to the first event of that name, or leaves it. Returns 0, or -1 and *e. The name of one
 * that is found counts as used, except by the second function. */
int pd_encode_find_event(struct pd_encoder *enc, const char *name, const struct pd_attr **out,
			 struct pd_encode_error *e);
int pd_encode_look_up_event(struct pd_encoder *enc, const char *name, const struct pd_attr **out,
			    struct pd_encode_error *e);

/* Returns the data.N of the directory that n names, created at its first use, or NULL and *e. */
struct pd_out *pd_encode_open_data_n(struct pd_encoder *enc, pd_node n, const char *path,
				     struct pd_encode_error *e);

/* Refuses a sample whose tracepoint has other fields than its raw data. The output of pdecode is
 * never refused. Returns 0, or -1 and *e. */
int pd_encode_check_tracepoint(struct pd_encoder *enc, pd_node record, const struct pd_attr *a,
			       struct pd_encode_error *e);

/* Reads `magic_hex`, which may be NULL. Returns 0, or -1 and *e. */
int pd_encode_read_magic(struct pd_encoder *enc, pd_node hex, struct pd_encode_error *e);
/* Stores the damaged magic that `file` states, if the output is not converted. */
void pd_encode_magic(const struct pd_encoder *enc, struct pd_buf *header);

/* Adds the ids of an attribute's JSON to its event. Returns 0, or -1 and *e. */
int pd_encode_ids(struct pd_encoder *enc, pd_node ids, struct pd_attr *a,
		  struct pd_encode_error *e);
/* Returns whether the ids are those of the stated sections, or in EVENT_DESC. */
bool pd_encode_ids_fit(struct pd_encoder *enc);

/* Notes the section that a record of a pipe has. */
void pd_encode_note_section(struct pd_encoder *enc, uint32_t type, struct pd_bytes record,
			    struct pd_bytes payload);
/* Notes that a record found its event by the name, which so has an effect. */
void pd_encode_use_name(struct pd_encoder *enc, const struct pd_attr *a);
/* Notes the name that an element of `attrs` states. Returns 0, or -1 and *e. */
int pd_encode_note_name(struct pd_encoder *enc, pd_node attr, const struct pd_attr *a,
			struct pd_encode_error *e);
/* Compare what a pipe's `attrs` and `features` state with its records. Each returns 0, or -1 and
 * *e. */
int pd_encode_compare_attr(struct pd_encoder *enc, pd_node attr, const struct pd_pack *how,
			   struct pd_encode_error *e);
int pd_encode_compare_features(struct pd_encoder *enc, pd_node features, struct pd_encode_error *e);
/* Compares what only the end of all parts shows: names of events, and what was removed. */
void pd_encode_compare_rest(struct pd_encoder *enc);

/* Compresses a record; flushes the stream of one file, or of all (NULL); updates the COMPRESSED
 * feature at the end of a file. Each returns 0, or -1 and *e. */
int pd_encode_compress(struct pd_encoder *enc, struct pd_bytes record, struct pd_out *out,
		       struct pd_encode_error *e);
int pd_encode_compress_flush(struct pd_encoder *enc, struct pd_out *out, struct pd_encode_error *e);
int pd_encode_compress_finish(struct pd_encoder *enc, struct pd_encode_error *e);
void pd_encode_compress_free(struct pd_encoder *enc);

/* Implement pd_encoder_file() and so on. Each returns 0, or -1 and *e. */
int pd_encode_file(struct pd_encoder *enc, pd_node file, struct pd_encode_error *e);
int pd_encode_attr(struct pd_encoder *enc, pd_node attr, struct pd_encode_error *e);
int pd_encode_features(struct pd_encoder *enc, pd_node features, struct pd_encode_error *e);
int pd_encode_record(struct pd_encoder *enc, pd_node record, struct pd_encode_error *e);
int pd_encode_finish(struct pd_encoder *enc, struct pd_encode_error *e);

/* Called before the first record and at the end. Each returns 0, or -1 and *e. */
int pd_encode_begin_file(struct pd_encoder *enc, struct pd_encode_error *e);
int pd_encode_finish_file(struct pd_encoder *enc, struct pd_encode_error *e);
int pd_encode_begin_pipe(struct pd_encoder *enc, struct pd_encode_error *e);

#endif
