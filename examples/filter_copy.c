/* filter_copy.c - copies the records of one process: filter_copy IN OUT PID.
 *
 * Its events and those of perf's own records that describe the recording are copied, too. IN must
 * have this machine's byte order. Compressed records are written as what they contain.
 *
 *	cc -O2 -o filter_copy filter_copy.c $(pkg-config --cflags --libs libdecode)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pd/filter.h>
#include <pd/pd.h>
#include <pd/write.h>

static int copy_events(struct pd_reader *r, struct pd_writer *w, struct pd_error *e)
{
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++) {
		const struct pd_attr *a = pd_reader_attr(r, i);
		const struct pd_bytes attr = pd_attr_bytes(a);
		size_t nr_ids;
		const uint64_t *ids = pd_attr_ids(a, &nr_ids);

		if (pd_writer_add_event(w, attr.data, attr.size, ids, nr_ids, pd_attr_name(a), e))
			return -1;
	}
	return pd_writer_begin(w, e);
}

static int copy_features(struct pd_reader *r, struct pd_writer *w, struct pd_error *e)
{
	for (size_t i = 0; i < pd_reader_nr_features(r); i++) {
		struct pd_feature f;

		/* those that the writer makes, or that are only true of the whole file */
		if (pd_reader_feature(r, i, &f, NULL) || f.id == PD_FEATURE_EVENT_DESC ||
		    f.id == PD_FEATURE_COMPRESSED || f.id == PD_FEATURE_AUXTRACE ||
		    f.id == PD_FEATURE_DIR_FORMAT)
			continue;
		if (pd_writer_feature_bytes(w, f.id, f.bytes, e))
			return -1;
	}
	return 0;
}

static bool is_copied(const struct pd_record *record)
{
	const uint32_t type = pd_record_type(record);

	if (pd_record_error(record) || pd_record_payload_size(record))
		return false;
	return type < PD_RECORD_USER_START || type == PD_RECORD_FINISHED_ROUND ||
	       type == PD_RECORD_THREAD_MAP || type == PD_RECORD_CPU_MAP ||
	       type == PD_RECORD_TIME_CONV;
}

static int copy_records(struct pd_reader *r, struct pd_writer *w, struct pd_filter *filter,
			struct pd_error *e)
{
	const struct pd_record *record;
	struct pd_bytes bytes;
	int got;

	while ((got = pd_reader_next(r, &record, e)) == 1) {
		/* first: the filter learns the names of threads from all records */
		if (!pd_filter_keeps(filter, record) || !is_copied(record))
			continue;
		bytes = pd_record_bytes(record);
		if (pd_writer_write(w, &bytes, 1, e))
			return -1;
	}
	return got;
}

int main(int argc, char **argv)
{
	struct pd_error e = { .code = PD_E_IO };
	struct pd_range pid = { 0, 0 };
	struct pd_reader *r = NULL;
	struct pd_writer *w = NULL;
	struct pd_filter *filter;
	int fd, failed = 1;
	char text[256];

	if (argc != 4) {
		fprintf(stderr, "usage: filter_copy IN OUT PID\n");
		return 2;
	}
	pid.from = pid.to = strtoul(argv[3], NULL, 10);
	filter = pd_filter_new(PD_FILTER_OPTIONS(.pids = { &pid, 1 }));
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (filter && fd >= 0)
		r = pd_reader_open_path(argv[1], NULL, &e);
	if (r)
		w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = PD_MODE_FILE), &e);
	if (w)
		failed = copy_events(r, w, &e) || copy_records(r, w, filter, &e) ||
			 copy_features(r, w, &e) || pd_writer_finish(w, &e);
	if (failed)
		fprintf(stderr, "filter_copy: %s\n", pd_error_text(&e, text, sizeof(text)));
	pd_writer_free(w);
	pd_reader_free(r);
	pd_filter_free(filter);
	if (fd >= 0)
		close(fd);
	return failed;
}
