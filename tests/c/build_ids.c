/* build_ids.c - which files of a recording the recorder says were hit: build_ids
 * fast|pieces|file|slow FILE.
 *
 * Prints the counts, and the files by their names. fast: in batches; slow: one by one, by the
 * fields' names; pieces: as if the records were on their way to the file; file: once they are in
 * it. These two print "fast 1" first where that can be done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "buildid/buildid_scan.c"
#include "buildid/buildid_watch.h"

#define DATA_SIZE_AT 48
#define FEATURES_AT 72
#define FEATURES_SIZE 32

/* Nothing here has a message. */
void log_at(const struct logger *log, enum log_level level, const char *format, ...)
{
	(void)log, (void)level, (void)format;
}

/* A sample, by the names of its fields and not by their places. */
static void see_by_name(struct buildid_scan *s, const struct pd_record *r)
{
	struct pd_fields f = { .misc = pd_record_misc(r) };
	uint64_t pid;

	f.has |= pd_record_get_number(r, "ip", &f.ip) ? PD_HAS_IP : 0;
	f.has |= pd_record_get_number(r, "time", &f.time) ? PD_HAS_TIME : 0;
	f.has |= pd_record_get_number(r, "pid", &pid) ? PD_HAS_PID : 0;
	f.has |= pd_record_get_numbers(r, "callchain", &f.callchain) ? PD_HAS_CALLCHAIN : 0;
	f.pid = (int32_t)pid;
	scan_sample(s, &f);
}

static int scan(struct pd_reader *reader, bool fast, struct hits *hits,
		struct buildid_summary *found)
{
	struct buildid_scan s = { .hits = hits, .out = found, .which = BUILDID_HIT };
	const struct pd_record *r;
	struct pd_error e;

	if (fast)
		return buildid_scan(&s, reader);
	while (pd_reader_next(reader, &r, &e) == 1) {
		if (pd_record_type(r) == PD_RECORD_SAMPLE)
			see_by_name(&s, r);
		else
			scan_other(&s, r);
	}
	hits_resolve(hits);
	return s.failed;
}

static bool is(const char *how, const char *name)
{
	return strcmp(how, name) == 0;
}

static void print(const struct hits *hits, const struct buildid_summary *found)
{
	struct hits_file *f;

	printf("samples %llu first %llu last %llu lost %llu\n", (unsigned long long)found->samples,
	       (unsigned long long)found->first, (unsigned long long)found->last,
	       (unsigned long long)found->lost);
	for (size_t i = 0; (f = hits_file_at(hits, i)); i++)
		if (f->hit)
			printf("%s %llu %d\n", f->name, (unsigned long long)f->ino, f->kernel);
}

/* The header as the writer leaves it before there are records. */
static int header_of(struct pd_reader *reader)
{
	const struct pd_file_info *file = pd_reader_file(reader);
	uint8_t *header = calloc(1, file->data_offset + 1);
	const int fd = memfd_create("header", 0);

	pd_reader_read_at(reader, 0, header, file->data_offset);
	memset(header + DATA_SIZE_AT, 0, sizeof(uint64_t));
	memset(header + FEATURES_AT, 0, FEATURES_SIZE);
	if (write(fd, header, file->data_offset) != (ssize_t)file->data_offset)
		exit(3);
	free(header);
	return fd;
}

/* Each piece in memory of its own, so that none is looked at past its end. */
static void see_pieces(struct buildid_watch *watch, struct pd_reader *reader)
{
	static const size_t sizes[] = { 8, 40, 4096, 16, 3, 1, 100001, 7, 32, 8192, 4 };
	const size_t nr_sizes = sizeof(sizes) / sizeof(*sizes);
	const struct pd_file_info *file = pd_reader_file(reader);
	const uint64_t end = file->data_offset + file->data_size;
	uint64_t at = file->data_offset;

	for (size_t i = 0; at < end; i++) {
		const size_t n = sizes[i % nr_sizes] < end - at ? sizes[i % nr_sizes] : end - at;
		uint8_t *piece = malloc(n);

		pd_reader_read_at(reader, at, piece, n);
		buildid_watch_bytes(watch, (struct pd_bytes){ piece, n });
		free(piece);
		at += n;
	}
}

/* All records in a file, after its header. */
static void see_file(struct buildid_watch *watch, struct pd_reader *reader, int fd)
{
	static const bool hurry;
	const struct pd_file_info *file = pd_reader_file(reader);
	uint8_t *data = malloc(file->data_size + 1);

	pd_reader_read_at(reader, file->data_offset, data, file->data_size);
	if (pwrite(fd, data, file->data_size, (off_t)file->data_offset) !=
	    (ssize_t)file->data_size)
		exit(3);
	free(data);
	buildid_watch_file(watch, fd, file->data_offset, file->data_offset + file->data_size,
			   &hurry);
}

static void see(struct pd_reader *reader, const char *how)
{
	struct buildid_watch *watch;
	struct buildid_summary found;
	const struct hits *hits;
	int fd;

	if (pd_reader_file(reader)->mode != PD_MODE_FILE) {
		printf("fast 0\n");
		return;
	}
	watch = buildid_watch_new(BUILDID_HIT);
	fd = header_of(reader);
	buildid_watch_begin(watch, fd, pd_reader_file(reader)->data_offset);
	if (is(how, "file"))
		see_file(watch, reader, fd);
	else
		see_pieces(watch, reader);
	close(fd);
	hits = buildid_watch_end(watch, &found);
	printf("fast %d\n", hits != NULL);
	if (hits)
		print(hits, &found);
	buildid_watch_free(watch);
}

int main(int argc, char **argv)
{
	const bool fast = argc > 2 && is(argv[1], "fast");
	struct buildid_summary found = { 0 };
	struct hits *hits = hits_new();
	struct pd_error e;
	struct pd_reader *reader = pd_reader_open_path(argc > 2 ? argv[2] : "", NULL, &e);

	if (!reader)
		return 2;
	if (is(argv[1], "pieces") || is(argv[1], "file")) {
		see(reader, argv[1]);
		pd_reader_free(reader);
		hits_free(hits);
		return 0;
	}
	if (scan(reader, fast, hits, &found))
		return 1;
	print(hits, &found);
	pd_reader_free(reader);
	hits_free(hits);
	return 0;
}
