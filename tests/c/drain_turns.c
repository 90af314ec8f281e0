/* drain_turns.c - record/run/drain.c over buffers of which one is filled again while it is read: a
 * line for each thing that is not as it must be. The writer's input is kept as a row of
 * letters. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "idle_writer.h"
#include "run/drain.h"

enum { SIZE = 4096, BUFFERS = 3, RECORD = 64, FLOODED = 1, FLOOD = 32, MOST = 12 };
enum { ROUND_BYTES = 1 << 20 };

static struct perf_event_mmap_page pages[BUFFERS];
static uint8_t bytes[BUFFERS][SIZE];
static struct ring rings[BUFFERS];
static char turns[MOST + 2];		/* "012R": buffers that were written, and ends of rounds */
static size_t sizes[BUFFERS];		/* bytes written of each */

static void note(char what)
{
	const size_t n = strlen(turns);

	if (n < MOST) {
		turns[n] = what;
		return;
	}
	printf("no end: %s\n", turns);
	exit(1);
}

/* The kernel's side: writes up to `n` samples, as far as there is room. */
static void fill(size_t buffer, size_t records)
{
	struct perf_event_mmap_page *p = &pages[buffer];
	const struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = RECORD };

	for (; records && p->data_head - p->data_tail < SIZE; records--) {
		memcpy(bytes[buffer] + p->data_head % SIZE, &header, sizeof(header));
		p->data_head += RECORD;
	}
}

int pd_writer_write(struct pd_writer *w, const struct pd_bytes *spans, size_t n, struct pd_error *e)
{
	const size_t buffer = (size_t)(spans[0].data - bytes[0]) / SIZE;

	(void)w, (void)e;
	note((char)('0' + buffer));
	sizes[buffer] += spans_size(spans, n);
	fill(FLOODED, FLOOD);
	return 0;
}

/* It reads what it was lent when it has the time. */
static struct { struct pd_lender from; size_t size; } loans[MOST];
static size_t nr_loans;

int pd_writer_lend(struct pd_writer *w, const struct pd_bytes *spans, size_t n,
		   const struct pd_lender *from, struct pd_error *e)
{
	CHECK(nr_loans < MOST);
	loans[nr_loans].from = *from;
	loans[nr_loans++].size = spans_size(spans, n);
	return pd_writer_write(w, spans, n, e);
}

static void give_all_back(void)
{
	for (size_t i = 0; i < nr_loans; i++)
		loans[i].from.give_back(loans[i].from.owner, loans[i].size);
	nr_loans = 0;
}

int pd_writer_record(struct pd_writer *w, uint32_t type, uint16_t misc, int event,
		     const struct pd_value *fields, size_t n, struct pd_bytes payload,
		     struct pd_error *e)
{
	(void)w, (void)type, (void)misc, (void)event, (void)fields, (void)n, (void)payload, (void)e;
	note('R');
	return 0;
}

static struct recording start(const struct settings *o)
{
	memset(pages, 0, sizeof(pages));
	memset(sizes, 0, sizeof(sizes));
	for (size_t i = 0; i < BUFFERS; i++) {
		rings[i] = (struct ring){ .kind = RING_FORWARD, .fd = -1, .page = &pages[i],
					  .data = bytes[i], .size = SIZE };
		fill(i, i + 2);
	}
	return (struct recording){
		.options = o,
		.rings = { .items = rings, .n = BUFFERS, .bytes = SIZE, .flush = o->mmap_flush },
		.file = { .by = PD_WRITE_BY_THREAD },
	};
}

static const char *pass(struct recording *r, enum drain_which which)
{
	memset(turns, 0, sizeof(turns));
	CHECK(!drain_buffers(r, which));
	return turns;
}

/* One that is never empty keeps no other waiting: it gets rid of what it held, not of what comes
 * meanwhile. */
static void each_has_its_turn(void)
{
	struct settings o = { .mmap_flush = 1 };
	struct recording r = start(&o);

	CHECK(strcmp(pass(&r, DRAIN_WORTHWHILE), "012") == 0);
	CHECK(sizes[0] == 2 * RECORD && sizes[2] == 4 * RECORD);
	CHECK(sizes[FLOODED] == (3 + FLOOD) * RECORD);
	fill(2, 5);
	CHECK(strcmp(pass(&r, DRAIN_WORTHWHILE), "12") == 0);
	CHECK(sizes[2] == 9 * RECORD && sizes[FLOODED] == 3 * FLOOD * RECORD);
	CHECK(r.file.totals.samples == 3 * FLOOD + 11);
}

