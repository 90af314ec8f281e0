/* background_order.c - record/run/background_synth.c with a description that ends when it is told
 * to, and buffers that fill while what was held is written: a line for each thing that is not as it
 * must be. */
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/priority.h"
#include "check.h"
#include "idle_writer.h"
#include "run/drain.h"
#include "run/metadata.h"

enum { SIZE = 1 << 20, RECORD = 4096, MOST = 1 << 12 };

/* A record as the kernel writes it, with a number to know it by. */
struct numbered {
	struct perf_event_header header;
	uint64_t number;
	uint8_t rest[RECORD - sizeof(struct perf_event_header) - sizeof(uint64_t)];
};

static struct perf_event_mmap_page page;
static uint8_t bytes[SIZE];
static struct ring ring;
static uint64_t made, written;		/* records so far */
static int described;			/* what metadata_running() is to return */
static int go[2];			/* a pipe: it waits for a byte */
/* the descriptions are in the file; something is out of order */
static bool came, wrong;
static int failing;			/* number of writes until one fails; 0: none fails */
static size_t fill_more;		/* records that come with each write */

static void fill(size_t n)
{
	for (; n && page.data_head - page.data_tail < SIZE; n--) {
		struct numbered *r = (struct numbered *)(bytes + page.data_head % SIZE);

		r->header =
			(struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = RECORD };
		r->number = made++;
		page.data_head += RECORD;
	}
}

int pd_writer_write(struct pd_writer *w, const struct pd_bytes *spans, size_t n, struct pd_error *e)
{
	(void)w;
	wrong = wrong || !came;
	if (failing && !--failing) {
		e->code = PD_E_IO;
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t at = 0; at < spans[i].size; at += RECORD) {
			const struct numbered *r = (const struct numbered *)(spans[i].data + at);

			wrong = wrong || r->number != written;
			written++;
		}
	fill(fill_more);
	return 0;
}

int pd_writer_lend(struct pd_writer *w, const struct pd_bytes *spans, size_t n,
		   const struct pd_lender *from, struct pd_error *e)
{
	const int got = pd_writer_write(w, spans, n, e);

	if (!got)
		from->give_back(from->owner, spans_size(spans, n));
	return got;
}

int pd_writer_record(struct pd_writer *w, uint32_t type, uint16_t misc, int event,
		     const struct pd_value *fields, size_t n, struct pd_bytes payload,
		     struct pd_error *e)
{
	(void)w, (void)type, (void)misc, (void)event, (void)fields, (void)n, (void)payload, (void)e;
	wrong = wrong || !came;
	return 0;
}

void priority_reset(void)
{
}

struct synth_options metadata_options(const struct recording *r)
{
	(void)r;
	return (struct synth_options){ .what = SYNTH_TASKS, .all_tasks = true };
}

int metadata_running(struct pd_writer *w, const struct synth_options *o,
		     struct synth_report *report, struct pd_error *e)
{
	char byte;

	(void)w, (void)o, (void)report;
	if (read(go[0], &byte, 1) != 1)
		return -1;
	came = true;
	if (described)
		e->code = PD_E_IO;
	return described;
}

void metadata_log_report(const struct recording *r, struct synth_report *report)
{
	(void)r, (void)report;
}

static const struct settings settings = { .mmap_flush = 1 };

/* A recording in which the buffer is drained full `passes` times during synthesis. */
static void begin(struct recording *r, size_t passes)
{
	*r = (struct recording){ .options = &settings, .rings = { .items = &ring, .n = 1 } };
	memset(&page, 0, sizeof(page));
	ring = (struct ring){
		.kind = RING_FORWARD, .fd = -1, .page = &page, .data = bytes, .size = SIZE
	};
	made = written = 0;
	came = wrong = false;
	CHECK(background_plan(r) && !background_runs(&r->background));
	ring.fd = background_start(r);
	CHECK(ring.fd >= 0 && background_runs(&r->background) && !background_is_done(r));
	for (; passes; passes--) {
		fill(MOST);
		CHECK(!drain_buffers(r, DRAIN_ALL));
	}
}

static void wait_for_end(const struct recording *r)
{
	struct pollfd alarm = { .fd = ring.fd, .events = POLLIN };

	CHECK(write(go[1], "", 1) == 1);
	CHECK(poll(&alarm, 1, 10000) == 1 && background_is_done(r) &&
	      background_runs(&r->background));
}

/* The thread's first, then all in the order it came, also what comes while it is written. */
static void all_is_written_in_order(size_t more)
{
	struct recording r;

	begin(&r, 10);
	fill_more = more;
	CHECK(made == 10 * SIZE / RECORD && !written);
	wait_for_end(&r);
	CHECK(!background_finish(&r) && !wrong && !background_runs(&r.background) &&
	      !r.background.backlog.blocks);
	CHECK(made - written <= 11 * more && (more || made == written));
	fill_more = 0;
	CHECK(!drain_buffers(&r, DRAIN_ALL) && made == written && !wrong);
	CHECK(r.file.totals.samples == made);
}

static void the_end_waits_for_it(void)
{
	struct recording r;

	begin(&r, 1);
	CHECK(write(go[1], "", 1) == 1);
	CHECK(!background_finish(&r) && came && made == written && !wrong);
	CHECK(!background_finish(&r));
}

static void failures_are_told(void)
{
	struct recording r;

	described = -1;
	begin(&r, 2);
	wait_for_end(&r);
	CHECK(background_finish(&r) == -1 && r.file.error.code == PD_E_IO);
	CHECK(!written && !background_runs(&r.background) && !r.background.backlog.blocks);
	described = 0;
	for (failing = 1; failing < 3; failing++) {
		int before = failing;

		begin(&r, 3);
		wait_for_end(&r);
		CHECK(background_finish(&r) == -1 && r.file.error.code == PD_E_IO);
		CHECK(!background_runs(&r.background) && !r.background.backlog.blocks);
		failing = before;
	}
	failing = 0;
}

static void planned_only_where_it_is_of_use(void)
{
	struct settings o = settings;
	struct recording r = { .options = &o };

	CHECK(background_start(&r) == -1 && !background_finish(&r));
	r.rings.nr_aux = 1;
	CHECK(!background_plan(&r));
	r.rings.nr_aux = 0;
	o.exclude_self = true;
	CHECK(!background_plan(&r) && background_start(&r) == -1);
}

int main(void)
{
	if (pipe(go))
		return 1;
	all_is_written_in_order(0);
	all_is_written_in_order(1);
	all_is_written_in_order(100);
	the_end_waits_for_it();
	failures_are_told();
	planned_only_where_it_is_of_use();
	return failures != 0;
}
