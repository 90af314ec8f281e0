/* api_failing_output.c - sinks whose output fails after a number of bytes.
 *
 * api_failing_output json|jsonl|stats FILE [THREADS]: makes the output fail at the start, then at
 * places twice as far, until all of it fits. Prints how often pd_pump() returned something else
 * than the output's error, and how often the output was called after that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/pd.h>

#define FULL 99

struct output {
	size_t room;
	int has_failed;
	unsigned int again;
};

static int take(void *ctx, const void *p, size_t n)
{
	struct output *o = ctx;

	(void)p;
	o->again += o->has_failed;
	o->has_failed |= n > o->room;
	o->room -= o->has_failed ? 0 : n;
	return o->has_failed ? FULL : 0;
}

static struct pd_sink *open_sink(const char *format, unsigned int threads, struct output *o)
{
	const struct pd_output out = { take, o };

	if (strcmp(format, "stats") == 0)
		return pd_sink_new_stats(NULL, out);
	return pd_sink_new_json(PD_JSON_OPTIONS(.shape = strcmp(format, "json") ? PD_JSON_LINES :
								       PD_JSON_DOCUMENT,
						.threads = threads), out);
}

int main(int argc, char **argv)
{
	const unsigned int threads = argc > 3 ? (unsigned int)atoi(argv[3]) : 1;
	unsigned int wrong = 0, again = 0, times = 0;
	int ret = FULL;

	if (argc < 3)
		return 2;
	for (size_t room = 0; ret == FULL; room = 2 * room + 1) {
		struct output o = { .room = room };
		struct pd_sink *sink = open_sink(argv[1], threads, &o);
		struct pd_error e;
		struct pd_reader *r = pd_reader_open_path(argv[2], NULL, &e);

		if (!r || !sink)
			return 2;
		ret = pd_pump(r, sink);
		pd_sink_free(sink);
		pd_reader_free(r);
		wrong += ret != (o.has_failed ? FULL : 0);
		again += o.again;
		times++;
	}
	printf("%s: %u wrong, %u again\n", times > 2 ? "failed" : "never failed", wrong, again);
	return ret != 0;
}
