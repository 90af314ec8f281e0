/* api_write.c - the writer as callers get it wrong, and as they should have it. Prints what came
 * back; the tests know what that should be.
 *
 * api_write WHAT FILE: FILE is written
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pd/pd.h>
#include <pd/write.h>

#define HOSTNAME 3
#define CPU_TOPOLOGY 13
#define ID 77

static const struct pd_bytes nothing;
static const struct perf_event_attr attr = {
	.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .sample_id_all = 1, .comm = 1,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
};

static void say(const char *what, int got, const struct pd_error *e)
{
	char text[400];

	if (!got)
		printf("%s: done\n", what);
	else
		printf("%s: %d %s | %s\n", what, got, pd_code_name(e->code),
		       pd_error_text(e, text, sizeof(text)));
}

static struct pd_writer *begun(int fd, enum pd_mode mode)
{
	const uint64_t id = ID;
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = mode), &e);

	if (w && !pd_writer_add_event(w, &attr, sizeof(attr), &id, 1, "cpu-clock", &e) &&
	    !pd_writer_begin(w, &e))
		return w;
	pd_writer_free(w);
	return NULL;
}

static int record(struct pd_writer *w, uint32_t type, int event, const struct pd_value *v, size_t n,
		  struct pd_error *e)
{
	return pd_writer_record(w, type, 0, event, v, n, nothing, e);
}

/* Records of many sizes, some MiB of them, now and then all of them out; the size is told whenever
 * it may be. */
static int much(int fd, enum pd_write_by by)
{
	static uint8_t bytes[UINT16_MAX];
	const struct pd_value comm[] = { PD_NUMBER("pid", 1), PD_TEXT("comm", "worker") };
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.by = by), &e);
	uint64_t sizes = 0;
	int failed = !w || pd_writer_begin(w, &e);

	for (int i = 0; !failed && i < 2000; i++) {
		struct perf_event_header h = { .type = 64,
					       .size = (uint16_t)(8 + i * 7919 % 8000 / 8 * 8) };
		const struct pd_bytes spans[] = { { bytes, h.size / 3 },
						  { bytes + h.size / 3, h.size - h.size / 3 } };

		memset(bytes, i, h.size);
		memcpy(bytes, &h, sizeof(h));
		failed = pd_writer_write(w, spans, 2, &e) ||
			 (i % 7 == 0 && record(w, PERF_RECORD_COMM, -1, comm, 2, &e)) ||
			 (i % 500 == 100 && pd_writer_flush(w, &e)) ||
			 (i % 300 == 50 && pd_writer_flush_soon(w, &e));
		sizes = sizes * 31 + pd_writer_size(w);
	}
	failed = failed || pd_writer_finish(w, &e);
	pd_writer_free(w);
	printf("sizes: %" PRIu64 "\n", sizes);
	return failed;
}

static int by_caller(int fd)
{
	return much(fd, PD_WRITE_BY_CALLER);
}

static int by_thread(int fd)
{
	return much(fd, PD_WRITE_BY_THREAD);
}

/* --- values that don't fit -------------------------------------------------------------------- */

static int wrong_values(int fd)
{
	static const char name[70000];
	const struct pd_value typo[] = { PD_NUMBER("pid", 1), PD_NUMBER("tidd", 1) };
	const struct pd_value kind[] = { PD_TEXT("pid", "seven") };
	const struct pd_value large[] = { PD_BYTES("comm", name, sizeof(name)) };
	const struct pd_value time[] = { PD_NUMBER("tim", 5) };
	const struct pd_value trailer[] = { PD_OBJECT("sample_id", time, 1) };
	const struct pd_value space[] = { PD_NUMBER("dev", 1), PD_TEXT("inode", "many") };
	const struct pd_value spaces[] = { PD_OBJECT(NULL, space, 1), PD_OBJECT(NULL, space, 2) };
	const struct pd_value deep[] = { PD_ARRAY("namespaces", spaces, 2) };
	const struct pd_value host = PD_NUMBER(NULL, 1), topology = PD_OBJECT(NULL, typo, 1);
	struct pd_writer *w = begun(fd, PD_MODE_FILE);
	struct pd_error e;

	say("typo", record(w, PERF_RECORD_COMM, 0, typo, 2, &e), &e);
	printf("fields: type=%" PRIu32 " %s %s\n", e.record_type, e.record, e.field);
	say("kind", record(w, PERF_RECORD_COMM, 0, kind, 1, &e), &e);
	say("large", record(w, PERF_RECORD_COMM, 0, large, 1, &e), &e);
	say("trailer", record(w, PERF_RECORD_COMM, 0, trailer, 1, &e), &e);
	say("deep", record(w, PERF_RECORD_NAMESPACES, 0, deep, 1, &e), &e);
	say("unknown", record(w, 999, -1, typo, 1, &e), &e);
	say("no such event", record(w, PERF_RECORD_COMM, 1, typo, 1, &e), &e);
	say("feature", pd_writer_feature(w, HOSTNAME, &host, &e), &e);
	say("feature's field", pd_writer_feature(w, CPU_TOPOLOGY, &topology, &e), &e);
	say("no such feature", pd_writer_feature(w, 200, &host, &e), &e);
	say("no such bit", pd_writer_feature_bytes(w, 256, nothing, &e), &e);
	say("right", record(w, PERF_RECORD_COMM, 0, typo, 1, &e), &e);
	say("finish", pd_writer_finish(w, &e), &e);
	pd_writer_free(w);
	return 0;
}

