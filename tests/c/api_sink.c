/* api_sink.c - pumps a recording through the JSON sink, the statistics and a sink of its own.
 *
 * api_sink json|jsonl|stats|own FILE [THREADS [singly]]: with THREADS each of these threads reads
 * the file by itself, and all must write the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pd/pd.h>

#define MOST_THREADS 16

struct job {
	const char *format, *path;
	char *text;
	size_t size, capacity;
	int singly, failed;
};

static int append(void *ctx, const void *p, size_t n)
{
	struct job *j = ctx;

	if (j->size + n > j->capacity) {
		size_t capacity = 2 * (j->size + n);
		char *text = realloc(j->text, capacity);

		if (!text)
			return ENOMEM;
		j->text = text;
		j->capacity = capacity;
	}
	memcpy(j->text + j->size, p, n);
	j->size += n;
	return 0;
}

/* A sink that counts. */
struct own {
	struct job *job;
	unsigned int begins, records, errors, finishes;
};

static int own_begin(void *state, struct pd_reader *r)
{
	struct own *o = state;

	o->begins += pd_reader_file(r) != NULL;
	return 0;
}

static int own_record(void *state, const struct pd_record *r)
{
	struct own *o = state;

	(void)r;
	o->records++;
	return 0;
}

static int own_error(void *state, const struct pd_error *e)
{
	struct own *o = state;

	o->errors += e->severity > PD_NOTE;
	return 0;
}

static int own_finish(void *state, struct pd_reader *r)
{
	struct own *o = state;
	char line[100];
	int n = snprintf(line, sizeof(line), "%u %u %u %zu\n", o->begins, o->records, o->errors,
			 pd_reader_nr_attrs(r));

	o->finishes++;
	return append(o->job, line, (size_t)n);
}

static struct pd_sink *open_sink(struct job *j)
{
	static const struct pd_sink_ops ops = {
		.size = sizeof(ops), .begin = own_begin, .record = own_record, .error = own_error,
		.finish = own_finish, .free = free,
	};
	const struct pd_output out = { append, j };
	struct own *own;

	if (strcmp(j->format, "stats") == 0)
		return pd_sink_new_stats(NULL, out);
	if (strcmp(j->format, "json") == 0)
		return pd_sink_new_json(NULL, out);
	if (strcmp(j->format, "jsonl") == 0)
		return pd_sink_new_json(PD_JSON_OPTIONS(.shape = PD_JSON_LINES), out);
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	own->job = j;
	return pd_sink_new(&ops, own);
}

static void on_error(void *ctx, const struct pd_error *e)
{
	struct pd_sink **sink = ctx;

	if (*sink)
		pd_sink_error(*sink, e);
}

/* The way without pd_sink_batch(). */
static int pump_singly(struct pd_reader *r, struct pd_sink *sink)
{
	const struct pd_record *record;
	struct pd_error e;
	int got = 1, failed = pd_sink_begin(sink, r);

	while (!failed && (got = pd_reader_next(r, &record, &e)) == 1)
		failed = pd_sink_record(sink, record);
	if (!failed && got < 0)
		failed = pd_sink_error(sink, &e);
	pd_sink_wait(sink);
	return failed ? failed : pd_sink_finish(sink, r);
}

static void *run(void *arg)
{
	struct job *j = arg;
	struct pd_sink *sink = open_sink(j);
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_path(
		j->path, PD_READER_OPTIONS(.on_error = on_error, .ctx = &sink), &e);

	j->failed = !sink || !r || (j->singly ? pump_singly : pd_pump)(r, sink);
	pd_sink_free(sink);
	pd_reader_free(r);
	return NULL;
}

int main(int argc, char **argv)
{
	struct job jobs[MOST_THREADS] = { 0 };
	pthread_t threads[MOST_THREADS];
	int n = argc > 3 ? atoi(argv[3]) : 1, failed = 0;

	if (argc < 3 || n < 1 || n > MOST_THREADS)
		return 2;
	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){ .format = argv[1], .path = argv[2], .singly = argc > 4 };
		if (pthread_create(&threads[i], NULL, run, &jobs[i]))
			return 2;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		failed |= jobs[i].failed || jobs[i].size != jobs[0].size ||
			  (jobs[i].size && memcmp(jobs[i].text, jobs[0].text, jobs[0].size) != 0);
	}
	fwrite(jobs[0].text, 1, jobs[0].size, stdout);
	for (int i = 0; i < n; i++)
		free(jobs[i].text);
	pd_sink_free(NULL);
	return failed;
}
