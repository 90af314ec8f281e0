/* hostinfo.c - header features that describe the machine and the recording. */
#include "hostinfo/hostinfo.h"

#include <sys/utsname.h>
#include <time.h>

#include "base/clock_pair.h"
#include "hostinfo/hostinfo_internal.h"
#include "process/clock.h"

#define COMPRESSION_ZSTD 1

static int write_text(struct pd_writer *w, struct host_values *h, uint32_t id, const char *text,
		      struct pd_error *e)
{
	return host_feature(w, h, id, host_text(h, NULL, text), e);
}

static int write_names(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
		       struct pd_error *e)
{
	struct utsname host;

	if (uname(&host) != 0)
		return 0;
	if (write_text(w, h, PD_FEATURE_HOSTNAME, host.nodename, e) != 0 ||
	    write_text(w, h, PD_FEATURE_OSRELEASE, host.release, e) != 0 ||
	    write_text(w, h, PD_FEATURE_VERSION, info->version, e) != 0)
		return -1;
	return write_text(w, h, PD_FEATURE_ARCH, host.machine, e);
}

static int write_command_line(struct pd_writer *w, struct host_values *h,
			      const struct hostinfo *info, struct pd_error *e)
{
	struct host_list words = { .h = h };

	for (char *const *arg = info->argv; arg && *arg; arg++)
		host_add(&words, (struct pd_value)PD_TEXT(NULL, *arg));
	return host_feature(w, h, PD_FEATURE_CMDLINE, host_array(&words, NULL), e);
}

static int write_groups(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
			struct pd_error *e)
{
	struct host_list list = { .h = h };

	if (info->nr_groups == 0)
		return 0;
	for (size_t i = 0; i < info->nr_groups; i++) {
		const struct hostinfo_group *g = &info->groups[i];
		const char *name = g->name ? g->name : "{anon_group}";
		const struct pd_value v[] = {
			PD_TEXT("name", name), PD_NUMBER("leader_idx", g->leader),
			PD_NUMBER("nr_members", g->members),
		};

		host_add(&list, host_object(h, NULL, v, 3));
	}
	return host_feature(w, h, PD_FEATURE_GROUP_DESC, host_array(&list, NULL), e);
}

/* CLOCK_DATA: the samples' clock and the wall clock at one moment. */
static int write_clock_data(struct pd_writer *w, struct host_values *h, uint32_t clockid,
			    uint64_t wall, uint64_t sample, struct pd_error *e)
{
	const struct pd_value v[] = {
		PD_NUMBER("version", 1),
		PD_NUMBER("clockid", clockid),
		PD_NUMBER("wall_clock_ns", wall),
		PD_NUMBER("clockid_time_ns", sample),
	};

	return host_feature(w, h, PD_FEATURE_CLOCK_DATA, host_object(h, NULL, v, 4), e);
}

/* CLOCKID, the resolution of the samples' clock, and CLOCK_DATA. */
static int write_clocks(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
			struct pd_error *e)
{
	struct timespec resolution;
	struct clock_pair now;

	if (!info->use_clockid)
		return !info->perf_clock_known ? 0 :
		       write_clock_data(w, h, PD_CLOCK_PERF, info->wall_clock, info->perf_clock, e);
	if (clock_getres(info->clockid, &resolution) != 0)
		return 0;
	if (host_feature(w, h, PD_FEATURE_CLOCKID,
			 (struct pd_value)PD_NUMBER(NULL, clock_in_ns(&resolution)), e))
		return -1;
	if (!clock_pair_read(info->clockid, CLOCK_REALTIME, &now))
		return 0;
	return write_clock_data(w, h, (uint32_t)info->clockid, now.second, now.first, e);
}

static int write_recording_facts(struct pd_writer *w, struct host_values *h,
				 const struct hostinfo *info, struct pd_error *e)
{
	const struct pd_value time[] = {
		PD_NUMBER("first", info->first), PD_NUMBER("last", info->last),
	};
	const struct pd_value compressed[] = {
		PD_NUMBER("version", 0), PD_NUMBER("type", COMPRESSION_ZSTD),
		PD_NUMBER("level", info->compress),
		PD_NUMBER("ratio", info->compress_ratio),
		PD_NUMBER("mmap_len", 2 * PD_WRITER_COMPRESSED_MOST),
	};

	if (info->branch_stacks &&
	    host_feature(w, h, PD_FEATURE_BRANCH_STACK, host_object(h, NULL, NULL, 0), e) != 0)
		return -1;
	if (info->timed &&
	    host_feature(w, h, PD_FEATURE_SAMPLE_TIME, host_object(h, NULL, time, 2), e) != 0)
		return -1;
	if (info->compress &&
	    host_feature(w, h, PD_FEATURE_COMPRESSED, host_object(h, NULL, compressed, 5), e) != 0)
		return -1;
	return info->bpf ? bpf_progs_features(w, info->bpf, e) : 0;
}

static int write_auxtrace_index(struct pd_writer *w, struct host_values *h,
				const struct hostinfo *info, struct pd_error *e)
{
	struct host_list list = { .h = h };
	/* simpleperf writes the section without `nr`, so it must be given. */
	struct pd_value parts[2] = { PD_NUMBER("nr", info->nr_auxtraces) };

	if (info->nr_auxtraces == 0)
		return 0;
	for (size_t i = 0; i < info->nr_auxtraces; i++) {
		const struct pd_value v[] = {
			PD_NUMBER("file_offset", info->auxtraces[i]),
			PD_NUMBER("size", HOSTINFO_AUXTRACE_SIZE),
		};

		host_add(&list, host_object(h, NULL, v, 2));
	}
	parts[1] = host_array(&list, "entries");
	return host_feature(w, h, PD_FEATURE_AUXTRACE, host_object(h, NULL, parts, 2), e);
}

int hostinfo_features(struct pd_writer *w, const struct hostinfo *info, struct pd_error *e)
{
	struct host_values h = { 0 };
	int ret = -1;

	if (write_names(w, &h, info, e) == 0 && hostinfo_processor(w, &h, e) == 0 &&
	    hostinfo_topology(w, &h, info, e) == 0 && hostinfo_memory(w, &h, e) == 0 &&
	    hostinfo_pmus(w, &h, e) == 0 && write_command_line(w, &h, info, e) == 0 &&
	    write_groups(w, &h, info, e) == 0 && write_clocks(w, &h, info, e) == 0 &&
	    write_auxtrace_index(w, &h, info, e) == 0 && write_recording_facts(w, &h, info, e) == 0)
		ret = hostinfo_tracing(w, &h, info, e);
	host_values_free(&h);
	return ret ? -1 : h.left_out;
}
