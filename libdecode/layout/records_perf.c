/* records_perf.c - the records that perf itself writes (tools/lib/perf/include/perf/event.h), by
 * number.
 *
 * They have no sample_id, except two to which perf inject may add one. Sizes need not be multiples
 * of 8.
 */
#include "layout/records.h"

#include "layout/names_tables.h"

#define BUILD_ID_SIZE_VALID (1 << 15)

/* simpleperf puts the tracing data inside the record. */
static bool more_than_padding(struct pd_bytes body, size_t at, enum pd_swap swap)
{
	(void)swap;
	return body.size - at > 4;
}

/* A build id has 20 bytes unless its size field differs; that is valid only with its bit in
 * misc. */
#define BUILD_ID_ROWS \
	GROUP(FIELDS( \
		AREA(20, build_id, "build id of the file", TIMES_OF(build_id_size), \
		     ROLE(BUILD_ID)), \
		U8(build_id_size, "size of build_id in bytes"), \
		PAD(TIMES(3))), \
		IF_MASK(misc, BUILD_ID_SIZE_VALID)), \
	GROUP(FIELDS( \
		AREA(20, build_id, "build id of the file", TIMES(0), ROLE(BUILD_ID)), \
		PAD(TIMES(4))), \
		UNLESS_MASK(misc, BUILD_ID_SIZE_VALID))

const struct pd_field pd_build_id_fields[] = {
	BUILD_ID_ROWS,
	{ .kind = PD_END },
};

#define CPU_MAP_ROWS \
	ENUM(2, type, "encoding of the CPUs", pd_names_cpu_map_type), \
	GROUP(FIELDS( \
		U16(nr, "number of entries"), \
		NUMBERS(2, PD_SIGNED, cpus, "CPU numbers, -1: any", TIMES_OF(nr))), \
		IF_EQUAL(type, 0)), \
	GROUP(FIELDS( \
		U16(nr, "number of words"), \
		U16(long_size, "size of a word in bytes"), \
		NUMBERS(4, PD_HEX, mask, "bit b of word w: CPU w * 8 * long_size + b", \
			TIMES_OF(nr), \
			IF_EQUAL(long_size, 4), ROLE(NONE)), \
		GROUP(FIELDS( \
			PAD(TIMES(4)), \
			NUMBERS(8, PD_HEX, mask, "bit b of word w: CPU w * 8 * long_size + b", \
				TIMES_OF(nr), ROLE(NONE))), \
			IF_EQUAL(long_size, 8))), \
		IF_EQUAL(type, 1)), \
	GROUP(FIELDS( \
		U8(any_cpu, "1: includes any CPU (-1)"), \
		PAD(TIMES(1)), \
		U16(start_cpu, "first CPU"), \
		U16(end_cpu, "last CPU")), \
		IF_EQUAL(type, 2))

