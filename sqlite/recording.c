/* recording.c - opens a recording, learns its history, and passes over it. */
#include "recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS_OF_ENTRY = 1 << 15 };	/* from one entry of the index to the next */

static void report_error(struct pq_recording *r, const struct pd_error *e)
{
	if (e->severity > PD_NOTE)
		r->errors++;
	r->reported_limit |= pd_code_is_of_memory(e->code);
	if (r->input.watch.on_error)
		r->input.watch.on_error(r->input.watch.ctx, r->name, e);
}

static void on_error(void *ctx, const struct pd_error *e)
{
	report_error(ctx, e);
}

static int show_progress(void *ctx, const struct pd_reader *reader)
{
	struct pq_recording *r = ctx;
	const struct pd_file_info *f = pd_reader_file(reader);
	struct pd_account a = { .size = sizeof(a) };

	if (!r->input.watch.on_progress)
		return 0;
	pd_reader_account(reader, &a);
	r->input.watch.on_progress(r->input.watch.ctx, (a.total - a.unread) * r->nr_parts,
				   f->size_known && f->mode != PD_MODE_DIRECTORY ? f->size : 0);
	return 0;
}

static struct pd_reader *open_reader(struct pq_recording *r, struct pd_reader_options o,
				     struct pd_error *e)
{
	o.size = sizeof(o);
	o.max_expanded = r->input.max_expanded;
	o.max_ratio = r->input.max_ratio;
	o.access = r->input.access;
	if (r->input.fd < 0)
		return pd_reader_open_path(r->name, &o, e);
	if (lseek(r->input.fd, r->start, SEEK_SET) == r->start)
		return pd_reader_open_fd(r->input.fd, &o, e);
	*e = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL, .have = (uint64_t)errno };
	return NULL;
}

/* --- the history --- */

/* Reads all records. Returns their number. */
static uint64_t learn_records(struct pq_recording *r, struct pd_history *h, struct pd_index *index,
			      struct pd_reader *reader)
{
	struct pd_error e, ignored;
	uint64_t records = 0;
	int n;

	while ((n = pd_history_learn_next(h, reader, index, &e)) > 0) {
		records += (uint64_t)n;
		show_progress(r, reader);
	}
	if (n < 0 && h == r->tasks)	/* the first pass */
		report_error(r, &e);
	pd_history_seal(h, reader, &ignored);
	if (pd_history_lacks_memory(h, &ignored) && !r->reported_limit)
		report_error(r, &ignored);
	return records;
}

/* To decompress all of it once more would take longer than to learn the maps. */
static enum pd_history_scope first_scope(const struct pd_reader *reader)
{
	return pd_reader_file(reader)->adds_features[PD_FEATURE_COMPRESSED] ? PD_HISTORY_ALL :
									      PD_HISTORY_TASKS;
}

static int learn_tasks(struct pq_recording *r, struct pd_error *e)
{
	struct pd_reader *reader = open_reader(r, (struct pd_reader_options){
		.memory_limit = r->input.memory, .on_error = on_error, .ctx = r }, e);

	if (!reader)
		return -1;
	if (r->input.threads > 1)
		r->index = pd_index_new(RECORDS_OF_ENTRY);
	r->tasks = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = r->input.memory,
						     .scope = first_scope(reader)), e);
	if (r->tasks)
		r->records = learn_records(r, r->tasks, r->index, reader);
	if (first_scope(reader) == PD_HISTORY_ALL)
		r->history = r->tasks;
	pd_reader_free(reader);
	return r->tasks ? 0 : -1;
}

int pq_recording_learn(struct pq_recording *r, struct pd_error *e)
{
	struct pd_reader *reader;

	if (r->history)
		return 0;
	reader = open_reader(r, (struct pd_reader_options){
		.memory_limit = r->input.memory, .ctx = r }, e);
	if (!reader)
		return -1;
	r->history = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = r->input.memory), e);
	if (r->history)
		learn_records(r, r->history, NULL, reader);
	pd_reader_free(reader);
	return r->history ? 0 : -1;
}

struct pq_recording *pq_recording_new(const struct pq_input *input, size_t number,
				      struct pd_error *e)
{
	struct pq_recording *r = calloc(1, sizeof(*r));

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!r)
		return NULL;
	r->input = *input;
	if (!input->memory)
		r->input.memory = PD_MEMORY_LIMIT;
	r->number = number;
	r->nr_parts = 1;
	r->base = (sqlite3_int64)number << PQ_BASE_SHIFT;
	r->start = input->fd < 0 ? 0 : lseek(input->fd, 0, SEEK_CUR);
	r->name = strdup(input->name);
	if (r->name && !learn_tasks(r, e))
		return r;
	pq_recording_free(r);
	return NULL;
}

void pq_recording_free(struct pq_recording *r)
{
	if (!r)
		return;
	if (r->history != r->tasks)
		pd_history_free(r->history);
	pd_history_free(r->tasks);
	pd_index_free(r->index);
	free(r->name);
	free(r);
}

