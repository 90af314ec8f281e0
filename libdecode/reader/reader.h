/* reader.h - the parts of a reader that the library's own sinks use. */
#ifndef PD_READER_READER_H
#define PD_READER_READER_H

#include "pd/pd.h"
#include "stream/batch.h"

struct pd_session *pd_reader_session(struct pd_reader *r);

/* Returns the account that pd_reader_repair() adds to. */
struct pd_account *pd_reader_own_account(struct pd_reader *r);

/* Returns whether bytes were inserted into the feature's section, or removed, so that its content
 * is not what was written. */
bool pd_reader_feature_is_changed(const struct pd_reader *r, uint32_t id);

/* Sets a function to call before the session changes or pinned windows are freed: it must wait for
 * threads that read them. */
void pd_reader_before_update(struct pd_reader *r, void (*quiesce)(void *ctx), void *ctx);

/* Returns the simple records that come next, from records[next] on, for sinks that take them faster
 * than one by one, or NULL: call pd_reader_next(). A caller that takes some must advance `next`.
 * Valid until the next call. */
struct pd_batch *pd_reader_batch(struct pd_reader *r);

/* Returns whether an error has reached options.stop_at: nothing more may be output. */
bool pd_reader_is_stopped(const struct pd_reader *r);

/* Pins the bytes of the batch until *window is released (pd_window_release()), or until the
 * function of pd_reader_before_update() is called. Returns false if memory is short: they must be
 * copied. */
bool pd_reader_pin_batch(struct pd_reader *r, const struct pd_batch *batch,
			 struct pd_window **window);

/* Reports damage that only a sink can see. */
void pd_reader_report(struct pd_reader *r, const struct pd_error *e);

/* Reports that memory was refused, unless another error did: what it was for may be missing. */
void pd_reader_report_refused(struct pd_reader *r);

/* Visits an attribute as pd_attr_visit() does. Returns the bytes after its last known field. */
struct pd_bytes pd_reader_visit_attr(const struct pd_reader *r, const struct pd_attr *a,
				     const struct pd_visitor *v, void *ctx);

/* Returns the id of the i-th feature, i < pd_reader_nr_features(), without loading it. */
uint32_t pd_reader_feature_id(const struct pd_reader *r, size_t i);

/* Sets *names to the names of the data.N of a directory, in the order in which they are read, and
 * returns their number. */
size_t pd_reader_files(const struct pd_reader *r, const char *const **names);

#endif
