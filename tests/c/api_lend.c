/* api_lend.c - lends records to a writer out of two buffers, as a recorder does: what comes back is
 * written over at once, and used again. Says what was wrong with that; the tests read what was
 * written.
 *
 * api_lend LEVEL BY MODE FILE: LEVEL of zstd, 0: none; BY of enum pd_write_by, MODE of pd_mode, in
 * numbers. FILE.seen gets what is seen on the way.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pd/pd.h>
#include <pd/write.h>

#define SIZE ((uint64_t)2 << 20)
#define TURNS 28
#define LITTLE 9		/* the turn in which much is lent, a record at a time */
#define LATER (200 * 1000)	/* ns: a thread that reads what it should not does so by then */

struct source {
	uint8_t *bytes;
	uint64_t head, lent, back;	/* `back` is atomic: a thread gives back */
};

struct numbered {
	uint32_t type;
	uint16_t misc, size;
	uint64_t number;
};

static uint64_t made;

/* In order, and never more than was lent; the bytes may change from now on. */
static void give_back(void *owner, size_t n)
{
	struct source *s = owner;
	const uint64_t back = s->back, lent = __atomic_load_n(&s->lent, __ATOMIC_ACQUIRE);

	if (n > lent - back)
		printf("too much came back: %zu of %" PRIu64 "\n", n, lent - back);
	for (uint64_t at = back; at < back + n; at++)
		s->bytes[at % SIZE] = 0xee;
	__atomic_store_n(&s->back, back + n, __ATOMIC_RELEASE);
}

static void copy_in(struct source *s, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->bytes[s->head++ % SIZE] = ((const uint8_t *)p)[i];
}

/* Appends records of all sizes, `least` bytes or more, while there is room. */
static void fill(struct source *s, uint64_t least)
{
	const uint64_t end = s->head + least;
	uint8_t record[4096];

	while (s->head < end) {
		struct numbered r = { 50, 0, (uint16_t)(16 + made * 7919 % 4000 / 8 * 8), made };

		if (s->head + r.size - __atomic_load_n(&s->back, __ATOMIC_ACQUIRE) > SIZE)
			return;
		memset(record, (int)made, sizeof(record));
		memcpy(record, &r, sizeof(r));
		copy_in(s, record, r.size);
		made++;
	}
}

static int lend(struct pd_writer *w, struct source *s, struct pd_error *e)
{
	const uint64_t from = s->lent % SIZE, n = s->head - s->lent;
	const uint64_t first = n < SIZE - from ? n : SIZE - from;
	const struct pd_bytes spans[] = { { s->bytes + from, first }, { s->bytes, n - first } };
	const struct pd_lender lender = { give_back, s };

	__atomic_store_n(&s->lent, s->head, __ATOMIC_RELEASE);
	return pd_writer_lend(w, spans, n > first ? 2 : 1, &lender, e);
}

static void see(void *file, struct pd_bytes bytes)
{
	if (fwrite(bytes.data, 1, bytes.size, file) != bytes.size)
		printf("a write failed\n");
}

/* Little, much, and nearly all of a buffer; now and then a record that is copied, and all of it
 * out. */
static int turns(struct pd_writer *w, struct source sources[2], struct pd_error *e)
{
	static const uint64_t least[] = { 100, SIZE / 3, 300000, SIZE - 5000,
					  1,   262144,	 40000,	 SIZE / 2 };
	const struct pd_value comm[] = { PD_NUMBER("pid", 1), PD_TEXT("comm", "copied") };
	int failed = 0;

	for (int i = 0; !failed && i < TURNS; i++) {
		struct source *s = &sources[i % 3 % 2];

		fill(s, least[i % 8]);
		failed = s->head != s->lent && lend(w, s, e);
		for (int j = 0; !failed && i == LITTLE && j < 100; j++) {
			fill(s, 1);
			failed = lend(w, s, e);
		}
		if (!failed && i % 5 == 3)
			failed = pd_writer_record(w, 3, 0, -1, comm, 2, (struct pd_bytes){ 0 }, e);
		if (!failed && i % 20 == 7)
			failed = pd_writer_flush(w, e);
		if (!failed && i % 20 == 7 && s->back != s->lent)
			printf("%" PRIu64 " bytes are not back after a flush\n", s->lent - s->back);
		if (!failed && i % 20 == 13)
			failed = pd_writer_flush_soon(w, e);
		if (i % 8 == 3)
			nanosleep(&(struct timespec){ .tv_nsec = LATER }, NULL);
	}
	return failed;
}

int main(int argc, char **argv)
{
	struct source sources[2] = { { .bytes = malloc(SIZE) }, { .bytes = malloc(SIZE) } };
	const int fd = open(argv[argc - 1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	char text[400], name[4096];
	FILE *seen =
		snprintf(name, sizeof(name), "%s.seen", argv[argc - 1]) ? fopen(name, "w") : NULL;
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(
		fd,
		PD_WRITER_OPTIONS(.compress = atoi(argv[1]), .by = (enum pd_write_by)atoi(argv[2]),
				  .mode = (enum pd_mode)atoi(argv[3]), .watch = see, .ctx = seen),
		&e);
	int failed =
		!w || pd_writer_begin(w, &e) || turns(w, sources, &e) || pd_writer_finish(w, &e);

	if (failed)
		printf("%s\n", pd_error_text(&e, text, sizeof(text)));
	pd_writer_free(w);
	fclose(seen);
	for (int i = 0; i < 2; i++) {
		if (!failed && sources[i].back != sources[i].head)
			printf("%" PRIu64 " bytes never came back\n",
			       sources[i].head - sources[i].back);
		free(sources[i].bytes);
	}
	printf("%" PRIu64 " records\n", made);
	return failed;
}