/* --- a pass --- */

bool pq_scan_is_of_tasks(const struct pq_scan *scan)
{
	const struct pc_table *t = pc_table_at(scan->table);

	if (strcmp(t->name, "samples") != 0)
		return false;
	for (size_t i = 0; i < t->nr_columns; i++)
		if (scan->columns >> i & 1 && (strcmp(t->columns[i].name, "frame") == 0 ||
					       strcmp(t->columns[i].name, "stack") == 0))
			return false;
	return true;
}

/* Objects that a stream owns. */
struct pass {
	struct pq_recording *recording;
	struct pd_error payload;	/* the first error of a payload, or PD_OK */
	const struct pd_history *history;
	struct pd_reader *reader;
	struct pd_filter *filter;
	struct pc_columns *columns;
};

/* Reports what the first pass did not find. Once: each query would report it again. */
static void report_late(const struct pass *p)
{
	static const struct pd_error limit = { .code = PD_E_LIMIT, .severity = PD_DAMAGED };
	struct pq_recording *r = p->recording;

	if (p->payload.code != PD_OK && !r->reported_payload) {
		r->reported_payload = true;
		report_error(r, &p->payload);
	}
	if (pd_reader_lacks_memory(p->reader) && !r->reported_limit)
		report_error(r, &limit);
}

/* For the caller's thread. */
static void free_pass(void *ctx)
{
	struct pass *p = ctx;

	report_late(p);
	pc_free(p->columns);
	pd_reader_free(p->reader);
	pd_filter_free(p->filter);
	free(p);
}

static void add_error(void *ctx, const struct pd_error *e)
{
	struct pass *p = ctx;

	if (p->payload.code == PD_OK && pc_error_is_of_payload(e))
		p->payload = *e;
	pc_add_error(p->columns, e);
}

/* Learns what the scan needs. Returns NULL and *e if it can't be learned. */
static const struct pd_history *learn_for(struct pq_recording *r, const struct pq_scan *scan,
					  struct pd_error *e)
{
	if (pq_scan_is_of_tasks(scan) && !r->namer)
		return r->tasks;
	return pq_recording_learn(r, e) ? NULL : r->history;
}

static int open_pass(struct pq_recording *r, struct pass *p, const struct pq_scan *scan,
		     const struct pq_part *part, struct pd_error *e)
{
	const bool is_first = part->entry == PQ_FROM_START;

	p->columns = pc_new(PC_OPTIONS(.history = p->history, .filter = p->filter,
				       .memory_limit = part->memory,
				       .tables = 1ull << scan->table, .columns = scan->columns,
				       .with = PC_GROUP_ALL, .uint64 = PC_AS_INT64, .path = r->name,
				       .namer = r->namer, .records = part->records,
				       .on_read = is_first ? show_progress : NULL, .ctx = r,
				       .reading = PC_READ_NEEDED), e);
	if (!p->columns)
		return -1;
	p->reader = open_reader(r, (struct pd_reader_options){
		.memory_limit = part->memory, .on_error = add_error, .ctx = p }, e);
	if (!p->reader || is_first)
		return p->reader ? 0 : -1;
	return pd_reader_start(p->reader, r->index, part->entry, e);
}

int pq_recording_scan(struct pq_recording *r, const struct pq_scan *scan,
		      struct ArrowArrayStream *out, struct pd_error *e)
{
	const struct pq_part whole = { .entry = PQ_FROM_START, .memory = r->input.memory };
	struct pass *p = calloc(1, sizeof(*p));

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!p)
		return -1;
	p->recording = r;
	p->history = learn_for(r, scan, e);
	p->filter = scan->filter ? pd_filter_new(scan->filter) : NULL;
	if (p->filter)
		pd_filter_set_history(p->filter, p->history);
	if (p->history && (!scan->filter || p->filter) &&
	    !open_pass(r, p, scan, scan->part ? scan->part : &whole, e) &&
	    !pc_open_stream(p->columns, p->reader, scan->table, (struct pc_owner){ free_pass, p },
			    out, e))
		return 0;
	free_pass(p);
	return -1;
}

bool pq_recording_is_interrupted(const struct pq_recording *r)
{
	const struct pq_watch *w = &r->input.watch;

	return w->is_interrupted && w->is_interrupted(w->ctx);
}

int pq_recording_next(struct pq_recording *r, struct ArrowArrayStream *s, struct ArrowArray *out)
{
	const char *text;
	int error;

	if (pq_recording_is_interrupted(r))
		return SQLITE_INTERRUPT;
	error = s->get_next(s, out);
	if (error == ENOMEM)
		return SQLITE_NOMEM;
	if (!error)
		return SQLITE_OK;
	/* The first pass has reported it, unless it has happened since. */
	text = s->get_last_error(s);
	if (!r->errors)
		report_error(r, &(struct pd_error){
			.code = PD_E_IO, .severity = PD_DAMAGED,
			.text = text ? text : "it can't be read further" });
	return SQLITE_OK;
}
