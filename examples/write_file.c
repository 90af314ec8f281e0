/* write_file.c - writes a recording from values: write_file FILE.
 *
 * A profiler of its own would do this: one software event, a process with a map, and some samples.
 *
 *	cc -O2 -o write_file write_file.c $(pkg-config --cflags --libs libdecode)
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <unistd.h>

#include <pd/pd.h>
#include <pd/write.h>

#define ID 1
#define PID 4711
#define NOTHING \
	(struct pd_bytes) \
	{ \
		NULL, 0 \
	}

static int write_event(struct pd_writer *w, struct pd_error *e)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof(attr),
					      .config = PERF_COUNT_SW_CPU_CLOCK,
					      .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							     PERF_SAMPLE_TIME |
							     PERF_SAMPLE_CALLCHAIN,
					      .sample_period = 1000000,
					      .sample_id_all = 1 };
	const uint64_t ids[] = { ID };

	return pd_writer_add_event(w, &attr, sizeof(attr), ids, 1, "cpu-clock:u", e);
}

static int write_task(struct pd_writer *w, struct pd_error *e)
{
	const struct pd_value comm[] = { PD_NUMBER("pid", PID), PD_NUMBER("tid", PID),
					 PD_TEXT("comm", "made") };
	const struct pd_value map[] = { PD_NUMBER("pid", PID), PD_NUMBER("tid", PID),
					PD_NUMBER("addr", 0x400000), PD_NUMBER("len", 0x1000),
					PD_TEXT("filename", "/usr/bin/made") };

	return pd_writer_record(w, PD_RECORD_COMM, 0, 0, comm, 3, NOTHING, e) ||
	       pd_writer_record(w, PD_RECORD_MMAP, 0, 0, map, 5, NOTHING, e);
}

static int write_samples(struct pd_writer *w, struct pd_error *e)
{
	for (uint64_t i = 0; i < 10; i++) {
		const uint64_t chain[] = { PERF_CONTEXT_USER, 0x400000 + 16 * i, 0x400800 };
		const struct pd_value sample[] = { PD_NUMBER("ip", chain[1]), PD_NUMBER("pid", PID),
						   PD_NUMBER("tid", PID),
						   PD_NUMBER("time", 1000000 * (i + 1)),
						   PD_NUMBERS("callchain", chain, 3) };

		if (pd_writer_record(w, PD_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0, sample, 5,
				     NOTHING, e))
			return -1;
	}
	return 0;
}

static int write_all(struct pd_writer *w, struct pd_error *e)
{
	const struct pd_value host = PD_TEXT("HOSTNAME", "example");

	return write_event(w, e) || pd_writer_begin(w, e) || write_task(w, e) ||
	       write_samples(w, e) || pd_writer_feature(w, PD_FEATURE_HOSTNAME, &host, e) ||
	       pd_writer_finish(w, e);
}

int main(int argc, char **argv)
{
	struct pd_error e = { .code = PD_E_IO };
	struct pd_writer *w = NULL;
	int fd = -1, failed;
	char text[256];

	if (argc != 2) {
		fprintf(stderr, "usage: write_file FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (fd >= 0)
		w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = PD_MODE_FILE), &e);
	failed = !w || write_all(w, &e);
	if (failed)
		fprintf(stderr, "write_file: %s: %s\n", argv[1],
			pd_error_text(&e, text, sizeof(text)));
	pd_writer_free(w);
	if (fd >= 0)
		close(fd);
	return failed;
}
