/* mutate.c - runs a fuzz target over mutants of files: always the same ones, so that a check is the
 * same every time.
 *
 *     NAME random COUNT FILE...	COUNT mutants of the files: bytes, bits, words, spans
 *     NAME whole FILE...	the files as they are
 *     NAME truncate FILE...	every shorter length of each
 *     NAME flip FILE...	every bit of each turned over
 *     NAME counts FILE...	every number that other parts depend on (sizes, counts, offsets,
 *				variants, found by the layout tables) replaced by 0, 1, the largest
 *				and the largest but one
 *
 * A mutant that fails is written to mutant.crash in the current directory, for fixtures/crash/.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "layout/container.h"
#include "reader/reader.h"
#include "stream/record.h"

#define LARGEST (1u << 20)

struct input {
	const char *path;
	uint8_t *data;
	size_t size;
};

static struct input current;	/* for the last words */

static void save(int signal_number)
{
	FILE *f = fopen("mutant.crash", "wb");

	if (f) {
		fwrite(current.data, 1, current.size, f);
		fclose(f);
	}
	fprintf(stderr, "a mutant of %s fails: kept as mutant.crash (%zu bytes)\n", current.path,
		current.size);
	if (signal_number) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
}

#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_set_death_callback(void (*callback)(void));

static void last_words(void)
{
	save(0);
}
#endif

static size_t runs;

/* In a block of its own size, so that a byte too many is seen. */
static void run(const char *path, const uint8_t *data, size_t size)
{
	current = (struct input){ path, malloc(size ? size : 1), size };
	FUZZ_ASSERT(current.data, "no memory");
	if (size)
		memcpy(current.data, data, size);
	alarm(60);	/* a hang is a failure */
	LLVMFuzzerTestOneInput(current.data, size);
	alarm(0);
	free(current.data);
	runs++;
}

static struct input read_file(const char *path)
{
	struct input in = { path, malloc(LARGEST), 0 };
	FILE *f = fopen(path, "rb");

	FUZZ_ASSERT(f && in.data, "%s can't be read", path);
	in.size = fread(in.data, 1, LARGEST, f);
	fclose(f);
	return in;
}

/* --- random --- */

static uint64_t state = 0x9e3779b97f4a7c15ull;

static uint64_t next_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static size_t below(size_t n)
{
	return n ? (size_t)(next_random() % n) : 0;
}

static void put(uint8_t *p, size_t room, uint64_t v, size_t width, bool big)
{
	for (size_t i = 0; i < width && i < room; i++)
		p[i] = (uint8_t)(v >> 8 * (big ? width - 1 - i : i));
}

static void mutate_once(uint8_t *d, size_t *size)
{
	static const uint64_t words[] = {
		0, 1, 7, 8, 0x7f, 0xff, 0xfff8, 0xffff, 0x7fffffff, 0xffffffff, 1ull << 32,
		1ull << 63, UINT64_MAX, UINT64_MAX - 7 };
	const size_t at = below(*size), width = (size_t)1 << below(4);
	size_t n = 1 + below(64), from;

	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		d[at] = (uint8_t)next_random();
		break;
	case 3:
		d[at] ^= (uint8_t)(1 << below(8));
		break;
	case 4:
		put(d + at / width * width, *size - at / width * width,
		    words[below(sizeof(words) / sizeof(*words))], width, below(4) == 0);
		break;
	case 5:
		n = n < *size - at ? n : *size - at;
		memset(d + at, below(2) ? 0 : 0xff, n);
		break;
	case 6:	/* a span from elsewhere */
		from = below(*size);
		n = n < *size - at ? n : *size - at;
		n = n < *size - from ? n : *size - from;
		memmove(d + at, d + from, n);
		break;
	default:
		n = n < *size - at ? n : *size - at;
		memmove(d + at, d + at + n, *size - at - n);
		*size -= n;
	}
}

