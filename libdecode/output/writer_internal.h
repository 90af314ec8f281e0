/* writer_internal.h - the struct of a writer, shared by writer.c, writer_append.c
 * and writer_features.c. */
#ifndef PD_OUTPUT_WRITER_INTERNAL_H
#define PD_OUTPUT_WRITER_INTERNAL_H

#include "output/async_writer.h"
#include "output/compose.h"
#include "output/compressor.h"
#include "output/out.h"
#include "pd/write.h"

struct pd_writer {
	struct pd_writer_options options;
	struct pd_budget budget;
	struct pd_session session;
	struct pd_out out;
	struct pd_compressor *compressor;
	/* or NULL; owns `out` and `compressor` while it exists */
	struct pd_async_writer *async;
	bool watching;			/* pass records to options.watch */
	uint64_t stated_size;		/* data.size in the header: records up to the last flush */
	struct pd_buf scratch;
	struct pd_header_values header;
	struct pd_composed_feature features[PD_FEATURE_BITS];
	enum stage { ADDING_EVENTS, RECORDING, ENDED, FINISHED } stage;	/* FINISHED: whole */
	/* in the caller's values; pd_error borrows its texts */
	struct pd_pack_error pack_error;
};

static inline int pd_writer_fail(struct pd_error *e, enum pd_code code, uint64_t have)
{
	*e = (struct pd_error){ .code = code, .severity = PD_FATAL, .have = have };
	return -1;
}

/* Returns 0 for an errno of 0. */
static inline int pd_writer_check_io(int failed, struct pd_error *e)
{
	return failed ? pd_writer_fail(e, PD_E_IO, (uint64_t)failed) : 0;
}

/* --- writer_append.c --- */

/* Fails unless the writer is between begin and finish. */
int pd_writer_require_recording(const struct pd_writer *w, struct pd_error *e);

/* Appends bytes that are not compressed. Returns 0 or an errno. */
int pd_writer_append(struct pd_writer *w, const void *p, size_t n);

/* Passes bytes to options.watch. The header is not passed on. `writer` is the writer. */
void pd_writer_notify_watch(void *writer, struct pd_bytes bytes);

/* Composes a record into the scratch buffer. */
int pd_writer_compose(struct pd_writer *w, const struct pd_compose_record *r,
		      const struct pd_value *fields, size_t n, struct pd_pack_error *p);

/* Returns the name of a record type, or NULL. */
const char *pd_writer_record_name(uint32_t type);

/* Writes a record that the caller has not asked for. */
int pd_writer_own_record(struct pd_writer *w, uint32_t type, const struct pd_value *fields,
			 size_t n, struct pd_error *e);

/* Reports values of the caller that can't be packed. `name` is static, and a feature's path begins
 * with it. */
int pd_writer_fail_pack(struct pd_writer *w, const char *name, uint32_t type,
		     const struct pd_pack_error *p, struct pd_error *e);

/* Reports values of ours that can't be packed: a name or a list of ids is too long. pack_error is
 * for the caller's values. */
int pd_writer_fail_own_values(enum pd_code code, const char *name, struct pd_error *e);

/* --- writer_features.c --- */

/* Composes EVENT_DESC from the events. */
int pd_writer_compose_event_desc(struct pd_writer *w, struct pd_buf *out, struct pd_error *e);
/* Keeps a file's section; writes that of a pipe. */
int pd_writer_store_feature(struct pd_writer *w, uint32_t id, struct pd_bytes section,
			    struct pd_error *e);
/* Adds COMPRESSED, unless the caller has. */
int pd_writer_encode_compressed(struct pd_writer *w, struct pd_error *e);
/* Writes the feature tables and the sections they point to. */
int pd_writer_write_features(struct pd_writer *w, struct pd_error *e);

#endif
