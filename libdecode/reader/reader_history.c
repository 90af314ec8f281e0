/* reader_history.c - what a history learns from a reader: the side-band between the samples, and
 * the build ids of the header. */
#include <string.h>

#include "base/argument.h"
#include "model/history.h"
#include "pd/index.h"
#include "reader/reader_internal.h"

/* Learns from the rest of a batch. */
static void learn_batch(struct pd_history *h, struct pd_reader *r, struct pd_batch *batch,
			struct pd_error *e)
{
	struct pd_record record;

	for (; batch->next < batch->count; batch->next++) {
		const struct pd_simple *p = &batch->records[batch->next];

		if (p->type == PD_RECORD_SAMPLE || !pd_history_wants(h, p->type))
			continue;
		pd_batch_record(batch, p, &r->session, &record);
		pd_history_add_record(h, &record, e);
	}
}

int pd_history_learn_next(struct pd_history *h, struct pd_reader *r, struct pd_index *x,
			  struct pd_error *e)
{
	const struct pd_record *record;
	struct pd_error ignored;
	struct pd_batch *batch;
	size_t n = 1;
	int ret;

	e = pd_error_or(e, &ignored);
	if (!h || !r)
		return pd_refuse(e, "no history or no reader");
	batch = pd_reader_batch(r);
	if (batch) {
		n = batch->count - batch->next;
		learn_batch(h, r, batch, e);
	} else {
		ret = pd_reader_next(r, &record, e);
		if (ret != 1)
			return ret;
		pd_history_add_record(h, record, e);
	}
	if (x)
		pd_index_add(x, r, n, &ignored);
	return (int)n;
}

int pd_history_learn_index(struct pd_history *h, struct pd_reader *r, struct pd_index *x,
			   struct pd_error *e)
{
	const bool was_limited = h && h->is_limited;
	struct pd_error ignored;
	int n;

	e = pd_error_or(e, &ignored);
	do
		n = pd_history_learn_next(h, r, x, e);
	while (n > 0 && h->is_limited == was_limited);
	return n > 0 ? -1 : n;
}

int pd_history_learn(struct pd_history *h, struct pd_reader *r, struct pd_error *e)
{
	return pd_history_learn_index(h, r, NULL, e);
}

/* An item of the feature BUILD_ID while it is visited. */
struct item {
	struct pd_history *h;
	uint16_t misc;
	struct pd_bytes build_id, path;
	bool failed;
};

static void see_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct item *item = ctx;

	if (strcmp(f->name, "misc") == 0)
		item->misc = (uint16_t)value;
}

static void see_bytes(void *ctx, const struct pd_field *f, struct pd_bytes bytes)
{
	struct item *item = ctx;

	if (f->role == PD_ROLE_BUILD_ID)
		item->build_id = bytes;
	else if (f->role == PD_ROLE_PATH)
		item->path = bytes;
}

static void leave_item(void *ctx, const struct pd_field *f)
{
	struct item *item = ctx;

	if (f || item->failed)
		return;
	item->failed = pd_history_add_build_id(item->h, item->misc, item->path, item->build_id);
	item->build_id = item->path = (struct pd_bytes){ NULL, 0 };
}

static int learn_feature(struct pd_history *h, struct pd_reader *r, size_t i)
{
	static const struct pd_visitor v = { .size = sizeof(v), .number = see_number,
					     .text = see_bytes, .bytes = see_bytes,
					     .leave = leave_item };
	struct item item = { .h = h };
	const struct pd_feature_desc *d = pd_feature_desc(PD_FEATURE_BUILD_ID);
	struct pd_extent_of extent;
	struct pd_feature f;
	struct pd_error e;
	struct pd_plan *plan;

	if (pd_reader_feature(r, i, &f, &e))
		return e.code == PD_E_LIMIT ? -1 : 0;
	plan = pd_session_feature_plan(&r->session, d);
	if (!plan)
		return -1;
	pd_measure(plan, f.bytes, 0, r->session.swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, f.bytes, 0, r->session.swap, &extent, &v, &item);
	return item.failed ? -1 : 0;
}

int pd_history_add_features(struct pd_history *h, struct pd_reader *r, struct pd_error *e)
{
	struct pd_error ignored;
	int err = 0;

	e = pd_error_or(e, &ignored);
	if (!h || !r)
		return pd_refuse(e, "no history or no reader");
	for (size_t i = 0; i < pd_reader_nr_features(r); i++)
		if (pd_reader_feature_id(r, i) == PD_FEATURE_BUILD_ID)
			err |= learn_feature(h, r, i);
	if (!err)
		return 0;
	*e = (struct pd_error){
		.code = PD_E_LIMIT, .severity = PD_DAMAGED,
		.text = "the memory limit is too low for the history" };
	return -1;
}

int pd_history_seal(struct pd_history *h, struct pd_reader *r, struct pd_error *e)
{
	struct pd_error ignored;
	int err;

	e = pd_error_or(e, &ignored);
	if (!h || h->is_sealed)
		return pd_refuse(e, h ? "the history is sealed" : "no history");
	err = r && h->scope == PD_HISTORY_ALL ? pd_history_add_features(h, r, e) : 0;
	err |= pd_history_replay(h, e);
	h->lacks_memory |= err || pd_reader_lacks_memory(r);
	return err ? -1 : 0;
}
