/* api_read.c - reads a recording through each public function, as a program of somebody else would.
 *
 * api_read WAY FILE, with WAY path, fd or memory: prints a line for the file, each event, each
 * record and each feature.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pd/pd.h>

struct fields {
	unsigned int numbers, spans, texts, blobs, objects, arrays, depth, deepest, paddings;
};

static void number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct fields *n = ctx;

	(void)value;
	n->numbers += pd_field_name(f) && pd_field_doc(f);
}

static void numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *span)
{
	struct fields *n = ctx;

	(void)f;
	for (size_t i = 0; i < span->count; i++)
		(void)pd_number_at(span, i);
	n->spans++;
}

static void text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	struct fields *n = ctx;

	(void)f;
	n->texts += !text.size || text.data;
}

static void bytes(void *ctx, const struct pd_field *f, struct pd_bytes bytes)
{
	struct fields *n = ctx;

	(void)f;
	n->blobs += !bytes.size || bytes.data;
}

static void enter(void *ctx, const struct pd_field *f)
{
	struct fields *n = ctx;

	(void)f;
	n->objects++;
	if (++n->depth > n->deepest)
		n->deepest = n->depth;
}

static void leave(void *ctx, const struct pd_field *f)
{
	struct fields *n = ctx;

	(void)f;
	n->depth--;
}

static void enter_array(void *ctx, const struct pd_field *f, size_t length)
{
	struct fields *n = ctx;

	(void)length;
	n->arrays++;
	enter(ctx, f);
}

static void padding(void *ctx, const struct pd_bytes *spans, size_t length)
{
	struct fields *n = ctx;

	(void)spans;
	n->paddings += length > 0;
}

static const struct pd_visitor visitor = {
	.size = sizeof(visitor),
	.number = number,
	.numbers = numbers,
	.text = text,
	.bytes = bytes,
	.enter = enter,
	.leave = leave,
	.enter_array = enter_array,
	.leave_array = leave,
	.padding = padding,
};

static void on_error(void *ctx, const struct pd_error *e)
{
	char line[256];

	++*(unsigned int *)ctx;
	printf("error %s %" PRIu64 " %s\n", pd_code_name(e->code), e->offset,
	       pd_error_text(e, line, sizeof(line)));
}

static struct pd_bytes whole(const char *path)
{
	static uint8_t *data;	/* until the end of the program */
	FILE *file = fopen(path, "rb");
	size_t size = 0, got;

	if (!file)
		exit(2);
	do {
		data = realloc(data, size + 65536);
		got = data ? fread(data + size, 1, 65536, file) : 0;
		size += got;
	} while (got);
	fclose(file);
	return (struct pd_bytes){ data, size };
}

static struct pd_reader *open_it(const char *way, const char *path,
				 const struct pd_reader_options *o, int *fd, struct pd_error *e)
{
	if (strcmp(way, "path") == 0)
		return pd_reader_open_path(path, o, e);
	if (strcmp(way, "memory") == 0)
		return pd_reader_open_memory(whole(path), o, e);
	*fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
	return pd_reader_open_fd(*fd, o, e);
}

static void print_record(const struct pd_record *r)
{
	struct fields n = { 0 };
	struct pd_numbers chain;
	struct pd_bytes name;
	uint64_t time, value;

	printf("record %" PRIu32 " %s %" PRIu64 " %zu", pd_record_type(r), pd_record_name(r),
	       pd_record_offset(r), pd_record_bytes(r).size);
	printf(" misc=%u", pd_record_misc(r));
	if (pd_record_attr(r))
		printf(" attr=%zu", pd_attr_index(pd_record_attr(r)));
	if (pd_record_time(r, &time))
		printf(" time=%" PRIu64, time);
	if (pd_record_get_number(r, "ip", &value))
		printf(" ip=0x%" PRIx64, value);
	if (pd_record_get_number(r, "pid", &value))
		printf(" pid=%" PRId64, (int64_t)value);
	if (pd_record_get_number(r, "sample_id.tid", &value))
		printf(" sample_id.tid=%" PRId64, (int64_t)value);
	if (pd_record_get_numbers(r, "callchain", &chain))
		printf(" callchain=%zu,0x%" PRIx64, chain.count,
		       chain.count ? pd_number_at(&chain, chain.count - 1) : 0);
	if (pd_record_get_text(r, "comm", &name) || pd_record_get_text(r, "filename", &name))
		printf(" text=%.*s", (int)name.size, (const char *)name.data);
	if (pd_record_get_number(r, "read.value", &value))
		printf(" read.value=%" PRIu64, value);
	if (pd_record_get_text(r, "raw.data", &name))
		printf(" raw=%zu", name.size);
	if (pd_record_get_number(r, "read.weight", &value) ||
	    pd_record_get_number(r, "no such field", &value) ||
	    pd_record_get_text(r, "ip", &name) || pd_record_get_numbers(r, "", &chain))
		printf(" WRONG");
	if (pd_record_error(r))
		printf(" error=%s", pd_code_name(pd_record_error(r)->code));
	if (pd_record_payload_size(r))
		printf(" payload=%" PRIu64, pd_record_payload_size(r));
	pd_record_visit(r, &visitor, &n);
	printf(" visited=%u,%u,%u,%u,%u,%u,%u\n", n.numbers, n.spans, n.texts, n.blobs, n.objects,
	       n.arrays, n.depth);
}