/* A text lent by a failed call is valid until another call fails. */
static int lent_texts(int fd)
{
	const struct pd_value typo[] = { PD_NUMBER("pidd", 1) }, good[] = { PD_NUMBER("pid", 1) };
	struct pd_writer *w = begun(fd, PD_MODE_FILE);
	struct pd_error e, ignored;

	record(w, PERF_RECORD_COMM, 0, typo, 1, &e);
	for (int i = 0; i < 3; i++)
		if (record(w, PERF_RECORD_COMM, 0, good, 1, &ignored) ||
		    pd_writer_flush(w, &ignored))
			return 1;
	if (pd_writer_finish(w, &ignored))
		return 1;
	say("later", -1, &e);
	pd_writer_free(w);
	return 0;
}

static int wrong_events(int fd)
{
	const struct pd_writer_options odd = { .size = sizeof(odd), .mode = PD_MODE_DIRECTORY + 1 };
	static const uint64_t ids[9000] = { 1, 2, 3 };
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = PD_MODE_PIPE), &e);

	say("small", pd_writer_add_event(w, &attr, 16, NULL, 0, NULL, &e), &e);
	say("many ids",
	    pd_writer_add_event(w, &attr, sizeof(attr), ids, sizeof(ids) / sizeof(ids[0]), NULL,
				&e),
	    &e);
	say("begin", pd_writer_begin(w, &e), &e);
	pd_writer_free(w);
	say("mode", pd_writer_open_fd(fd, &odd, &e) ? 0 : -1, &e);
	return 0;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Two events, told apart by their samples' identifier; the second has no callchain, but a group's
 * counts. */
