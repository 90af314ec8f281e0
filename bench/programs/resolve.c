/* resolve.c - resolves all addresses of all samples: resolve FILE [BYTES OF MEMORY].
 *
 * Prints the side-band records learned, samples, addresses, those in an image, and seconds for
 * learning, sealing and resolving, and the bytes that the history takes. perf script -F
 * comm,ip,dso does the same and writes text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pd/history.h>
#include <pd/pd.h>

#define ITEMS 256
#define ADDRESSES 1024

struct totals {
	uint64_t samples, named, addresses, found;
};

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct pd_reader *open_file(const char *path)
{
	struct pd_error e;
	struct pd_reader *r =
		pd_reader_open_path(path, PD_READER_OPTIONS(.access = PD_MAP_OWN), &e);
	char text[200];

	if (!r) {
		fprintf(stderr, "%s\n", pd_error_text(&e, text, sizeof(text)));
		exit(1);
	}
	return r;
}

static void resolve(const struct pd_history *h, const struct pd_fields *f, struct totals *t)
{
	static struct pd_location locations[ADDRESSES];
	struct pd_task task;
	size_t n = pd_history_fields_frames(h, f, locations, ADDRESSES);

	t->samples++;
	t->named += pd_history_fields_task(h, f, NULL, &task);
	t->addresses += n;
	for (size_t i = 0; i < n && i < ADDRESSES; i++)
		t->found += locations[i].image != PD_NO_IMAGE;
}

int main(int argc, char **argv)
{
	static struct pd_fields items[ITEMS];
	struct pd_fields_batch batch = { sizeof(batch), items, sizeof(*items), ITEMS,
					 PD_HAS_PID | PD_HAS_TID | PD_HAS_TIME | PD_HAS_IP |
						 PD_HAS_CALLCHAIN };
	struct pd_history_options o = { sizeof(o), argc > 2 ? strtoull(argv[2], NULL, 10) : 0 };
	struct pd_history_counts counts = { .size = sizeof(counts) };
	struct pd_history *h = pd_history_new(&o, NULL);
	struct pd_reader *r = open_file(argv[1]);
	struct totals t = { 0 };
	struct pd_error e = { 0 };
	double begin = cpu_now(), learned, sealed, resolved;
	int n;

	pd_history_learn(h, r, &e);
	learned = cpu_now();
	pd_history_seal(h, r, &e);
	sealed = cpu_now();
	pd_reader_free(r);
	r = open_file(argv[1]);
	while ((n = pd_reader_next_fields(r, &batch, &e)) > 0)
		for (int i = 0; i < n; i++)
			if (items[i].type == PD_RECORD_SAMPLE)
				resolve(h, &items[i], &t);
	resolved = cpu_now();
	pd_history_count(h, &counts);
	printf("{\"changes\": %" PRIu64 ", \"left_out\": %" PRIu64 ", \"samples\": %" PRIu64
	       ", \"named\": %" PRIu64 ", \"addresses\": %" PRIu64 ", \"found\": %" PRIu64
	       ", \"learn\": %.3f, \"seal\": %.3f, \"resolve\": %.3f, \"memory\": %" PRIu64 "}\n",
	       counts.changes, counts.left_out, t.samples, t.named, t.addresses, t.found,
	       learned - begin, sealed - learned, resolved - sealed, counts.memory);
	pd_reader_free(r);
	pd_history_free(h);
	return 0;
}
