/* harness.c - decoding and encoding in memory, with the properties that hold for every input. */
#include "harness.h"
#include "pd/history.h"

#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "pencode/pencode_json.h"

_Noreturn void fuzz_fail(const char *what, ...)
{
	va_list args;

	va_start(args, what);
	fprintf(stderr, "property broken: ");
	vfprintf(stderr, what, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

void fuzz_append(struct fuzz_bytes *b, const void *p, size_t n)
{
	if (n > b->capacity - b->size) {
		b->capacity = 2 * (b->size + n) + 4096;
		b->data = realloc(b->data, b->capacity);
		FUZZ_ASSERT(b->data, "the harness has no memory left");
	}
	if (n)
		memcpy(b->data + b->size, p, n);
	b->size += n;
}

void fuzz_free(struct fuzz_bytes *b)
{
	free(b->data);
	*b = (struct fuzz_bytes){ NULL, 0, 0 };
}

/* --- memory: the sanitizers' allocator reports every block --- */

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
					      void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *p);

static struct {
	int64_t now, peak;
	bool installed;
} memory;

/* By any thread; a peak that two make at once may be a little too low. */
static void on_malloc(const volatile void *p, size_t size)
{
	const int64_t now = __atomic_add_fetch(&memory.now, (int64_t)size, __ATOMIC_RELAXED);

	(void)p;
	if (now > __atomic_load_n(&memory.peak, __ATOMIC_RELAXED))
		__atomic_store_n(&memory.peak, now, __ATOMIC_RELAXED);
}

static void on_free(const volatile void *p)
{
	if (p)
		__atomic_sub_fetch(&memory.now, (int64_t)__sanitizer_get_allocated_size(p),
				   __ATOMIC_RELAXED);
}

static void start_memory(void)
{
	if (!memory.installed)
		__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	memory.installed = true;
	memory.now = memory.peak = 0;
}

static uint64_t peak_memory(void)
{
	return (uint64_t)memory.peak;
}
#else
static void start_memory(void)
{
}

static uint64_t peak_memory(void)
{
	return 0;
}
#endif

/* --- time --- */

uint64_t fuzz_cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void fuzz_check_time(uint64_t from, uint64_t bytes)
{
	const uint64_t took = fuzz_cpu_time() - from, most = FUZZ_NS + FUZZ_NS_PER_BYTE * bytes;

	FUZZ_ASSERT(took <= most, "%llu ms of CPU time for %llu bytes",
		    (unsigned long long)took / 1000000, (unsigned long long)bytes);
}

/* --- decoding --- */

struct run {
	struct fuzz_decoded *out;
	struct pd_sink *sink;
	uint64_t written;
	size_t kept;
};

static int take_output(void *ctx, const void *p, size_t n)
{
	struct run *run = ctx;

	run->written += n;
	if (run->written <= run->kept)
		fuzz_append(&run->out->json, p, n);
	return 0;
}

static void on_error(void *ctx, const struct pd_error *e)
{
	struct run *run = ctx;
	char text[64];

	if (e->severity > PD_NOTE)
		run->out->errors++;
	pd_error_text(e, text, sizeof(text));
	FUZZ_ASSERT(memchr(text, 0, sizeof(text)), "the text of an error has no end");
	pd_sink_error(run->sink, e);
}

static void pump(struct run *run, struct pd_reader *reader, const struct fuzz_how *how)
{
	const struct pd_record *record;
	struct pd_error e;
	int got;

	pd_sink_begin(run->sink, reader);
	for (;;) {
		struct pd_bytes bytes;

		if (how->threads)
			pd_sink_batch(run->sink, reader);
		got = pd_reader_next(reader, &record, &e);
		if (got <= 0)
			break;
		bytes = pd_record_bytes(record);
		run->out->records++;
		run->out->headers += strncmp(pd_record_name(record), "HEADER_", 7) == 0;
		run->out->record_bytes += bytes.size;
		if (strcmp(pd_record_name(record), "SKIPPED") == 0)
			run->out->skipped += bytes.size;
		pd_sink_record(run->sink, record);
	}
	if (got < 0)
		on_error(run, &e);
	pd_sink_finish(run->sink, reader);
}

static void check_lines(const char *text, size_t size)
{
	while (size) {
		const char *end = memchr(text, '\n', size);
		const char *fault;

		FUZZ_ASSERT(end, "the last line has no end");
		fault = fuzz_json_fault(text, (size_t)(end - text));
		FUZZ_ASSERT(!fault, "JSON: %s in %.*s", fault,
			    (int)(end - text < 2000 ? end - text : 2000), text);
		size -= (size_t)(end + 1 - text);
		text = end + 1;
	}
}

/* Learns who ran and what was mapped, as far as the input can be read. */
static struct pd_history *learn(struct pd_bytes in, uint64_t limit)
{
	struct pd_error e;
	struct pd_history *h = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = limit), &e);
	struct pd_reader *reader =
		pd_reader_open_memory(in, PD_READER_OPTIONS(.memory_limit = limit), &e);

	FUZZ_ASSERT(h, "no history");
	if (reader)
		pd_history_learn(h, reader, &e);
	pd_history_seal(h, reader, &e);
	pd_reader_free(reader);
	return h;
}