static void print_file(struct pd_reader *r)
{
	static const char *const modes[] = { "file", "pipe", "directory" };
	const struct pd_file_info *f = pd_reader_file(r);
	struct pd_range times;
	uint64_t first, last;
	uint8_t magic[8];

	printf("file %s %s complete=%d sections=%zu gaps=%zu\n", modes[f->mode],
	       f->byte_order == PD_LITTLE_ENDIAN ? "little" : "big", f->complete, f->nr_sections,
	       f->nr_gaps);
	if (f->size_known && pd_reader_read_at(r, 0, magic, sizeof(magic)) == 8)
		printf("magic %.8s\n", (const char *)magic);
	pd_reader_credible_times(r, &times);
	if (pd_reader_time_span(r, &first, &last) && times.from < first && times.to > last)
		printf("span %" PRIu64 " %" PRIu64 "\n", first, last);
}

static void print_attrs(struct pd_reader *r)
{
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++) {
		const struct pd_attr *a = pd_reader_attr(r, i);
		struct fields n = { 0 };
		const uint64_t *ids;
		size_t nr_ids;

		ids = pd_attr_ids(a, &nr_ids);
		pd_attr_visit(r, a, &visitor, &n);
		printf("attr %zu %s ids=%zu,%" PRIu64 " sample_type=%" PRIu64 " visited=%d\n",
		       pd_attr_index(a), pd_attr_name(a), nr_ids, nr_ids ? ids[0] : 0,
		       pd_attr_sample_type(a), n.numbers > 10);
	}
}

static void print_features(struct pd_reader *r)
{
	const size_t none[] = { pd_reader_nr_features(r), pd_reader_nr_features(r) + 1000,
				SIZE_MAX / 64, SIZE_MAX };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct pd_feature f;
		struct pd_error e;

		if (pd_reader_feature(r, none[i], &f, &e) != -1 || e.code != PD_E_ARGUMENT ||
		    f.bytes.size)
			printf("feature WRONG beyond the last\n");
	}
	for (size_t i = 0; i < pd_reader_nr_features(r); i++) {
		struct pd_feature f;
		struct pd_error e;

		if (pd_reader_feature(r, i, &f, &e))
			printf("feature %zu %s\n", i, pd_code_name(e.code));
		else
			printf("feature %" PRIu32 " %s %zu\n", f.id, f.name ? f.name : "-",
			       f.bytes.size);
	}
}

static int payload(struct pd_reader *r, const struct pd_record *record, struct pd_error *e)
{
	uint64_t expected = pd_record_payload_size(record), got = 0;
	struct pd_bytes piece;
	int n = 0;

	if (!expected)
		return 0;
	while ((n = pd_reader_read_payload(r, 100, &piece, e)) > 0) {
		if (piece.size > 100 || (size_t)n != piece.size)
			return -1;
		got += piece.size;
	}
	printf("payload %s\n", got == expected ? "whole" : "SHORT");
	return n;
}

int main(int argc, char **argv)
{
	unsigned int errors = 0;
	const struct pd_record *record;
	struct pd_reader *r;
	struct pd_error e;
	int fd = -1, got;

	if (argc != 3)
		return 2;
	r = open_it(argv[1], argv[2], PD_READER_OPTIONS(.on_error = on_error, .ctx = &errors), &fd,
		    &e);
	if (!r) {
		printf("not opened: %s\n", pd_code_name(e.code));
		return 3;
	}
	print_file(r);
	while ((got = pd_reader_next(r, &record, &e)) == 1) {
		print_record(record);
		if (payload(r, record, &e) < 0)
			break;
	}
	if (got < 0)
		printf("stopped: %s\n", pd_code_name(e.code));
	else if (pd_reader_next(r, &record, &e) != 0)
		printf("the end is not the end\n");
	print_attrs(r);
	print_features(r);
	printf("end errors=%u\n", errors);
	pd_reader_free(r);
	pd_reader_free(NULL);
	if (fd >= 0 && fcntl(fd, F_GETFD) < 0)
		printf("the descriptor was closed\n");
	return 0;
}
