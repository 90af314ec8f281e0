/* drain.c - drain the ring buffers. Records that a pass leaves are newer than all that the
 * pass before it took: FINISHED_ROUND states that to readers that sort by time. */
#include "run/drain.h"

#include <linux/perf_event.h>
#include <stdlib.h>

enum { ROUND_BYTES = 1 << 20 };	/* FINISHED_ROUND also ends a compressed block */

int drain_round(struct recording *r)
{
	if (!r->file.unfinished || background_runs(&r->background))
		return 0;
	r->file.unfinished = 0;
	return pd_writer_record(r->file.writer, PD_RECORD_FINISHED_ROUND, 0, -1, NULL, 0,
				(struct pd_bytes){ 0 }, &r->file.error);
}

static void count_spans(struct datafile *f, const struct pd_bytes *spans, size_t n)
{
	if (f->read_back)
		f->totals.bytes += spans_size(spans, n);
	else
		drain_totals_add(&f->totals, spans, n);
	f->unfinished += spans_size(spans, n);
}

/* Whether the writer may compress directly from the ring. Not if a thread writes: it does so
 * because the rings are small, and small rings are emptied at once. */
static bool can_lend(const struct recording *r, const struct ring *ring)
{
	return ring->kind == RING_FORWARD && r->file.by != PD_WRITE_BY_THREAD;
}

/* Lent spans may be given back, and overwritten by the kernel, before pd_writer_lend() returns. */
static int write_spans(struct recording *r, struct ring *ring, const struct pd_bytes *spans,
		       size_t n)
{
	const struct pd_lender lender = { ring_give_back, ring->page };
	struct datafile *f = &r->file;
	int err = 0;

	if (n && background_runs(&r->background) && !backlog_add(&r->background.backlog, spans, n))
		return 0;	/* records stay in the ring; the kernel counts losses */
	count_spans(f, spans, n);
	if (n && !background_runs(&r->background) && can_lend(r, ring)) {
		ring_lend(ring);
		return pd_writer_lend(f->writer, spans, n, &lender, &f->error);
	}
	if (n && !background_runs(&r->background))
		err = pd_writer_write(f->writer, spans, n, &f->error);
	ring_release(ring);
	return err;
}

static int add_auxtrace_offset(struct datafile *f, uint64_t before)
{
	uint64_t *offsets;

	if (pd_writer_size(f->writer) == before || f->mode == PD_MODE_PIPE)
		return 0;
	offsets = realloc(f->auxtraces, (f->nr_auxtraces + 1) * sizeof(*offsets));
	if (!offsets) {
		f->error = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
		return -1;
	}
	f->auxtraces = offsets;
	offsets[f->nr_auxtraces++] = before;
	return 0;
}

/* Offsets in the file are known only after pending data is compressed and written. */
static int finish_compression(struct datafile *f)
{
	return f->compress ? pd_writer_flush(f->writer, &f->error) : 0;
}

static bool has_new_trace(const struct aux_area *a)
{
	return __atomic_load_n(&a->ring->page->aux_head, __ATOMIC_ACQUIRE) != a->tail;
}

static int drain_aux(struct recording *r, enum aux_kind kind)
{
	struct datafile *f = &r->file;

	for (size_t i = 0; i < r->rings.nr_aux; i++) {
		struct aux_area *a = &r->rings.aux[i];
		uint64_t before;

		if (a->kind != kind || !has_new_trace(a))
			continue;
		if (finish_compression(f))
			return -1;
		before = pd_writer_size(f->writer);
		if (aux_area_write(a, f->writer, &f->error) || finish_compression(f))
			return -1;
		f->unfinished += pd_writer_size(f->writer) - before;
		if (add_auxtrace_offset(f, before))
			return -1;
	}
	return 0;
}

int drain_buffers(struct recording *r, enum drain_which which)
{
	uint64_t least = which == DRAIN_ALL ? 1 : rings_worthwhile(&r->rings);

	for (size_t i = 0; i < r->rings.n; i++) {
		struct ring *ring = &r->rings.items[i];
		struct pd_bytes spans[2];
		size_t n;

		if (ring->kind != RING_FORWARD)
			continue;
		n = ring_peek(ring, spans);
		if (n && spans_size(spans, n) >= least && write_spans(r, ring, spans, n))
			return -1;
	}
	if (drain_aux(r, AUX_FULL))
		return -1;
	return which == DRAIN_ALL || r->file.unfinished >= ROUND_BYTES ? drain_round(r) : 0;
}

int drain_snapshot(struct recording *r)
{
	for (size_t i = 0; i < r->rings.n; i++) {
		struct ring *ring = &r->rings.items[i];
		struct pd_bytes spans[2];
		size_t n;

		if (ring->kind != RING_BACKWARD)
			continue;
		n = ring_snapshot(ring, spans);
		if (write_spans(r, ring, spans, n))
			return -1;
	}
	if (drain_aux(r, AUX_SNAPSHOT))
		return -1;
	return drain_round(r);
}