static int samples(int fd)
{
	static const uint64_t first = 11, second = 22;
	const struct perf_event_attr one = {
		.size = sizeof(one), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_id_all = 1, .freq = 1, .sample_freq = 1000,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
	}, other = {
		.size = sizeof(other), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS, .sample_id_all = 1, .sample_period = 1,
		.read_format = PERF_FORMAT_ID,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_READ,
	};
	const uint64_t chain[] = { PERF_CONTEXT_USER, 0x401000, 0x402000 };
	const struct pd_value at[] = { PD_NUMBER("identifier", first), PD_NUMBER("pid", 7),
				       PD_NUMBER("tid", 8), PD_NUMBER("time", 1000) };
	const struct pd_value comm[] = { PD_NUMBER("pid", 7), PD_NUMBER("tid", 8),
					 PD_TEXT("comm", "worker"), PD_OBJECT("sample_id", at, 4) };
	const struct pd_value sample[] = { PD_NUMBER("identifier", first),
					   PD_NUMBER("ip", 0x401000),
					   PD_NUMBER("pid", 7),
					   PD_NUMBER("tid", 8),
					   PD_NUMBER("time", 2000001000),
					   PD_NUMBERS("callchain", chain, 3) };
	const struct pd_value counts[] = { PD_NUMBER("value", 5), PD_NUMBER("id", second) };
	const struct pd_value fault[] = { PD_NUMBER("identifier", second),
					  PD_NUMBER("ip", 0x403000),
					  PD_NUMBER("pid", 7),
					  PD_NUMBER("tid", 8),
					  PD_NUMBER("time", 3000001000),
					  PD_OBJECT("read", counts, 2) };
	const struct pd_value half[] = { PD_NUMBER("identifier", second),
					 PD_OBJECT("read", counts + 1, 1) };
	const struct pd_value of[] = { PD_NUMBER("identifier", second) };
	const struct pd_value last[] = { PD_NUMBER("pid", 7), PD_NUMBER("tid", 8),
					 PD_OBJECT("read", counts, 2),
					 PD_OBJECT("sample_id", of, 1) };
	const struct pd_value trailing[] = { PD_NUMBER("ip", 1), PD_OBJECT("sample_id", at, 4) };
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = PD_MODE_FILE), &e);

	if (!w || pd_writer_add_event(w, &one, sizeof(one), &first, 1, "cpu-clock", &e) ||
	    pd_writer_add_event(w, &other, sizeof(other), &second, 1, "page-faults", &e) ||
	    pd_writer_begin(w, &e))
		return 1;
	say("comm", record(w, PERF_RECORD_COMM, 0, comm, 4, &e), &e);
	say("sample",
	    pd_writer_record(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0, sample, 6, nothing,
			     &e),
	    &e);
	say("fault",
	    pd_writer_record(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 1, fault, 6, nothing,
			     &e),
	    &e);
	say("read", record(w, PERF_RECORD_READ, 1, last, 4, &e), &e);
	say("half",
	    pd_writer_record(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 1, half, 2, nothing, &e),
	    &e);
	say("round", record(w, 68, 0, NULL, 0, &e), &e);
	say("other's field", record(w, PERF_RECORD_SAMPLE, 1, sample, 6, &e), &e);
	say("no event", record(w, PERF_RECORD_SAMPLE, -1, sample, 6, &e), &e);
	say("no event's counts", record(w, PERF_RECORD_READ, -1, last, 4, &e), &e);
	say("trailer", record(w, PERF_RECORD_SAMPLE, 0, trailing, 2, &e), &e);
	say("trailer of nobody", record(w, PERF_RECORD_COMM, -1, comm, 4, &e), &e);
	say("trailer of perf", record(w, 68, 0, comm + 3, 1, &e), &e);
	say("finish", pd_writer_finish(w, &e), &e);
	pd_writer_free(w);
	return 0;
}

/* --- calls out of turn ------------------------------------------------------------------------ */

/* All but add_event. */
static void everything(struct pd_writer *w, const char *when)
{
	const struct pd_value pid = PD_NUMBER("pid", 1), host = PD_TEXT(NULL, "box");
	const struct { uint32_t size; char text[64]; } section = { 64, "box" };
	const struct pd_bytes span = { (const uint8_t *)&section, sizeof(section) };
	struct pd_error e;

	printf("%s: they get\n", when);
	say("write", pd_writer_write(w, &span, 1, &e), &e);
	say("record", record(w, PERF_RECORD_COMM, 0, &pid, 1, &e), &e);
	say("finish", pd_writer_finish(w, &e), &e);
	say("feature", pd_writer_feature(w, HOSTNAME, &host, &e), &e);
	say("bytes", pd_writer_feature_bytes(w, HOSTNAME, span, &e), &e);
	say("flush", pd_writer_flush(w, &e), &e);
	say("flush soon", pd_writer_flush_soon(w, &e), &e);
}

static int out_of_turn(int fd, enum pd_mode mode)
{
	const struct pd_value pid = PD_NUMBER("pid", 1);
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = mode), &e);
	uint64_t size;

	everything(w, "before");
	say("add",
	    pd_writer_add_event(w, &attr, sizeof(attr), (const uint64_t[]){ ID }, 1, NULL, &e), &e);
	say("begin", pd_writer_begin(w, &e), &e);
	say("add again", pd_writer_add_event(w, &attr, sizeof(attr), NULL, 0, NULL, &e), &e);
	say("begin again", pd_writer_begin(w, &e), &e);
	say("record", record(w, PERF_RECORD_COMM, 0, &pid, 1, &e), &e);
	say("finish", pd_writer_finish(w, &e), &e);
	size = pd_writer_size(w);
	everything(w, "after");
	say("add at last", pd_writer_add_event(w, &attr, sizeof(attr), NULL, 0, NULL, &e), &e);
	say("begin at last", pd_writer_begin(w, &e), &e);
	printf("size: %s\n", pd_writer_size(w) == size && lseek(fd, 0, SEEK_END) == (off_t)size
				     ? "the same"
				     : "CHANGED");
	pd_writer_free(w);
	return 0;
}

