/* reader_index.c - places from which a recording can be read: see pd/index.h. */
#include "pd/index.h"

#include <stdlib.h>

#include "base/argument.h"
#include "reader/reader_internal.h"

/* The state of a reader where an entry begins. */
struct place {
	struct pd_stream_state stream;
	size_t next_file;		/* of the reader: 0: the main file */
	size_t nr_updates;		/* records before it that update the session */
	bool is_replayed;		/* only by reading everything before it */
};

struct pd_index {
	uint64_t every, number, due, time;
	struct pd_index_entry *entries;
	struct place *places;
	size_t nr, capacity;
	uint64_t *updates;		/* offsets of those records */
	size_t nr_updates, updates_capacity;
	bool updates_elsewhere;		/* some are not in the main file */
	bool has_ended;			/* it goes no further */
	enum pd_mode mode;
	uint64_t size, data_offset;
};

struct pd_index *pd_index_new(uint64_t every)
{
	struct pd_index *x = calloc(1, sizeof(*x));

	if (x)
		x->every = x->due = every ? every : 1;
	return x;
}

void pd_index_free(struct pd_index *x)
{
	if (!x)
		return;
	free(x->entries);
	free(x->places);
	free(x->updates);
	free(x);
}

static int no_memory(struct pd_error *e)
{
	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	return -1;
}

/* Makes room for one more item of `size` bytes. Returns the array, or NULL. */
static void *room_for(void *items, size_t nr, size_t *capacity, size_t size)
{
	const size_t more = *capacity ? 2 * *capacity : 64;

	if (nr < *capacity)
		return items;
	items = reallocarray(items, more, size);
	if (items)
		*capacity = more;
	return items;
}

/* Notes the last record, if the session was updated from it. */
static int add_update(struct pd_index *x, const struct pd_reader *r, struct pd_error *e)
{
	const struct pd_frame *f = &r->record.frame;
	uint64_t *updates;

	if (r->batch.count || f->state != PD_FRAME_WHOLE || f->inner_offset != PD_OUTER ||
	    !pd_reader_updates_session(r, f->type))
		return 0;
	updates = room_for(x->updates, x->nr_updates, &x->updates_capacity, sizeof(*updates));
	if (!updates)
		return no_memory(e);
	x->updates = updates;
	updates[x->nr_updates++] = f->offset;
	x->updates_elsewhere |= r->next_file != 0;
	return 0;
}

/* Takes the times of the last n records. */
static void update_time(struct pd_index *x, const struct pd_reader *r, size_t n)
{
	const struct pd_batch *b = &r->batch;
	uint64_t time;

	if (!b->count) {
		if (pd_record_time(&r->record, &time) && time != UINT64_MAX && time > x->time)
			x->time = time;
		return;
	}
	for (size_t i = n < b->next ? b->next - n : 0; i < b->next; i++)
		if (pd_simple_time(b, &b->records[i], r->session.swap, &time) &&
		    time != UINT64_MAX && time > x->time)
			x->time = time;
}

/* Returns the offset of the record that comes next. */
static uint64_t next_offset(const struct pd_reader *r)
{
	const struct pd_stream *s = &r->stream;
	const struct pd_batch *b = &r->batch;

	if (s->expanding)
		return s->outer_offset;
	if (b->next < b->count)
		return b->offset + b->records[b->next].at;
	return pd_source_offset(s->source) + s->pending + s->payload_left;
}

static int add_entry(struct pd_index *x, struct pd_reader *r, struct pd_error *e)
{
	struct pd_stream *s = &r->stream;
	size_t capacity = x->capacity;
	struct pd_index_entry *entries;
	struct place *places;

	entries = room_for(x->entries, x->nr, &capacity, sizeof(*entries));
	if (!entries)
		return no_memory(e);
	x->entries = entries;
	places = room_for(x->places, x->nr, &x->capacity, sizeof(*places));
	if (!places)
		return no_memory(e);
	x->places = places;
	entries[x->nr] = (struct pd_index_entry){ .number = x->number, .offset = next_offset(r),
						  .time = x->time, .file = r->file };
	places[x->nr] = (struct place){
		.next_file = r->next_file, .nr_updates = x->nr_updates,
		.is_replayed = s->zstd || x->updates_elsewhere };
	pd_stream_save_state(s, &places[x->nr++].stream);
	x->due = x->number + x->every;
	return 0;
}