static void run_random(const struct input *in)
{
	uint8_t *d = malloc(in->size + 1);
	size_t size = in->size;

	FUZZ_ASSERT(d, "no memory");
	memcpy(d, in->data, in->size);
	for (size_t n = 1 + below(6); n && size; n--)
		mutate_once(d, &size);
	run(in->path, d, size);
	free(d);
}

/* --- systematic --- */

static void run_whole(const struct input *in)
{
	run(in->path, in->data, in->size);
}

static void run_truncated(const struct input *in)
{
	for (size_t size = 0; size < in->size; size++)
		run(in->path, in->data, size);
}

static void run_flipped(const struct input *in)
{
	for (size_t bit = 0; bit < 8 * in->size; bit++) {
		in->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		run(in->path, in->data, in->size);
		in->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* Places of numbers, from the tables. */
struct places {
	const struct input *in;
	bool *seen[4];		/* by log2 of the width: of each byte of the input */
	const uint8_t *base;	/* what offsets are told from: the bytes that are visited ... */
	uint64_t offset;	/* ... and where they lie in the input */
	size_t size;
};

static void note(struct places *p, uint64_t at, unsigned int width)
{
	const unsigned int log = width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3;

	if (at < p->in->size && width <= p->in->size - at)
		p->seen[log][at] = true;
}

static void note_list(struct places *p, const struct pd_op_list *list, uint64_t at)
{
	for (size_t i = 0; i < list->nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];

		if (op->offset == PD_VARIABLE)
			break;
		if (op->kind == PD_UINT &&
		    (op->slot != PD_NO_SLOT || op->field->show == PD_HIDDEN ||
		     op->extent_slot != PD_NO_SLOT))
			note(p, at + op->offset, op->width);
		if (op->field->count.from == PD_COUNT_INLINE)
			note(p, at + op->offset, (unsigned int)op->field->count.value);
		if (op->list)
			note_list(p, op->list, at + op->offset);
	}
}

/* Counts right before what they count, wherever that is. */
static void note_before(struct places *p, const struct pd_field *f, const uint8_t *data)
{
	const unsigned int width = f->kind == PD_FSTR		      ? 4
				   : f->count.from == PD_COUNT_INLINE ? (unsigned int)f->count.value
								      : 8;

	if (data >= p->base + width && data <= p->base + p->size)
		note(p, p->offset + (uint64_t)(data - p->base) - width, width);
}

static void on_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	note_before(ctx, f, n->data);
}

static void on_bytes(void *ctx, const struct pd_field *f, struct pd_bytes b)
{
	note_before(ctx, f, b.data);
}

static const struct pd_visitor places_visitor = {
	.size = sizeof(places_visitor), .numbers = on_numbers, .text = on_bytes, .bytes = on_bytes,
};

static void note_record(struct places *p, const struct pd_record *r)
{
	const struct pd_bytes bytes = r->frame.bytes;

	if (r->frame.inner_offset != PD_OUTER || r->frame.state != PD_FRAME_WHOLE)
		return;
	p->base = bytes.data;
	p->size = bytes.size;
	p->offset = r->frame.offset;
	note(p, p->offset, 4);
	note(p, p->offset + 6, 2);
	if (!r->plan)
		return;
	note_list(p, r->plan->list, p->offset + PD_RECORD_HEADER_SIZE);
	pd_record_visit(r, &places_visitor, p);
}

static void note_features(struct places *p, struct pd_reader *reader)
{
	for (size_t i = 0; i < pd_reader_nr_features(reader); i++) {
		const struct pd_feature_desc *d;
		struct pd_extent_of extent;
		struct pd_feature f;
		struct pd_error e;
		struct pd_plan *plan;

		if (pd_reader_feature(reader, i, &f, &e))
			continue;
		d = pd_feature_desc(f.id);
		plan = d ? pd_session_feature_plan(pd_reader_session(reader), d) : NULL;
		if (!plan)
			continue;
		p->base = f.bytes.data;
		p->size = f.bytes.size;
		p->offset = f.offset;
		note_list(p, plan->list, f.offset);
		pd_measure(plan, f.bytes, 0, pd_reader_session(reader)->swap, PD_TEXT_TO_END,
			   &extent);
		pd_visit(plan, f.bytes, 0, pd_reader_session(reader)->swap, &extent,
			 &places_visitor, p);
	}
}

