/* buildid_sample.c - after perf_event_open(2), "PERF_RECORD_SAMPLE": the order of the fields. */
#include "buildid/buildid_sample.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"

struct attr_words {
	uint64_t sample_type, read_format;
};

static void attr_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct attr_words *a = ctx;

	if (strcmp(pd_field_name(f), "sample_type") == 0)
		a->sample_type = value;
	else if (strcmp(pd_field_name(f), "read_format") == 0)
		a->read_format = value;
}

/* The next word, if samples have this field. */
static int take(struct sample_places *p, uint64_t field)
{
	return p->sample_type & field ? (int)p->words++ : -1;
}

static void set_places(struct sample_places *p, const struct attr_words *a)
{
	int identifier;

	*p = (struct sample_places){ .sample_type = a->sample_type, .read_format = a->read_format };
	identifier = take(p, PERF_SAMPLE_IDENTIFIER);
	p->ip = take(p, PERF_SAMPLE_IP);
	p->tid = take(p, PERF_SAMPLE_TID);
	p->time = take(p, PERF_SAMPLE_TIME);
	take(p, PERF_SAMPLE_ADDR);
	p->id = take(p, PERF_SAMPLE_ID);
	take(p, PERF_SAMPLE_STREAM_ID);
	take(p, PERF_SAMPLE_CPU);
	take(p, PERF_SAMPLE_PERIOD);
	p->read = a->sample_type & PERF_SAMPLE_READ ? (int)p->words : -1;
	p->id = identifier >= 0 ? identifier : p->id;
}

static int by_id(const void *a, const void *b)
{
	const struct sample_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static bool read_ids(struct sample_table *t, struct pd_reader *reader)
{
	size_t all = 0, n;

	for (size_t i = 0; i < t->n; i++) {
		pd_attr_ids(pd_reader_attr(reader, i), &n);
		all += n;
	}
	t->ids = calloc(all + 1, sizeof(*t->ids));
	for (size_t i = 0; t->ids && i < t->n; i++) {
		const uint64_t *ids = pd_attr_ids(pd_reader_attr(reader, i), &n);

		for (size_t j = 0; j < n; j++)
			t->ids[t->nr_ids++] = (struct sample_id){ ids[j], i };
	}
	if (t->ids)
		qsort(t->ids, t->nr_ids, sizeof(*t->ids), by_id);
	return t->ids;
}

/* Events that differ are told apart by an id, which all must have in the same place. */
static bool agree(struct sample_table *t)
{
	bool same_id = true;

	t->alike = true;
	for (size_t i = 1; i < t->n; i++) {
		const struct sample_places *a = &t->places[0], *b = &t->places[i];

		t->alike = t->alike && a->sample_type == b->sample_type &&
			   a->read_format == b->read_format;
		same_id = same_id && a->id == b->id;
	}
	return t->alike || (same_id && t->places[0].id >= 0);
}

bool sample_table_read(struct sample_table *t, struct pd_reader *reader)
{
	static const struct pd_visitor visitor = {
		.size = sizeof(visitor), .number = attr_number,
	};

	*t = (struct sample_table){ .n = pd_reader_nr_attrs(reader) };
	t->places = calloc(t->n + 1, sizeof(*t->places));
	if (!t->places || !t->n)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		struct attr_words words = { 0 };

		pd_attr_visit(reader, pd_reader_attr(reader, i), &visitor, &words);
		set_places(&t->places[i], &words);
	}
	return agree(t) && (t->alike || read_ids(t, reader));
}

void sample_table_free(struct sample_table *t)
{
	free(t->places);
	free(t->ids);
	*t = (struct sample_table){ 0 };
}

static const struct sample_places *find(struct sample_table *t, const uint64_t *words, size_t n)
{
	const int at = t->places[0].id;
	struct sample_id wanted = { 0 };

	if ((size_t)at >= n)
		return NULL;
	wanted.id = words[at];
	if (!t->last || t->last->id != wanted.id)
		t->last = bsearch(&wanted, t->ids, t->nr_ids, sizeof(wanted), by_id);
	return t->last ? &t->places[t->last->event] : NULL;
}

/* Words of a READ; 0: more than there are. */
static size_t read_words(const struct sample_places *p, const uint64_t *words, size_t n)
{
	const uint64_t f = p->read_format;
	size_t times = !!(f & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(f & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size_t each = 1 + !!(f & PERF_FORMAT_ID) + !!(f & ABI_FORMAT_LOST);

	if (!(f & PERF_FORMAT_GROUP))
		return times + each;
	return n && words[0] < n ? 1 + times + (size_t)words[0] * each : 0;
}

static bool see_chain(const struct sample_places *p, const uint64_t *words, size_t n,
		      struct sample_seen *out)
{
	size_t at = p->words;

	if (p->read >= 0) {
		size_t size = read_words(p, words + at, n - at);

		if (!size || size > n - at)
			return false;
		at += size;
	}
	if (at >= n || words[at] > n - at - 1)
		return false;
	out->nr_chain = (size_t)words[at];
	out->chain = words + at + 1;
	return true;
}

bool sample_see(struct sample_table *t, const uint64_t *words, size_t n, struct sample_seen *out)
{
	const struct sample_places *p = t->alike ? &t->places[0] : find(t, words, n);

	if (!p || p->words > n)
		return false;
	out->has_ip = p->ip >= 0;
	out->has_time = p->time >= 0;
	out->pid = -1;
	out->nr_chain = 0;
	if (out->has_ip)
		out->ip = words[p->ip];
	if (out->has_time)
		out->time = words[p->time];
	if (p->tid >= 0)
		memcpy(&out->pid, &words[p->tid], sizeof(out->pid));
	return !(p->sample_type & PERF_SAMPLE_CALLCHAIN) || see_chain(p, words, n, out);
}
