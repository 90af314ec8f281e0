/* api_feed.c - the same records however the bytes come.
 *
 * api_feed read              from standard input, by pd_reader_next()
 * api_feed feed FILE SEED MOST   in pieces of 1 to MOST bytes, by pd_feed_add()
 * api_feed batches FILE SEED MOST   the same, by pd_reader_next_fields()
 * api_feed json FILE SEED MOST   the same, into the JSON sink
 * api_feed cancel FILE       waits for a pipe that are ended, and go on
 * api_feed limit FILE        more bytes than memory
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <pd/feed.h>
#include <pd/fields.h>
#include <pd/pd.h>
#include <pd/tree.h>

#define ROOM (4u << 20)

static volatile sig_atomic_t cancelled;
static unsigned int waits;

static void on_error(void *ctx, const struct pd_error *e)
{
	(void)ctx;
	printf("error %s %" PRIu64 " %" PRIu64 "\n", pd_code_name(e->code), e->offset, e->skipped);
}

static void print_record(struct pd_reader *r, const struct pd_record *record)
{
	const struct pd_bytes bytes = pd_record_bytes(record);
	uint64_t hash = 14695981039346656037u;
	struct pd_bytes piece;
	struct pd_error e;

	for (size_t i = 0; i < bytes.size; i++)
		hash = (hash ^ bytes.data[i]) * 1099511628211u;
	printf("%s %" PRIu64 " %zu %" PRIx64 " %s", pd_record_name(record),
	       pd_record_offset(record), bytes.size, hash, pd_attr_name(pd_record_attr(record)));
	if (pd_record_payload_size(record)) {
		size_t size = 0;

		while (pd_reader_read_payload(r, 1000, &piece, &e) > 0)
			size += piece.size;
		printf(" payload=%zu", size);
	}
	printf("\n");
}

static void print_end(struct pd_reader *r)
{
	struct pd_account account = { .size = sizeof(account) };

	pd_reader_account(r, &account);
	printf("attrs %zu features %zu complete %d total %" PRIu64 "\n", pd_reader_nr_attrs(r),
	       pd_reader_nr_features(r), pd_reader_file(r)->complete, account.total);
}

static int read_stdin(void)
{
	const struct pd_reader_options *o = PD_READER_OPTIONS(.on_error = on_error);
	const struct pd_record *record;
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_fd(STDIN_FILENO, o, &e);
	int got;

	while (r && (got = pd_reader_next(r, &record, &e)) == 1)
		print_record(r, record);
	if (r)
		print_end(r);
	if (!r || got < 0)
		printf("failed %s\n", pd_code_name(e.code));
	pd_reader_free(r);
	return 0;
}

static struct pd_bytes load(const char *path)
{
	uint8_t *data = malloc(ROOM);
	FILE *in = fopen(path, "rb");
	struct pd_bytes all = { data, in && data ? fread(data, 1, ROOM, in) : 0 };

	if (in)
		fclose(in);
	return all;
}

/* Takes what there is. Returns 0, or -1 and *e. */
static int take(struct pd_feed *f, const char *how, struct pd_sink *sink, struct pd_error *e)
{
	const struct pd_record *record;
	struct pd_fields items[7];
	struct pd_fields_batch batch = { sizeof(batch), items, sizeof(*items), 7, PD_HAS_TIME };
	int got;

	if (strcmp(how, "batches") == 0) {
		while (pd_feed_reader(f) &&
		       (got = pd_reader_next_fields(pd_feed_reader(f), &batch, e)) > 0)
			for (int i = 0; i < got; i++)
				print_record(pd_feed_reader(f),
					     pd_reader_record(pd_feed_reader(f), &items[i]));
		return pd_feed_reader(f) && got < 0 && e->code != PD_E_AGAIN ? -1 : 0;
	}
	while ((got = pd_feed_next(f, &record, e)) == 1) {
		if (sink)
			pd_sink_record(sink, record);
		else
			print_record(pd_feed_reader(f), record);
	}
	return got;
}

static int write_out(void *ctx, const void *p, size_t n)
{
	(void)ctx;
	return fwrite(p, 1, n, stdout) != n;
}

static int feed(const char *how, const char *path, unsigned int seed, size_t most)
{
	const struct pd_reader_options *o =
		PD_READER_OPTIONS(.on_error = strcmp(how, "json") ? on_error : NULL);
	const struct pd_bytes all = load(path);
	struct pd_error e = { .code = PD_OK };
	struct pd_feed *f = pd_feed_new(o, &e);
	struct pd_sink *sink = NULL;
	int failed = !f;
	size_t at = 0;

	srand(seed);
	while (!failed && at <= all.size) {
		size_t n = 1 + (size_t)rand() % most;

		if (at == all.size) {
			failed = pd_feed_end(f, &e);
			at++;
		} else {
			n = n < all.size - at ? n : all.size - at;
			failed = pd_feed_add(f, (struct pd_bytes){ all.data + at, n }, &e);
			at += n;
		}
		if (strcmp(how, "json") == 0 && !sink && pd_feed_reader(f)) {
			sink = pd_sink_new_json(PD_JSON_OPTIONS(.shape = PD_JSON_LINES),
						(struct pd_output){ write_out, NULL });
			pd_sink_begin(sink, pd_feed_reader(f));
		}
		failed = failed || take(f, how, sink, &e);
	}
	if (sink)
		pd_sink_finish(sink, pd_feed_reader(f));
	else if (f && pd_feed_reader(f))
		print_end(pd_feed_reader(f));
	if (failed)
		printf("failed %s\n", pd_code_name(e.code));
	pd_sink_free(sink);
	pd_feed_free(f);
	free((void *)(uintptr_t)all.data);
	return 0;
}