#define INTEL_PT_ROWS \
	U64(pmu_type, "type of the PMU", IF_LEFT(8)), \
	U64(time_shift, "time conversion", IF_LEFT(8)), \
	U64(time_mult, "time conversion", IF_LEFT(8)), \
	U64(time_zero, "time conversion", IF_LEFT(8)), \
	U64(cap_user_time_zero, "1: the conversion is valid", IF_LEFT(8)), \
	X64(tsc_bit, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	X64(noretcomp_bit, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	U64(have_sched_switch, "recording of context switches", IF_LEFT(8)), \
	U64(snapshot_mode, "1: snapshots", IF_LEFT(8)), \
	U64(per_cpu_mmaps, "1: one buffer per CPU", IF_LEFT(8)), \
	X64(mtc_bit, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	X64(mtc_freq_bits, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	U64(tsc_ctc_ratio_n, "TSC to CTC ratio, numerator", IF_LEFT(8)), \
	U64(tsc_ctc_ratio_d, "TSC to CTC ratio, denominator", IF_LEFT(8)), \
	X64(cyc_bit, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	U64(max_nonturbo_ratio, "maximum non-turbo ratio of the CPU", IF_LEFT(8)), \
	U64(filter_str_len, "size of the filter in bytes", IF_LEFT(8)), \
	CHARS_OF(filter, "address filter", filter_str_len), \
	NUMBERS(8, PD_HEX, priv, "fields added by newer perf versions", TIMES_REST_WORDS, \
		ROLE(NONE))

/* The filter ends with a NUL and is padded to 8 bytes. */
#define CHARS_OF(n, d, s) \
	GROUP(FIELDS( \
		TEXT(n, d, TIMES_OF(s), .when = { .left = 1 }, ROLE(ARGUMENTS)), \
		PAD(TIMES(1), IF_LEFT(1)), \
		PAD(TIMES_REST_MOD(8))), \
		UNLESS_EQUAL(s, 0))
#define TIMES_REST_WORDS .count = { .from = PD_COUNT_REST }, IF_LEFT(8)

#define INTEL_BTS_ROWS \
	U64(pmu_type, "type of the PMU", IF_LEFT(8)), \
	U64(time_shift, "time conversion", IF_LEFT(8)), \
	U64(time_mult, "time conversion", IF_LEFT(8)), \
	U64(time_zero, "time conversion", IF_LEFT(8)), \
	U64(cap_user_time_zero, "1: the conversion is valid", IF_LEFT(8)), \
	U64(snapshot_mode, "1: snapshots", IF_LEFT(8)), \
	NUMBERS(8, PD_HEX, priv, "fields added by newer perf versions", TIMES_REST_WORDS, \
		ROLE(NONE))

static const struct pd_bits cs_etm_bits[] = {
	BIT(nr_cpus, 0, 32),
	BIT(pmu_type, 32, 32),
	{ .name = NULL },
};

/* Version 0 has no nr_params: its blocks differ only by magic, and stay words. */
#define CS_ETM_ROWS \
	U64(version, "version of this layout"), \
	BITS(8, PD_BITS, cpus_and_pmu, "one word", .bits = cs_etm_bits), \
	U64(snapshot, "1: snapshots"), \
	GROUP(FIELDS( \
		ARRAY(cpus, "a block for each CPU", TIMES_OF_LOW(cpus_and_pmu), FIELDS( \
			X64(magic, "0x3030...: ETMv3, 0x4040...: ETMv4, 0x5050...: ETE", \
			    ROLE(NONE)), \
			U64(cpu, "CPU number", ROLE(CPU)), \
			U64(nr_params, "number of params"), \
			NUMBERS(8, PD_HEX, params, "registers, in the order of the trace type", \
				TIMES_OF(nr_params), ROLE(NONE))))), \
		IF_AT_LEAST(version, 1)), \
	NUMBERS(8, PD_HEX, priv, "data that this version does not structure", TIMES_REST_WORDS, \
		ROLE(NONE))

/* Version 1 is 16 bytes after auxtrace_type and its padding, and has no version. Must give the same
 * result for all rows. */
static bool spe_is_v1(struct pd_bytes body, size_t at, enum pd_swap swap)
{
	(void)at, (void)swap;
	return body.size <= 8 + 16;
}

#define ARM_SPE_ROWS \
	GROUP(FIELDS( \
		U64(version, "version of this layout", IF_LEFT(8)), \
		U64(header_size, "number of words in this part", IF_LEFT(8)), \
		U64(pmu_type, "type of the PMU", IF_LEFT(8)), \
		U64(nr_cpus, "number of blocks that follow", IF_LEFT(8))), \
		UNLESS_TEST(spe_is_v1)), \
	GROUP(FIELDS( \
		U64(pmu_type, "type of the PMU", IF_LEFT(8)), \
		U64(per_cpu_mmaps, "1: one buffer per CPU", IF_LEFT(8))), \
		IF_TEST(spe_is_v1)), \
	NUMBERS(8, PD_HEX, priv, "a block for each CPU: magic, cpu, count, registers", \
		TIMES_REST_WORDS, ROLE(NONE))

#define AUXTRACE_INFO_ROWS \
	ENUM(4, auxtrace_type, "type of the trace", pd_names_auxtrace_type), \
	PAD(TIMES(4)), \
	STRUCT(intel_pt, "Intel PT", FIELDS(INTEL_PT_ROWS), IF_EQUAL(auxtrace_type, 1)), \
	STRUCT(intel_bts, "Intel BTS", FIELDS(INTEL_BTS_ROWS), IF_EQUAL(auxtrace_type, 2)), \
	STRUCT(cs_etm, "Arm CoreSight", FIELDS(CS_ETM_ROWS), IF_EQUAL(auxtrace_type, 3)), \
	STRUCT(arm_spe, "Arm SPE", FIELDS(ARM_SPE_ROWS), IF_EQUAL(auxtrace_type, 4)), \
	NUMBERS(8, PD_HEX, priv, "data for the decoder", TIMES_REST_WORDS, ROLE(NONE))

#define DOMAIN_COUNTS_BEGIN \
	U32(count, "load balancing attempts"), \
	U32(balanced, "attempts that found the load balanced"), \
	U32(failed, "attempts that could not move a task")
#define DOMAIN_COUNTS_END \
	U32(gained, "tasks moved to this CPU"), \
	U32(hot_gained, "tasks moved although cache-hot on the other CPU"), \
	U32(nobusyq, "attempts that found no busier run queue"), \
	U32(nobusyg, "attempts that found no busier group")
#define DOMAIN_COUNTS_8 \
	DOMAIN_COUNTS_BEGIN, \
	U32(imbalance, "sum of the imbalances"), \
	DOMAIN_COUNTS_END
#define DOMAIN_COUNTS_11 \
	DOMAIN_COUNTS_BEGIN, \
	U32(imbalance_load, "sum of the load imbalances"), \
	U32(imbalance_util, "sum of the utilization imbalances"), \
	U32(imbalance_task, "sum of the task count imbalances"), \
	U32(imbalance_misfit, "sum of the misfit task imbalances"), \
	DOMAIN_COUNTS_END
#define DOMAIN_TAIL \
	U32(alb_count, "active load balancing attempts"), \
	U32(alb_failed, "active load balancing failures"), \
	U32(alb_pushed, "tasks moved by active load balancing"), \
	U32(sbe_count, "balancing attempts at exec"), \
	U32(sbe_balanced, "attempts at exec that found the load balanced"), \
	U32(sbe_pushed, "attempts at exec that moved a task"), \
	U32(sbf_count, "balancing attempts at fork"), \
	U32(sbf_balanced, "attempts at fork that found the load balanced"), \
	U32(sbf_pushed, "attempts at fork that moved a task"), \
	U32(ttwu_wake_remote, "wake-ups of a task that last ran on another CPU of the domain"), \
	U32(ttwu_move_affine, \
	    "of these, tasks moved to the waking CPU because they were cache-cold"), \
	U32(ttwu_move_balance, "of these, wake-ups that started passive balancing"), \
	PAD(TIMES_REST_MOD(8)), \
	PAD(TIMES_REST)	/* perf pads all versions to the longest */

const struct pd_record_desc pd_records_perf[] = {
	{ TYPE(HEADER_ATTR), "the attr of an event, without a file header",
	  FIELDS(GROUP(.fields = pd_attr_fields),
		NUMBERS(8, PD_DEC, ids, "ids of the event", TIMES_REST, ROLE(EVENT_ID))) },
	{ TYPE(HEADER_EVENT_TYPE), "name of an event (perf before 3.12)",
	  FIELDS(U64(event_id, "config"),
		CSTR(name, "name of the event", ROLE(EVENT_NAME))) },
	{ TYPE(HEADER_TRACING_DATA), "tracepoint formats, as payload", .payload = "data_size",
	  FIELDS(U32(data_size, "size of the payload in bytes"),
		GROUP(FIELDS(PAD(TIMES(4), IF_LEFT(4))), UNLESS_TEST(more_than_padding)),
		BYTES(inline_data, "the payload, which simpleperf puts here", TIMES_REST,
		      IF_TEST(more_than_padding), .blob = PD_BLOB_LARGE, ROLE(NONE))) },
	{ TYPE(HEADER_BUILD_ID), "build id of a file", .cpumode = true,
		.misc = pd_names_misc_build_id,
	  .trailer = PD_TRAILER_LEFT,
	  FIELDS(S32(pid, "-1: the kernel, 0: a guest's", ROLE(PID)),
		BUILD_ID_ROWS,
		CSTR(filename, "path of the file", ROLE(PATH))) },
	{ TYPE(FINISHED_ROUND),
		"all buffers were read once: later records are newer than the round before this "
		"one" ,
	  FIELDS({ .kind = PD_END }) },
	{ TYPE(ID_INDEX), "event, CPU and thread of each id",
	  FIELDS(U64(nr, "number of entries"),
		ARRAY(entries, "one per id", TIMES_OF(nr), FIELDS(
			U64(id, "id of the event", ROLE(EVENT_ID)),
			U64(idx, "index of the event"),
			S64(cpu, "-1: any", ROLE(CPU)),
			S64(tid, "-1: any", ROLE(TID)))),
		ARRAY(vcpu_entries, "the same ids in virtual machines", TIMES_OF(nr), FIELDS(
			U64(machine_pid, "process of the virtual machine", ROLE(PID)),
			U64(vcpu, "virtual CPU")), IF_LEFT(16))) },
	{ TYPE(AUXTRACE_INFO), "parameters for decoding AUX data",
	  FIELDS(AUXTRACE_INFO_ROWS) },
	{ TYPE(AUXTRACE), "AUX data, as payload", .payload = "data_size",
	  FIELDS(U64(data_size, "size of the payload in bytes"),
		U64(data_offset, "offset in the AUX stream"),
		U64(reference, "distinguishes overlapping snapshots"),
		U32(idx, "index of the buffer"),
		S32(tid, "thread, -1: any", ROLE(TID)),
		S32(cpu, "CPU, -1: any", ROLE(CPU)),
		PAD(TIMES(4))) },
	{ TYPE(AUXTRACE_ERROR), "AUX data could not be decoded",
	  FIELDS(ENUM(4, error_type, "kind of the error", pd_names_auxtrace_error_type),
		U32(code, "error code"),
		S32(cpu, "CPU", ROLE(CPU)),
		S32(pid, "process", ROLE(PID)),
		S32(tid, "thread", ROLE(TID)),
		U32(fmt, "version of this layout"),
		X64(ip, "instruction pointer", ROLE(CODE_ADDRESS)),
		U64(time, "ns", IF_AT_LEAST(fmt, 1), ROLE(TIME)),
		GROUP(FIELDS(CSTR(msg, "text of the error", ROLE(NONE))), UNLESS_AT_LEAST(fmt, 2)),
		GROUP(FIELDS(
			CHARS(64, msg, "text of the error", ROLE(NONE)),
			U32(machine_pid, "process of the virtual machine", ROLE(PID)),
			U32(vcpu, "virtual CPU")),
			IF_AT_LEAST(fmt, 2))) },
	{ TYPE(THREAD_MAP), "the requested threads",
	  FIELDS(U64(nr, "number of entries"),
		ARRAY(entries, "one per thread", TIMES_OF(nr), FIELDS(
			S64(pid, "thread", ROLE(TID)),
			CHARS(16, comm, "name of the thread", ROLE(COMM))))) },
	{ TYPE(CPU_MAP), "the requested CPUs",
	  FIELDS(STRUCT(cpu_map, "struct perf_record_cpu_map_data", FIELDS(CPU_MAP_ROWS)),
		PAD(TIMES_REST_MOD(8))) },
	{ TYPE(STAT_CONFIG), "settings of perf stat",
	  FIELDS(U64(nr, "number of entries"),
		ARRAY(config, "one per setting", TIMES_OF(nr), FIELDS(
			ENUM(8, tag, "name of the setting", pd_names_stat_config, ROLE(BUILD_ID)),
			U64(val, "value of the setting")))) },
	{ TYPE(STAT), "a count",
	  FIELDS(U64(id, "id of the event", ROLE(EVENT_ID)),
		S32(cpu, "index in the CPU map"),
		S32(thread, "index in the thread map"),
		U64(val, "the count"),
		U64(ena, "ns the event was enabled"),
		U64(run, "ns the event was counting")) },
	{ TYPE(STAT_ROUND), "all counts since the last STAT_ROUND belong to one interval",
	  FIELDS(ENUM(8, round_type, "interval or final", pd_names_stat_round_type),
		U64(time, "ns since the start")) },
	{ TYPE(EVENT_UPDATE), "additional properties of an event",
	  FIELDS(ENUM(8, update_type, "kind of property", pd_names_event_update_type),
		U64(id, "any id of the event", ROLE(EVENT_ID)),
		GROUP(FIELDS(CSTR(unit, "unit of the counts", ROLE(NONE))),
		      IF_EQUAL(update_type, 0)),
		GROUP(FIELDS(
			{ PD_KEY(scale), .kind = PD_UINT, .width = 8, .show = PD_FLOAT,
			  .doc = "counts times this are units" },
			PAD(TIMES_REST)),
			IF_EQUAL(update_type, 1)),
		GROUP(FIELDS(CSTR(name, "name of the event", ROLE(EVENT_NAME))),
		      IF_EQUAL(update_type, 2)),
		GROUP(FIELDS(
			STRUCT(cpu_map, "struct perf_record_cpu_map_data", FIELDS(CPU_MAP_ROWS)),
			PAD(TIMES_REST_MOD(8))),
			IF_EQUAL(update_type, 3))) },
	{ TYPE(TIME_CONV), "conversion of CPU time stamps to ns",
	  FIELDS(U64(time_shift, "ns = time_zero + (tsc * time_mult >> time_shift)"),
		U64(time_mult, "see time_shift"),
		U64(time_zero, "see time_shift"),
		U64(time_cycles, "for short counters", IF_LEFT(8)),
		X64(time_mask, "for short counters", IF_LEFT(8), ROLE(NONE)),
		U8(cap_user_time_zero, "1: time_zero is valid", IF_LEFT(1)),
		U8(cap_user_time_short, "1: the counter is short", IF_LEFT(1)),
		PAD(TIMES_REST_MOD(8))) },
	{ TYPE(HEADER_FEATURE), "a feature section, without a file header",
	  FIELDS(ENUM(8, feat_id, "id of the feature", pd_names_feature),
		{ PD_KEY(feature), .kind = PD_FEATURE, .doc = "as under features",
			.when = { .left = 1 } }) },
	{ TYPE(COMPRESSED), "part of a zstd stream of records", .compressed = true,
	  FIELDS(BYTES(data, "part of the stream", TIMES_REST, .blob = PD_BLOB_PAYLOAD,
		       ROLE(RECORDS))) },
	{ TYPE(FINISHED_INIT), "end of the records for what existed before the recording",
	  FIELDS({ .kind = PD_END }) },
	{ TYPE(COMPRESSED2), "part of a zstd stream of records, padded", .compressed = true,
	  FIELDS(U64(data_size, "size of data in bytes"),
		BYTES(data, "part of the stream", TIMES_OF(data_size), .blob = PD_BLOB_PAYLOAD,
		      ROLE(RECORDS)),
		PAD(TIMES_REST)) },
	{ TYPE(BPF_METADATA), "metadata of a BPF program", .trailer = PD_TRAILER_LEFT,
	  FIELDS(CHARS(512, prog_name, "name of the program", ROLE(SYMBOL)),
		U64(nr_entries, "number of entries"),
		ARRAY(entries, "one per variable", TIMES_OF(nr_entries), FIELDS(
			CHARS(64, key, "name of the variable", ROLE(NONE)),
			CHARS(256, value, "value of the variable", ROLE(NONE))))) },
	{ TYPE(SCHEDSTAT_CPU), "the line of a CPU in /proc/schedstat",
	  FIELDS(U64(timestamp, "jiffies"),
		S32(cpu, "CPU number", ROLE(CPU)),
		U16(version, "version of schedstat"),
		PAD(TIMES(2)),
		U32(yld_count, "sched_yield() calls"),
		U32(array_exp, "unused, 0"),
		U32(sched_count, "schedule() calls"),
		U32(sched_goidle, "of these, switches to idle"),
		U32(ttwu_count, "wake-ups"),
		U32(ttwu_local, "of these, on this CPU"),
		U64(rq_cpu_time, "ns that tasks ran"),
		U64(run_delay, "ns that tasks waited"),
		U64(pcount, "time slices")) },
	{ TYPE(SCHEDSTAT_DOMAIN), "the line of a domain in /proc/schedstat",
	  FIELDS(U64(timestamp, "jiffies"),
		S32(cpu, "CPU number", ROLE(CPU)),
		U16(version, "version of schedstat"),
		U16(domain, "domain of the CPU"),
		GROUP(FIELDS(
			STRUCT(idle, "balancing while idle", FIELDS(DOMAIN_COUNTS_8)),
			STRUCT(busy, "balancing while busy", FIELDS(DOMAIN_COUNTS_8)),
			STRUCT(newidle, "balancing before going idle", FIELDS(DOMAIN_COUNTS_8)),
			DOMAIN_TAIL),
			IF_EQUAL(version, 15)),
		GROUP(FIELDS(
			STRUCT(busy, "balancing while busy", FIELDS(DOMAIN_COUNTS_8)),
			STRUCT(idle, "balancing while idle", FIELDS(DOMAIN_COUNTS_8)),
			STRUCT(newidle, "balancing before going idle", FIELDS(DOMAIN_COUNTS_8)),
			DOMAIN_TAIL),
			IF_EQUAL(version, 16)),
		GROUP(FIELDS(
			STRUCT(busy, "balancing while busy", FIELDS(DOMAIN_COUNTS_11)),
			STRUCT(idle, "balancing while idle", FIELDS(DOMAIN_COUNTS_11)),
			STRUCT(newidle, "balancing before going idle", FIELDS(DOMAIN_COUNTS_11)),
			DOMAIN_TAIL),
			IF_EQUAL(version, 17))) },
	{ .name = NULL },
};

/* simpleperf (Android) has its own records, whose bodies are not decoded. */
const struct pd_record_desc pd_records_simpleperf[] = {
	{ TYPE(SIMPLEPERF_KERNEL_SYMBOL), "kallsyms", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_DSO), "a file", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_SYMBOL), "a symbol", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_SPLIT), "part of a record larger than 64 KiB", .opaque = true,
		FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_SPLIT_END), "end of a split record", .opaque = true,
		FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_EVENT_ID), "ids of events", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_CALLCHAIN), "an unwound callchain", .opaque = true,
		FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_UNWINDING_RESULT), "result of unwinding", .opaque = true,
		FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_TRACING_DATA), "tracepoint formats", .opaque = true,
		FIELDS({ .kind = PD_END }) },
	{ .name = NULL },
};