/* Records after it are newer only if no buffer was left out. */
static void a_round_ends_after_all_records(void)
{
	struct settings o = { .mmap_flush = 1 };
	struct recording r = start(&o);

	r.file.unfinished = ROUND_BYTES - RECORD;
	CHECK(strcmp(pass(&r, DRAIN_WORTHWHILE), "012R") == 0 && !r.file.unfinished);
	CHECK(strcmp(pass(&r, DRAIN_ALL), "1R") == 0);
}

static void little_waits_till_the_end(void)
{
	struct settings o = { .mmap_flush = SIZE / 4 };
	struct recording r = start(&o);

	fill(2, SIZE);
	CHECK(strcmp(pass(&r, DRAIN_WORTHWHILE), "2") == 0);
	CHECK(strcmp(pass(&r, DRAIN_ALL), "01R") == 0);
}

/* Nothing goes to the file, nor does a round end, while the writer is another's. */
static void unwritable_records_are_held(void)
{
	struct settings o = { .mmap_flush = 1 };
	struct recording r = start(&o);
	struct backlog *h = &r.background.backlog;
	struct pd_bytes first;

	r.background.state = BACKGROUND_RUNS;
	pages[2].data_head = pages[2].data_tail = rings[2].tail = SIZE - 2 * RECORD;
	fill(2, 4);
	CHECK(strcmp(pass(&r, DRAIN_ALL), "") == 0 && r.file.totals.samples == 2 + 3 + 4);
	CHECK(pages[0].data_tail == pages[0].data_head && pages[2].data_tail == pages[2].data_head);
	CHECK(h->blocks == 1 && r.file.unfinished == 9 * RECORD);
	first = backlog_first(h);
	CHECK(first.size == 9 * RECORD &&
	      !memcmp(first.data + 5 * RECORD, bytes[2] + SIZE - 2 * RECORD, 2 * RECORD) &&
	      !memcmp(first.data + 7 * RECORD, bytes[2], 2 * RECORD));
	backlog_free(h);
	CHECK(!h->first && !h->last && !h->blocks && !h->room && !backlog_first(h).size);
}

/* Then the kernel counts what is lost. */
static void records_without_room_stay(void)
{
	static const uint8_t much[3 << 20];
	const struct pd_bytes spans[2] = { { much, sizeof(much) - 4096 }, { much, 4096 } };
	struct settings o = { .mmap_flush = 1 };
	struct recording r = start(&o);
	struct backlog *h = &r.background.backlog;
	size_t n = 0;

	r.background.state = BACKGROUND_RUNS;
	while (backlog_add(h, spans, 2))
		n++;
	CHECK(n == BACKLOG_MOST / sizeof(much) && h->room <= BACKLOG_MOST);
	while (backlog_add(h, spans + 1, 1))
		;
	CHECK(h->room == BACKLOG_MOST);
	CHECK(strcmp(pass(&r, DRAIN_ALL), "") == 0 && !r.file.totals.samples &&
	      !pages[0].data_tail && !rings[0].tail);
	backlog_drop(h);
	CHECK(strcmp(pass(&r, DRAIN_ALL), "") == 0 && r.file.totals.samples == 2 + 3 + 4);
	r.background.state = BACKGROUND_NOTHING;
	fill(0, 1);
	CHECK(strcmp(pass(&r, DRAIN_ALL), "01R") == 0);
	backlog_free(h);
}

/* The kernel may write there again once it is given back; each byte is handed out once all the
 * same. */
static void lent_records_stay(void)
{
	struct settings o = { .mmap_flush = 1 };
	struct recording r = start(&o);

	r.file.by = PD_WRITE_BY_EITHER;
	CHECK(strcmp(pass(&r, DRAIN_WORTHWHILE), "012") == 0 &&
	      r.file.totals.samples == 2 + 3 + FLOOD + 4);
	CHECK(!pages[0].data_tail && !pages[1].data_tail && !pages[2].data_tail);
	fill(0, 1);
	CHECK(strcmp(pass(&r, DRAIN_WORTHWHILE), "01") == 0);
	CHECK(strcmp(pass(&r, DRAIN_WORTHWHILE), "") == 0);
	CHECK(sizes[0] == 3 * RECORD && sizes[FLOODED] == SIZE && sizes[2] == 4 * RECORD);
	give_all_back();
	CHECK(pages[0].data_tail == 3 * RECORD && pages[FLOODED].data_tail == SIZE &&
	      pages[2].data_tail == 4 * RECORD);
	fill(2, SIZE);
	CHECK(pages[2].data_head == 4 * RECORD + SIZE);
}

int main(void)
{
	each_has_its_turn();
	a_round_ends_after_all_records();
	little_waits_till_the_end();
	unwritable_records_are_held();
	records_without_room_stay();
	lent_records_stay();
	return failures != 0;
}