/* Header, attrs and tables are made of numbers. */
static void note_container(struct places *p, struct pd_reader *reader)
{
	const struct pd_file_info *info = pd_reader_file(reader);

	for (size_t i = 0; i < info->nr_sections; i++) {
		const struct pd_section *s = &info->sections[i];

		if (strcmp(s->name, "header") && strcmp(s->name, "attrs") &&
		    strcmp(s->name, "feature_table") && strcmp(s->name, "own_feature_table"))
			continue;
		for (uint64_t at = s->offset; at < s->offset + s->size && at < p->in->size; at += 8)
			note(p, at, 8);
		if (strcmp(s->name, "attrs") == 0)
			for (uint64_t at = s->offset; at < s->offset + s->size && info->attr_size;
			     at += info->attr_size)
				note(p, at + 4, 4);
	}
}

static void find_places(struct places *p)
{
	const struct pd_record *record;
	struct pd_error e;
	struct pd_reader *reader =
		pd_reader_open_memory((struct pd_bytes){ p->in->data, p->in->size }, NULL, &e);

	if (!reader)
		return;
	note_container(p, reader);
	note_features(p, reader);
	while (pd_reader_next(reader, &record, &e) > 0)
		note_record(p, record);
	pd_reader_free(reader);
}

static void replace(const struct input *in, size_t at, unsigned int width)
{
	const uint64_t max = width == 8 ? UINT64_MAX : (1ull << 8 * width) - 1;
	const uint64_t values[] = { 0, 1, max, max - 1 };
	uint8_t old[8];

	memcpy(old, in->data + at, width);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		for (int big = 0; big < 1 + (values[i] == 1 || values[i] == max - 1); big++) {
			put(in->data + at, width, values[i], width, big);
			run(in->path, in->data, in->size);
		}
	memcpy(in->data + at, old, width);
}

static void run_counts(const struct input *in)
{
	struct places p = { .in = in };

	for (size_t log = 0; log < 4; log++) {
		p.seen[log] = calloc(in->size + 1, sizeof(bool));
		FUZZ_ASSERT(p.seen[log], "no memory");
	}
	find_places(&p);
	for (size_t log = 0; log < 4; log++) {
		for (size_t at = 0; at < in->size; at++)
			if (p.seen[log][at])
				replace(in, at, 1u << log);
		free(p.seen[log]);
	}
}

static const struct way {
	const char *name;
	void (*run)(const struct input *in);
} ways[] = {
	{ "random", run_random }, { "whole", run_whole },   { "truncate", run_truncated },
	{ "flip", run_flipped },  { "counts", run_counts },
};

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct way *way = find_way(argc > 2 ? argv[1] : "");
	const bool is_random = way && way->run == run_random;
	const int first = is_random ? 3 : 2;
	size_t count = is_random ? strtoul(argv[2], NULL, 10) : (size_t)(argc - first),
	       nr_files = (size_t)(argc - first);
	struct input *files;

	if (argc <= first || !way) {
		fprintf(stderr,
			"usage: %s random COUNT FILE... | whole FILE... | truncate FILE... | "
			"flip FILE... | counts FILE...\n",
			argv[0]);
		return 2;
	}
	signal(SIGABRT, save);
	signal(SIGALRM, save);
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_set_death_callback(last_words);
#endif
	files = calloc(nr_files, sizeof(*files));
	for (size_t i = 0; files && i < nr_files; i++)
		files[i] = read_file(argv[first + (int)i]);
	for (size_t i = 0; files && i < count; i++)
		way->run(&files[i % nr_files]);
	for (size_t i = 0; files && i < nr_files; i++)
		free(files[i].data);
	free(files);
	printf("%s: %zu inputs\n", way->name, runs);
	return 0;
}