void fuzz_decode(struct pd_bytes in, const struct fuzz_how *how, struct fuzz_decoded *out)
{
	const uint64_t limit = how->memory ? how->memory : FUZZ_MEMORY;
	struct pd_history *history = how->resolves ? learn(in, limit) : NULL;
	const struct pd_json_options json = { .size = sizeof(json),
					      .shape = how->shape,
					      .blobs = how->blobs,
					      .threads = how->threads,
					      .history = history };
	const struct pd_stats_options stats = { .size = sizeof(stats) };
	struct run run = { .out = out, .kept = FUZZ_OUTPUT_MAX };
	struct pd_reader *reader;
	struct pd_error e;
	const uint64_t from = fuzz_cpu_time();
	const char *fault;

	*out = (struct fuzz_decoded){ .opened = false };
	fuzz_append(&out->json, "", 0);
	start_memory();
	run.sink = how->sink == FUZZ_STATS
			   ? pd_sink_new_stats(&stats, (struct pd_output){ take_output, &run })
			   : pd_sink_new_json(&json, (struct pd_output){ take_output, &run });
	FUZZ_ASSERT(run.sink, "no sink");
	reader = pd_reader_open_memory(in,
				       PD_READER_OPTIONS(.memory_limit = limit, .order = how->order,
							 .on_error = on_error, .ctx = &run),
				       &e);
	if (reader) {
		out->opened = true;
		pump(&run, reader, how);
	} else {
		FUZZ_ASSERT(e.code != PD_OK, "refused without a reason");
	}
	pd_reader_free(reader);
	pd_sink_free(run.sink);
	pd_history_free(history);
	fuzz_check_time(from, in.size + out->record_bytes);
	FUZZ_ASSERT(peak_memory() <= limit + FUZZ_SLACK + 2 * out->json.capacity,
		    "%llu bytes of memory for %zu", (unsigned long long)peak_memory(), in.size);
	FUZZ_ASSERT(how->threads ||
			    run.written <= FUZZ_FACTOR * (in.size + out->record_bytes) + 65536,
		    "%llu bytes of output for %llu", (unsigned long long)run.written,
		    (unsigned long long)(in.size + out->record_bytes));
	if (!out->opened || run.written > run.kept)
		return;
	if (how->sink == FUZZ_JSON && how->shape == PD_JSON_LINES) {
		check_lines((const char *)out->json.data, out->json.size);
		return;
	}
	fault = fuzz_json_fault((const char *)out->json.data, out->json.size);
	FUZZ_ASSERT(!fault, "JSON: %s", fault);
}

/* --- encoding --- */

static bool is_kind(struct json_object *o, const char *kind)
{
	struct json_object *k;

	return json_object_object_get_ex(o, "kind", &k) &&
	       strcmp(json_object_get_string(k), kind) == 0;
}

static int encode_line(struct pd_encoder *enc, struct json_object *o, struct pd_error *e)
{
	struct json_object *features;

	if (is_kind(o, "record"))
		return pd_encoder_record(enc, o, e);
	if (is_kind(o, "file"))
		return pd_encoder_file(enc, o, e);
	if (is_kind(o, "attr"))
		return pd_encoder_attr(enc, o, e);
	if (is_kind(o, "feature") && json_object_object_get_ex(o, "feature", &features) &&
	    json_object_is_type(features, json_type_object))
		return pd_encoder_features(enc, features, e);
	return 0;
}

static void read_back(int fd, struct fuzz_bytes *out)
{
	char buffer[65536];
	ssize_t got;

	lseek(fd, 0, SEEK_SET);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		fuzz_append(out, buffer, (size_t)got);
}

static bool is_complete(const struct pd_encoder *enc)
{
	return !pd_encoder_left_out(enc) && !pd_encoder_feature_left_out(enc, 0) &&
	       !pd_encoder_feature_lost_raw(enc, 0) && !pd_encoder_gaps_left_out(enc);
}

enum fuzz_encoded fuzz_encode(struct pd_bytes json, const struct pd_encoder_options *o,
			      struct fuzz_bytes *out)
{
	struct json_tokener *tokener = json_tokener_new_ex(64);
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	const char *text = (const char *)json.data;
	struct pd_error e = { .code = PD_OK };
	struct pd_encoder *enc;
	size_t left = json.size;
	const uint64_t from = fuzz_cpu_time();
	bool good = true, complete;

	FUZZ_ASSERT(tokener && fd >= 0, "the harness has no memory left");
	enc = pd_encoder_new(&json_values, fd, o, &e);
	while (enc && good && left) {
		const char *end = memchr(text, '\n', left);
		const size_t n = end ? (size_t)(end - text) : left;
		struct json_object *line;

		line = n && n < INT32_MAX ? json_parse(tokener, text, n) : NULL;
		if (json_object_is_type(line, json_type_object))
			good = encode_line(enc, line, &e) == 0;
		json_object_put(line);
		text += end ? n + 1 : n;
		left -= end ? n + 1 : n;
	}
	good = enc && good && pd_encoder_finish(enc, &e) == 0;
	FUZZ_ASSERT(good || e.code != PD_OK, "refused without a reason");
	FUZZ_ASSERT(good || e.field || e.text || e.code != PD_E_ARGUMENT,
		    "an error without a text");
	complete = good && is_complete(enc);
	pd_encoder_free(enc);
	fuzz_check_time(from, json.size);
	if (good)
		read_back(fd, out);
	json_tokener_free(tokener);
	close(fd);
	return complete ? FUZZ_COMPLETE : good ? FUZZ_PARTIAL : FUZZ_REFUSED;
}