int pd_index_add(struct pd_index *x, struct pd_reader *r, size_t n, struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!x || !r)
		return pd_refuse(e, "no index or no reader");
	if (r->order)
		return pd_refuse(e, "only records as written are indexed");
	if (!pd_source_is_random(r->source))
		return pd_refuse(e, "a stream cannot be read again");
	if (x->has_ended)
		return no_memory(e);
	if (!x->number) {
		x->mode = r->container.info.mode;
		x->size = r->container.info.size;
		x->data_offset = r->container.info.data_offset;
	}
	x->number += n;
	update_time(x, r, n);
	x->has_ended = add_update(x, r, e);
	if (!x->has_ended && x->number >= x->due && !r->stream.lost.open &&
	    !r->stream.lost_inner.open && !r->stream.ended)
		x->has_ended = add_entry(x, r, e);
	return x->has_ended ? -1 : 0;
}

size_t pd_index_nr_entries(const struct pd_index *x)
{
	return x ? x->nr : 0;
}

const struct pd_index_entry *pd_index_entry(const struct pd_index *x, size_t i)
{
	return x && i < x->nr ? &x->entries[i] : NULL;
}

/* Reads the records before the entry. */
static int replay(struct pd_reader *r, uint64_t number, struct pd_error *e)
{
	const struct pd_record *record;
	int ret = 1;

	for (uint64_t i = 0; i < number && ret == 1; i++)
		ret = pd_reader_next(r, &record, e);
	if (ret == 0)
		return pd_refuse(e, "the recording is shorter than the index");
	return ret < 0 ? -1 : 0;
}

static int move_to(struct pd_reader *r, struct pd_source *source, uint64_t offset,
		   struct pd_error *e)
{
	const uint64_t end = source == r->source ? r->container.data_end : UINT64_MAX;

	pd_stream_free(&r->stream);
	if (pd_source_seek(source, offset, e))
		return -1;
	pd_stream_init(&r->stream, source, &r->session, end);
	return 0;
}

/* Reads the records that the session is updated from. */
static int apply_updates(struct pd_reader *r, const struct pd_index *x, size_t n,
			 struct pd_error *e)
{
	for (size_t i = 0; i < n; i++) {
		if (move_to(r, r->source, x->updates[i], e))
			return -1;
		if (pd_stream_next(&r->stream, &r->record.frame, e) != PD_NEXT_RECORD)
			return pd_refuse(e, "the recording is not the one of the index");
		if (pd_reader_update_session(r, e))
			return -1;
	}
	return 0;
}

static int start_at(struct pd_reader *r, const struct pd_index *x, size_t i, struct pd_error *e)
{
	const struct place *p = &x->places[i];

	if (p->is_replayed)
		return replay(r, x->entries[i].number, e);
	if (apply_updates(r, x, p->nr_updates, e))
		return -1;
	r->next_file = p->next_file ? p->next_file - 1 : 0;
	if (p->next_file && (!pd_reader_next_file(r) || r->next_file != p->next_file))
		return pd_refuse(e, "a file of the directory is missing");
	if (move_to(r, r->file_source ? r->file_source : r->source, x->entries[i].offset, e))
		return -1;
	pd_stream_set_state(&r->stream, &p->stream);
	return 0;
}

static bool has_read(const struct pd_reader *r)
{
	return r->record.frame.bytes.size || r->batch.count || r->next_file ||
	       pd_source_offset(r->stream.source) != r->stream.begin;
}

int pd_reader_start(struct pd_reader *r, const struct pd_index *x, size_t i, struct pd_error *e)
{
	struct pd_reader_options options;
	struct pd_error unused;
	int err;

	e = pd_error_or(e, &unused);
	if (!r || !x || i >= x->nr)
		return pd_refuse(e, "no reader, no index or no such entry");
	if (r->order || has_read(r))
		return pd_refuse(e, "the reader has begun, or reads by time");
	if (!pd_source_is_random(r->source) || r->container.info.mode != x->mode ||
	    r->container.info.size != x->size || r->container.info.data_offset != x->data_offset)
		return pd_refuse(e, "the recording is not the one of the index");
	options = r->options;
	r->options.on_error = NULL;
	r->options.stop_at = 0;
	err = start_at(r, x, i, e);
	r->options.on_error = options.on_error;
	r->options.stop_at = options.stop_at;
	return err;
}