/* --- waits that are cancelled --- */

static void on_alarm(int sig)
{
	(void)sig;
	cancelled = 1;
}

static bool is_cancelled(void *ctx)
{
	(void)ctx;
	return cancelled;
}

static void cancel_on_wait(void *ctx)
{
	(void)ctx;
	waits++;
	cancelled = 1;
}

static int read_some(struct pd_reader *r, struct pd_error *e)
{
	const struct pd_record *record;
	int got, n = 0;

	while ((got = pd_reader_next(r, &record, e)) == 1)
		n++;
	printf("records %d then %s\n", n, got ? pd_code_name(e->code) : "the end");
	return got;
}

/* Pumps a pipe that has only a header. */
static int pump_cancelled(const struct pd_reader_options *o)
{
	struct pd_output out = { write_out, NULL };
	struct pd_error e;
	int ends[2];
	struct pd_reader *r;
	struct pd_sink *sink = pd_sink_new_json(PD_JSON_OPTIONS(.shape = PD_JSON_LINES), out);

	cancelled = 0;
	if (pipe(ends) || write(ends[1], "PERFILE2\20\0\0\0\0\0\0", 16) != 16)
		return 1;
	r = pd_reader_open_fd(ends[0], o, &e);
	printf("pumped %d\n", pd_pump(r, sink));
	pd_sink_free(sink);
	pd_reader_free(r);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int cancel(const char *path)
{
	const struct itimerval soon = { .it_value = { 0, 50000 } };
	const struct pd_reader_options *signalled = PD_READER_OPTIONS(.is_cancelled = is_cancelled);
	const struct pd_reader_options *waiting =
		PD_READER_OPTIONS(.is_cancelled = is_cancelled, .on_wait = cancel_on_wait);
	const struct pd_bytes all = load(path);
	struct pd_reader *r;
	struct pd_error e;
	int ends[2];

	signal(SIGALRM, on_alarm);
	if (pipe(ends))
		return 1;
	setitimer(ITIMER_REAL, &soon, NULL);
	r = pd_reader_open_fd(ends[0], signalled, &e);
	printf("open %s\n", r ? "done" : pd_code_name(e.code));
	pd_reader_free(r);
	cancelled = 0;
	if (write(ends[1], all.data, 16) != 16)
		return 1;
	r = pd_reader_open_fd(ends[0], waiting, &e);
	for (size_t at = 16; r && at < all.size;) {
		const size_t n = all.size - at < 1501 ? all.size - at : 1501;

		cancelled = 0;
		if (write(ends[1], all.data + at, n) != (ssize_t)n)
			return 1;
		at += n;
		if (at == all.size)
			close(ends[1]);
		read_some(r, &e);
	}
	printf("waited %s\n", waits ? "yes" : "no");
	pd_reader_free(r);
	close(ends[0]);
	free((void *)(uintptr_t)all.data);
	return pump_cancelled(waiting);
}

static int limit(const char *path)
{
	const struct pd_bytes all = load(path);
	struct pd_error e = { .code = PD_OK };
	struct pd_feed *f = pd_feed_new(PD_READER_OPTIONS(.memory_limit = 2 << 20), &e);
	struct pd_bytes most = { calloc(1, 8 << 20), 8 << 20 };
	int first, second;

	first = pd_feed_add(f, all, &e);
	second = pd_feed_add(f, most, &e);
	printf("%d %d %s\n", first, second, pd_code_name(e.code));
	printf("%d", pd_feed_end(f, &e));
	first = pd_feed_add(f, all, &e);
	printf(" %d %s\n", first, pd_code_name(e.code));
	pd_feed_free(f);
	free((void *)(uintptr_t)most.data);
	free((void *)(uintptr_t)all.data);
	return 0;
}

int main(int argc, char **argv)
{
	if (strcmp(argv[1], "read") == 0)
		return read_stdin();
	if (strcmp(argv[1], "cancel") == 0)
		return cancel(argv[2]);
	if (strcmp(argv[1], "limit") == 0)
		return limit(argv[2]);
	return argc == 5 ? feed(argv[1], argv[2], (unsigned int)atoi(argv[3]),
				strtoul(argv[4], NULL, 10))
			 : 2;
}
