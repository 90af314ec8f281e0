/* multiply.c - makes a long recording of a short one: multiply IN OUT BYTES [ZSTD-LEVEL].
 *
 * The kernel's records and the ends of rounds are written again and again, times shifted, until
 * they are BYTES; what perf's other records say comes once, the features as they are. IN may be
 * compressed, OUT is with ZSTD-LEVEL.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pd/pd.h"
#include "pd/write.h"

struct copy {
	uint8_t *bytes;
	size_t used, room;
	size_t *times, nr_times, room_times;	/* where the times are */
	uint64_t first, last;
};

static void die(const char *what, const struct pd_error *e)
{
	char text[256] = "";

	fprintf(stderr, "multiply: %s %s\n", what, e ? pd_error_text(e, text, sizeof(text)) : text);
	exit(1);
}

/* Where a record's time stands, by perf_event_open(2); 0: nowhere. */
static size_t time_at(const struct pd_record *r, uint64_t sample_type)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	const uint64_t trailing = PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	uint64_t time;

	if (!pd_record_time(r, &time))
		return 0;
	if (pd_record_type(r) == PERF_RECORD_SAMPLE)
		return 8 + 8 * (size_t)__builtin_popcountll(sample_type & before);
	return pd_record_bytes(r).size - 8 * (size_t)__builtin_popcountll(sample_type & trailing);
}

static void *grow(void *p, size_t *room, size_t want, size_t unit)
{
	if (want <= *room)
		return p;
	*room = 2 * want + 1024;
	p = realloc(p, *room * unit);
	if (!p)
		die("no memory", NULL);
	return p;
}

static void add(struct copy *c, const struct pd_record *r, uint64_t sample_type)
{
	const struct pd_bytes b = pd_record_bytes(r);
	const size_t at = time_at(r, sample_type);
	uint64_t time;

	c->bytes = grow(c->bytes, &c->room, c->used + b.size, 1);
	memcpy(c->bytes + c->used, b.data, b.size);
	if (at) {
		memcpy(&time, c->bytes + c->used + at, sizeof(time));
		c->times = grow(c->times, &c->room_times, c->nr_times + 1, sizeof(*c->times));
		c->times[c->nr_times++] = c->used + at;
		if (time && (!c->first || time < c->first))
			c->first = time;
		if (time > c->last)
			c->last = time;
	}
	c->used += b.size;
}

static void shift(struct copy *c, uint64_t by)
{
	for (size_t i = 0; i < c->nr_times; i++) {
		uint64_t time;

		memcpy(&time, c->bytes + c->times[i], sizeof(time));
		time += time ? by : 0;
		memcpy(c->bytes + c->times[i], &time, sizeof(time));
	}
}

static void add_events(struct pd_reader *r, struct pd_writer *w, uint64_t *sample_types)
{
	const struct pd_file_info *file = pd_reader_file(r);
	struct pd_error e;

	for (size_t i = 0; i < file->nr_sections; i++) {
		const struct pd_section *s = &file->sections[i];
		uint8_t entry[4096];
		struct perf_event_attr attr;

		if (strcmp(s->name, "attrs") != 0)
			continue;
		for (size_t n = 0; n < pd_reader_nr_attrs(r); n++) {
			const struct pd_attr *a = pd_reader_attr(r, n);
			const uint64_t *ids;
			size_t nr_ids;

			if (file->attr_size > sizeof(entry) ||
			    pd_reader_read_at(r, s->offset + n * file->attr_size, entry,
					      file->attr_size) != (int64_t)file->attr_size)
				die("can't read the attributes", NULL);
			memcpy(&attr, entry,
			       file->attr_size < sizeof(attr) ? file->attr_size : sizeof(attr));
			sample_types[n] = attr.sample_type;
			ids = pd_attr_ids(a, &nr_ids);
			if (pd_writer_add_event(w, entry, file->attr_size - 16, ids, nr_ids,
						pd_attr_name(a), &e))
				die("an event:", &e);
		}
	}
}

/* All records: the kernel's and the ends of rounds into c, the others at once to the output. */
static void take(struct pd_reader *r, struct pd_writer *w, const uint64_t *sample_types,
		 struct copy *c)
{
	const struct pd_record *record;
	struct pd_error e;
	int got;

	while ((got = pd_reader_next(r, &record, &e)) > 0) {
		const uint32_t type = pd_record_type(record);
		const struct pd_bytes b = pd_record_bytes(record);
		const struct pd_attr *a = pd_record_attr(record);

		if (type < PD_RECORD_USER_START || type == PD_RECORD_FINISHED_ROUND)
			add(c, record, a ? sample_types[pd_attr_index(a)] : 0);
		else if (type != PD_RECORD_COMPRESSED && type != PD_RECORD_COMPRESSED2 &&
			 pd_writer_write(w, &b, 1, &e))
			die("writing:", &e);
	}
	if (got < 0)
		die("reading:", &e);
}

static void add_features(struct pd_reader *r, struct pd_writer *w, uint64_t longer)
{
	struct pd_error e;

	for (size_t i = 0; i < pd_reader_nr_features(r); i++) {
		struct pd_feature f;
		uint64_t span[2];

		if (pd_reader_feature(r, i, &f, &e))
			die("a feature:", &e);
		if (f.id == PD_FEATURE_SAMPLE_TIME && f.bytes.size == sizeof(span)) {
			memcpy(span, f.bytes.data, sizeof(span));
			span[1] += longer;
			f.bytes.data = (const uint8_t *)span;
		}
		if (f.id != PD_FEATURE_EVENT_DESC && f.id != PD_FEATURE_COMPRESSED &&
		    pd_writer_feature_bytes(w, f.id, f.bytes, &e))
			die("a feature:", &e);
	}
}

int main(int argc, char **argv)
{
	const uint64_t bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	const int out = argc > 3 ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;
	struct copy c = { NULL };
	struct pd_error e;
	struct pd_reader *r;
	struct pd_writer *w;
	uint64_t *sample_types, span, times = 0, done = 0;

	if (out < 0)
		die("usage: multiply IN OUT BYTES [ZSTD-LEVEL]", NULL);
	r = pd_reader_open_path(argv[1], NULL, &e);
	if (!r)
		die(argv[1], &e);
	w = pd_writer_open_fd(
		out,
		PD_WRITER_OPTIONS(.mode = PD_MODE_FILE, .compress = argc > 4 ? atoi(argv[4]) : 0),
		&e);
	sample_types = calloc(pd_reader_nr_attrs(r) + 1, sizeof(*sample_types));
	if (!w || !sample_types)
		die(argv[2], &e);
	add_events(r, w, sample_types);
	if (pd_writer_begin(w, &e))
		die(argv[2], &e);
	take(r, w, sample_types, &c);
	span = c.last - c.first + 1000;
	if (!c.used)
		die("no records of the kernel", NULL);
	do {
		const struct pd_bytes all = { c.bytes, c.used };

		shift(&c, times ? span : 0);
		if (pd_writer_write(w, &all, 1, &e))
			die("writing:", &e);
		times++;
		done += c.used;
	} while (done < bytes);
	add_features(r, w, (times - 1) * span);
	if (pd_writer_finish(w, &e))
		die("writing:", &e);
	pd_writer_free(w);
	pd_reader_free(r);
	free(c.bytes);
	free(c.times);
	free(sample_types);
	printf("%" PRIu64 "\n", times);
	return close(out) ? 1 : 0;
}
