/* build_ids.c - which files of a recording the recorder says were hit: build_ids fast|slow FILE.
 *
 * Prints "fast 1" where samples were read in place, the counts, and the files by their names.
 * slow: by the library alone.
 */
#include <stdio.h>

#include "buildid_scan.c"

static void no_sample(void *ctx, uint16_t misc, const struct sample_seen *s)
{
	(void)ctx, (void)misc, (void)s;
}

static void no_others(void *ctx, struct pd_reader *reader)
{
	(void)ctx, (void)reader;
}

static int scan(struct pd_reader *reader, bool fast, struct hits *hits, struct buildid_summary *found)
{
	struct scan s = { .hits = hits, .out = found, .which = BUILDID_HIT };

	if (fast)
		return buildid_scan(reader, BUILDID_HIT, hits, found);
	see_all(&s, reader);
	hits_resolve(hits);
	return s.failed;
}

int main(int argc, char **argv)
{
	const bool fast = argc > 2 && strcmp(argv[1], "fast") == 0;
	const struct pass_callbacks nothing = { no_sample, no_others, NULL };
	struct buildid_summary found = { 0 };
	struct hits *hits = hits_new();
	struct pd_error e;
	struct pd_reader *reader = pd_open_path(argc > 2 ? argv[2] : "", NULL, &e);
	struct hits_file *f;

	if (!reader)
		return 2;
	printf("fast %d\n", fast && pass_over(reader, &nothing));
	if (scan(reader, fast, hits, &found))
		return 1;
	printf("samples %llu first %llu last %llu lost %llu\n", (unsigned long long)found.samples,
	       (unsigned long long)found.first, (unsigned long long)found.last, (unsigned long long)found.lost);
	for (size_t i = 0; (f = hits_file_at(hits, i)); i++)
		if (f->hit)
			printf("%s %llu %d\n", f->name, (unsigned long long)f->ino, f->kernel);
	pd_close(reader);
	hits_free(hits);
	return 0;
}
