/* synthesise.c - what the recorder knows of a machine, written to a file without a recording.
 *
 *	synthesise OUT [what=FLAGS] [all] [pipe] [readers=N] [timeout=MS] [ids=N] [clock]
 *		[tracepoint=ID:NAME] [buildids=FILE] [TID...]
 *	synthesise buildid FILE...
 *	synthesise list [GLOB]
 *	synthesise doctor
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "buildid/buildid.h"
#include "hostinfo/hostinfo.h"
#include "inform/doctor.h"
#include "inform/list.h"
#include "synth/synth.h"

#define EVENT_ID 7

struct request {
	struct synth_options synth;
	struct hostinfo host;
	struct hostinfo_tracepoint tracepoints[8];
	pid_t threads[64];
	size_t nr_ids;
	bool pipe, clock;
	const char *buildids;
};

static bool takes(const char *arg, const char *name, const char **value)
{
	size_t n = strlen(name);

	*value = arg + n;
	return strncmp(arg, name, n) == 0;
}

static void parse(struct request *r, char **args)
{
	const char *v;

	for (; *args; args++) {
		if (takes(*args, "what=", &v)) {
			r->synth.what = (unsigned int)strtoul(v, NULL, 0);
		} else if (takes(*args, "readers=", &v)) {
			r->synth.nr_readers = (unsigned int)atoi(v);
		} else if (takes(*args, "timeout=", &v)) {
			r->synth.timeout_ms = (unsigned int)atoi(v);
		} else if (takes(*args, "ids=", &v)) {
			r->nr_ids = (size_t)atol(v);
		} else if (takes(*args, "buildids=", &v)) {
			r->buildids = v;
		} else if (takes(*args, "tracepoint=", &v)) {
			r->tracepoints[r->host.nr_tracepoints++] = (struct hostinfo_tracepoint){
				strchr(v, ':') + 1, strtoull(v, NULL, 10) };
		} else if (strcmp(*args, "all") == 0) {
			r->synth.all_tasks = true;
		} else if (strcmp(*args, "pipe") == 0) {
			r->pipe = true;
		} else if (strcmp(*args, "clock") == 0) {
			r->clock = true;
		} else {
			r->threads[r->synth.nr_threads++] = (pid_t)atoi(*args);
		}
	}
}

static int begin(struct pd_writer *w, struct pd_error *e)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = 112, .config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
	};
	const uint64_t id = EVENT_ID;

	if (pd_writer_add_event(w, &attr, attr.size, &id, 1, "dummy", e))
		return -1;
	return pd_writer_begin(w, e);
}

static int put_ids(struct pd_writer *w, size_t n, struct pd_error *e)
{
	struct synth_id *ids = calloc(n + 1, sizeof(*ids));
	int ret;

	for (size_t i = 0; i < n; i++)
		ids[i] = (struct synth_id){ i + 1, i / 2, (int64_t)(i % 2), -1 };
	ret = synth_id_index(w, ids, n, e);
	free(ids);
	return ret;
}

static int put_clock(struct pd_writer *w, struct pd_error *e)
{
	const struct perf_event_mmap_page page = {
		.cap_user_time = 1, .cap_user_time_zero = 1, .time_shift = 31, .time_mult = 5,
		.time_zero = 9,
	};
	const struct perf_event_mmap_page without = { .time_shift = 1 };

	return synth_time_conv(w, &page, e) || synth_time_conv(w, &without, e);
}

static int put_existing(struct pd_writer *w, const struct synth_options *o, struct pd_error *e)
{
	struct synth_report report = { 0 };
	const int ret = synth_existing(w, o, &report, e);

	file_names_free(&report.silent);
	if (!ret)
		printf("tasks %zu maps %zu timed-out %zu\n", report.tasks, report.maps,
		       report.timed_out);
	return ret;
}

static int put_build_ids(struct pd_writer *w, const char *path, struct pd_error *e)
{
	const struct deadline no_deadline = { 0 };
	struct buildid_summary found = { 0 };
	const struct buildid_request what = { .which = BUILDID_HIT, .deadline = &no_deadline };
	const int ret = buildid_feature_path(w, path, &what, &found, e);

	file_names_free(&found.silent);
	file_names_free(&found.replaced);
	if (!ret)
		printf("samples %llu first %llu last %llu lost %llu files %zu\n",
		       (unsigned long long)found.samples, (unsigned long long)found.first,
		       (unsigned long long)found.last, (unsigned long long)found.lost, found.files);
	return ret;
}

static int write_all(struct pd_writer *w, struct request *r, struct pd_error *e)
{
	if (begin(w, e) || (r->pipe && hostinfo_features(w, &r->host, e)))
		return -1;
	if (r->clock && put_clock(w, e))
		return -1;
	if (put_ids(w, r->nr_ids, e) || put_existing(w, &r->synth, e) || synth_finished_init(w, e))
		return -1;
	if (r->buildids && put_build_ids(w, r->buildids, e))
		return -1;
	if (!r->pipe && hostinfo_features(w, &r->host, e))
		return -1;
	return pd_writer_finish(w, e);
}

static int synthesise(const char *path, char **argv)
{
	static const int cpus[] = { 0, 1 };
	struct request r = {
		.synth = { .what = SYNTH_DEFAULT, .cpus = cpus, .nr_cpus = 2 },
		.host = { .version = "precord 1.2.3", .use_clockid = true, .clockid = 1 },
	};
	struct bpf_progs *bpf = bpf_progs_read();
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), ret;
	struct pd_error e;
	struct pd_writer *w;

	parse(&r, argv + 2);
	r.synth.threads = r.threads;
	r.synth.bpf = r.host.bpf = bpf;
	r.host.tracepoints = r.tracepoints;
	r.host.argv = argv;
	w = pd_writer_open_fd(fd, PD_WRITER_OPTIONS(.mode = r.pipe ? PD_MODE_PIPE : PD_MODE_FILE),
			      &e);
	ret = w ? write_all(w, &r, &e) : -1;
	if (ret) {
		char text[256];

		fprintf(stderr, "%s\n", pd_error_text(&e, text, sizeof(text)));
	}
	pd_writer_free(w);
	bpf_progs_free(bpf);
	close(fd);
	return ret ? 1 : 0;
}

/* A line each, empty where there is none. */
static int print_build_ids(char **paths)
{
	for (; *paths; paths++) {
		const int fd = open_regular(AT_FDCWD, *paths, NULL);
		struct buildid id;

		if (fd >= 0 && buildid_of_fd(fd, &id))
			for (size_t i = 0; i < id.size; i++)
				printf("%02x", id.data[i]);
		printf("\n");
		close(fd);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "buildid") == 0)
		return print_build_ids(argv + 2);
	if (argc > 1 && strcmp(argv[1], "doctor") == 0)
		return doctor_run(stdout, DOCTOR_CHECK);
	if (argc > 1 && strcmp(argv[1], "list") == 0)
		return list_events(stdout, argc > 2 ? argv[2] : "", LIST_GROUPED) ? 0 : 1;
	return argc > 1 ? synthesise(argv[1], argv) : 2;
}