static int turns_of_a_file(int fd)
{
	return out_of_turn(fd, PD_MODE_FILE);
}

static int turns_of_a_pipe(int fd)
{
	return out_of_turn(fd, PD_MODE_PIPE);
}

static int turns_of_a_directory(int fd)
{
	return out_of_turn(fd, PD_MODE_DIRECTORY);
}

/* Nothing is written after half a header. */
static int failed_begin(int fd)
{
	static const uint64_t ids[9000] = { 1, 2, 3 };
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = PD_MODE_PIPE), &e);

	say("add",
	    pd_writer_add_event(w, &attr, sizeof(attr), ids, sizeof(ids) / sizeof(ids[0]), NULL,
				&e),
	    &e);
	say("begin", pd_writer_begin(w, &e), &e);
	everything(w, "after it");
	pd_writer_free(w);
	return 0;
}

static int no_options(int fd)
{
	const struct pd_value pid = PD_NUMBER("pid", 1);
	struct pd_error e;
	struct pd_writer *w = pd_writer_open_fd(fd, NULL, &e);
	struct pd_error failed;
	struct pd_encoder *enc = pd_encoder_new(&pd_value_values, fd, NULL, &failed);
	struct pd_filter *filter = pd_filter_new(NULL);

	if (!w || pd_writer_add_event(w, &attr, sizeof(attr), NULL, 0, NULL, &e) ||
	    pd_writer_begin(w, &e) || record(w, PERF_RECORD_COMM, 0, &pid, 1, &e))
		return 1;
	say("finish", pd_writer_finish(w, &e), &e);
	say("abort later", pd_writer_abort(w, NULL, &e), &e);
	pd_writer_free(w);
	printf("others: %s\n", enc && filter ? "there" : "MISSING");
	pd_encoder_free(enc);
	pd_filter_free(filter);
	return 0;
}

static void say_encoded(const char *what, int got, const struct pd_error *e)
{
	if (!got)
		printf("%s: done\n", what);
	else
		printf("%s: %d %s | %s\n", what, got, pd_code_name(e->code), e->text);
}

/* A record encoded after the end would follow the features. */
static int encoder(int fd)
{
	const struct pd_value fields[] = { PD_TEXT("type", "COMM"), PD_NUMBER("pid", 1),
					   PD_TEXT("comm", "worker") };
	const struct pd_value comm = PD_OBJECT(NULL, fields, 3), empty = PD_OBJECT(NULL, NULL, 0);
	struct pd_error e;
	struct pd_encoder *enc = pd_encoder_new(&pd_value_values, fd, NULL, &e);

	say_encoded("file", pd_encoder_file(enc, &empty, &e), &e);
	say_encoded("record", pd_encoder_record(enc, &comm, &e), &e);
	say_encoded("finish", pd_encoder_finish(enc, &e), &e);
	say_encoded("file later", pd_encoder_file(enc, &empty, &e), &e);
	say_encoded("attr later", pd_encoder_attr(enc, &empty, &e), &e);
	say_encoded("features later", pd_encoder_features(enc, &empty, &e), &e);
	say_encoded("record later", pd_encoder_record(enc, &comm, &e), &e);
	say_encoded("finish later", pd_encoder_finish(enc, &e), &e);
	pd_encoder_free(enc);
	return 0;
}

static const struct { const char *name; int (*run)(int fd); } whats[] = {
	{ "wrong values", wrong_values },
	{ "lent texts", lent_texts },
	{ "encoder", encoder },
	{ "by caller", by_caller },
	{ "by thread", by_thread },
	{ "wrong events", wrong_events },
	{ "samples", samples },
	{ "file", turns_of_a_file },
	{ "pipe", turns_of_a_pipe },
	{ "directory", turns_of_a_directory },
	{ "failed begin", failed_begin },
	{ "no options", no_options },
};

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	for (size_t i = 0; fd >= 0 && i < sizeof(whats) / sizeof(whats[0]); i++)
		if (strcmp(argv[1], whats[i].name) == 0)
			return whats[i].run(fd);
	return 2;
}
