/* hot_dsos.c - the hottest addresses of each file that is mapped: hot_dsos FILE [ADDRESSES].
 *
 * An address is the offset in its file, which is the same in every process and recording.
 *
 *	cc -O2 -o hot_dsos hot_dsos.c $(pkg-config --cflags --libs libdecode)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <pd/history.h>
#include <pd/pd.h>

/* A sample's place; then, once they are counted, a place and its samples. */
struct place {
	uint32_t image; /* PD_NO_IMAGE: in no map */
	uint64_t offset;
	uint64_t count;
};

struct places {
	struct place *items;
	size_t count, capacity;
};

static int add(struct places *all, const struct pd_location *at)
{
	struct place *more = all->items;

	if (all->count == all->capacity) {
		all->capacity = all->capacity ? 2 * all->capacity : 4096;
		more = realloc(all->items, all->capacity * sizeof(*more));
		if (!more)
			return -1;
		all->items = more;
	}
	more[all->count++] = (struct place){ at->image, at->file_offset, 1 };
	return 0;
}

/* Reads the side-band: the maps of all processes over time. Returns NULL and *e on failure. */
static struct pd_history *read_history(const char *path, struct pd_error *e)
{
	struct pd_reader *r = pd_reader_open_path(path, NULL, e);
	struct pd_history *h = r ? pd_history_new(NULL, e) : NULL;

	if (h && (pd_history_learn(h, r, e) || pd_history_seal(h, r, e))) {
		pd_history_free(h);
		h = NULL;
	}
	pd_reader_free(r);
	return h;
}

static int read_samples(const char *path, const struct pd_history *h, struct places *all,
			struct pd_error *e)
{
	struct pd_reader *r = pd_reader_open_path(path, NULL, e);
	const struct pd_record *record;
	struct pd_location at;
	int got = -1;

	while (r && (got = pd_reader_next(r, &record, e)) == 1) {
		if (!pd_record_get_number(record, "ip", NULL) ||
		    pd_history_frames(h, record, &at, 1) == 0)
			continue;
		if (add(all, &at)) {
			*e = (struct pd_error){ .code = PD_E_NOMEM };
			got = -1;
			break;
		}
	}
	pd_reader_free(r);
	return got;
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_place(a, b);
}

/* Makes one item of those of the same place. */
static void count_places(struct places *all)
{
	size_t n = 0;

	qsort(all->items, all->count, sizeof(*all->items), by_place);
	for (size_t i = 0; i < all->count; i++) {
		if (n && by_place(&all->items[n - 1], &all->items[i]) == 0)
			all->items[n - 1].count++;
		else
			all->items[n++] = all->items[i];
	}
	all->count = n;
}

/* Prints the items from `begin` on that have its image. Returns where they end. */
static size_t print_image(const struct pd_history *h, struct places *all, size_t begin,
			  size_t lines)
{
	const uint32_t image = all->items[begin].image;
	const struct pd_image *file = pd_history_image(h, image);
	uint64_t samples = 0;
	size_t end = begin;

	for (; end < all->count && all->items[end].image == image; end++)
		samples += all->items[end].count;
	printf("%" PRIu64 " %s\n", samples, file ? file->path : "[unknown]");
	qsort(all->items + begin, end - begin, sizeof(*all->items), by_count);
	for (size_t i = begin; file && i < end && i < begin + lines; i++)
		printf("\t%" PRIu64 " 0x%" PRIx64 "\n", all->items[i].count, all->items[i].offset);
	return end;
}

int main(int argc, char **argv)
{
	size_t lines = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;
	struct places all = { NULL, 0, 0 };
	struct pd_history *h;
	struct pd_error e;
	char text[256];
	int failed;

	if (argc < 2) {
		fprintf(stderr, "usage: hot_dsos FILE [ADDRESSES]\n");
		return 2;
	}
	h = read_history(argv[1], &e);
	failed = !h || read_samples(argv[1], h, &all, &e) < 0;
	if (failed)
		fprintf(stderr, "hot_dsos: %s: %s\n", argv[1],
			pd_error_text(&e, text, sizeof(text)));
	if (!failed && all.count)
		count_places(&all);
	for (size_t i = 0; !failed && i < all.count;)
		i = print_image(h, &all, i, lines);
	free(all.items);
	pd_history_free(h);
	return failed;
}
