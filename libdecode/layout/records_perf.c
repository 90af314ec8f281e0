/* records_perf.c - the records that perf itself writes (tools/lib/perf/include/perf/event.h), by their number.
 *
 * They carry no sample_id, but for two that perf inject may give one. Sizes need not be multiples of 8.
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

/* A build id is 20 bytes unless its size says so; the size counts only with its bit in misc. */
#define BUILD_ID_ROWS \
	GROUP(FIELDS( \
		AREA(20, build_id, "of the file", TIMES_OF(build_id_size), ROLE(BUILD_ID)), \
		U8(build_id_size, "bytes of build_id"), \
		PAD(TIMES(3))), \
		IF_MASK(misc, BUILD_ID_SIZE_VALID)), \
	GROUP(FIELDS( \
		AREA(20, build_id, "of the file", TIMES(0), ROLE(BUILD_ID)), \
		PAD(TIMES(4))), \
		UNLESS_MASK(misc, BUILD_ID_SIZE_VALID))

const struct pd_field pd_build_id_fields[] = {
	BUILD_ID_ROWS,
	{ .kind = PD_END },
};

#define CPU_MAP_ROWS \
	ENUM(2, type, "how the cpus are written", pd_names_cpu_map_type), \
	GROUP(FIELDS( \
		U16(nr, "how many"), \
		NUMBERS(2, PD_SIGNED, cpus, "-1: any", TIMES_OF(nr))), \
		IF_EQUAL(type, 0)), \
	GROUP(FIELDS( \
		U16(nr, "words"), \
		U16(long_size, "bytes of a word"), \
		NUMBERS(4, PD_HEX, mask, "bit b of word w: cpu w * 8 * long_size + b", TIMES_OF(nr), \
			IF_EQUAL(long_size, 4), ROLE(NONE)), \
		GROUP(FIELDS( \
			PAD(TIMES(4)), \
			NUMBERS(8, PD_HEX, mask, "bit b of word w: cpu w * 8 * long_size + b", TIMES_OF(nr), ROLE(NONE))), \
			IF_EQUAL(long_size, 8))), \
		IF_EQUAL(type, 1)), \
	GROUP(FIELDS( \
		U8(any_cpu, "1: not bound to a cpu is among them"), \
		PAD(TIMES(1)), \
		U16(start_cpu, "first"), \
		U16(end_cpu, "last")), \
		IF_EQUAL(type, 2))

#define INTEL_PT_ROWS \
	U64(pmu_type, "number of the PMU", IF_LEFT(8)), \
	U64(time_shift, "time conversion", IF_LEFT(8)), \
	U64(time_mult, "time conversion", IF_LEFT(8)), \
	U64(time_zero, "time conversion", IF_LEFT(8)), \
	U64(cap_user_time_zero, "1: the conversion holds", IF_LEFT(8)), \
	X64(tsc_bit, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	X64(noretcomp_bit, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	U64(have_sched_switch, "how context switches were recorded", IF_LEFT(8)), \
	U64(snapshot_mode, "1: snapshots", IF_LEFT(8)), \
	U64(per_cpu_mmaps, "1: a buffer for each cpu", IF_LEFT(8)), \
	X64(mtc_bit, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	X64(mtc_freq_bits, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	U64(tsc_ctc_ratio_n, "TSC to CTC", IF_LEFT(8)), \
	U64(tsc_ctc_ratio_d, "TSC to CTC", IF_LEFT(8)), \
	X64(cyc_bit, "mask in config", IF_LEFT(8), ROLE(NONE)), \
	U64(max_nonturbo_ratio, "of the cpu", IF_LEFT(8)), \
	U64(filter_str_len, "bytes of the filter", IF_LEFT(8)), \
	CHARS_OF(filter, "address filter", filter_str_len), \
	NUMBERS(8, PD_HEX, priv, "what newer perfs add", TIMES_REST_WORDS, ROLE(NONE))

/* The filter has a NUL and is padded to 8 bytes. */
#define CHARS_OF(n, d, s) \
	GROUP(FIELDS( \
		TEXT(n, d, TIMES_OF(s), .when = { .left = 1 }, ROLE(ARGUMENTS)), \
		PAD(TIMES(1), IF_LEFT(1)), \
		PAD(TIMES_REST_MOD(8))), \
		UNLESS_EQUAL(s, 0))
#define TIMES_REST_WORDS .count = { .from = PD_COUNT_REST }, IF_LEFT(8)

#define INTEL_BTS_ROWS \
	U64(pmu_type, "number of the PMU", IF_LEFT(8)), \
	U64(time_shift, "time conversion", IF_LEFT(8)), \
	U64(time_mult, "time conversion", IF_LEFT(8)), \
	U64(time_zero, "time conversion", IF_LEFT(8)), \
	U64(cap_user_time_zero, "1: the conversion holds", IF_LEFT(8)), \
	U64(snapshot_mode, "1: snapshots", IF_LEFT(8)), \
	NUMBERS(8, PD_HEX, priv, "what newer perfs add", TIMES_REST_WORDS, ROLE(NONE))

static const struct pd_bits cs_etm_bits[] = {
	BIT(nr_cpus, 0, 32),
	BIT(pmu_type, 32, 32),
	{ .name = NULL },
};

/* Version 0 has no nr_params: its blocks can only be told by their magic, and stay words. */
#define CS_ETM_ROWS \
	U64(version, "of this layout"), \
	BITS(8, PD_BITS, cpus_and_pmu, "one word", .bits = cs_etm_bits), \
	U64(snapshot, "1: snapshots"), \
	GROUP(FIELDS( \
		ARRAY(cpus, "a block for each cpu", TIMES_OF_LOW(cpus_and_pmu), FIELDS( \
			X64(magic, "0x3030...: ETMv3, 0x4040...: ETMv4, 0x5050...: ETE", ROLE(NONE)), \
			U64(cpu, "which", ROLE(CPU)), \
			U64(nr_params, "registers that follow"), \
			NUMBERS(8, PD_HEX, params, "registers, in the order of the magic's kind", \
				TIMES_OF(nr_params), ROLE(NONE))))), \
		IF_AT_LEAST(version, 1)), \
	NUMBERS(8, PD_HEX, priv, "what this version does not tell apart", TIMES_REST_WORDS, ROLE(NONE))

/* Version 1 is 16 bytes behind auxtrace_type and its padding, and has no version. The same answer for every row. */
static bool spe_is_v1(struct pd_bytes body, size_t at, enum pd_swap swap)
{
	(void)at, (void)swap;
	return body.size <= 8 + 16;
}

#define ARM_SPE_ROWS \
	GROUP(FIELDS( \
		U64(version, "of this layout", IF_LEFT(8)), \
		U64(header_size, "words in this part", IF_LEFT(8)), \
		U64(pmu_type, "number of the PMU", IF_LEFT(8)), \
		U64(nr_cpus, "blocks that follow", IF_LEFT(8))), \
		UNLESS_TEST(spe_is_v1)), \
	GROUP(FIELDS( \
		U64(pmu_type, "number of the PMU", IF_LEFT(8)), \
		U64(per_cpu_mmaps, "1: a buffer for each cpu", IF_LEFT(8))), \
		IF_TEST(spe_is_v1)), \
	NUMBERS(8, PD_HEX, priv, "a block for each cpu: magic, cpu, count, registers", TIMES_REST_WORDS, ROLE(NONE))

#define AUXTRACE_INFO_ROWS \
	ENUM(4, auxtrace_type, "which decoder", pd_names_auxtrace_type), \
	PAD(TIMES(4)), \
	STRUCT(intel_pt, "Intel PT", FIELDS(INTEL_PT_ROWS), IF_EQUAL(auxtrace_type, 1)), \
	STRUCT(intel_bts, "Intel BTS", FIELDS(INTEL_BTS_ROWS), IF_EQUAL(auxtrace_type, 2)), \
	STRUCT(cs_etm, "Arm CoreSight", FIELDS(CS_ETM_ROWS), IF_EQUAL(auxtrace_type, 3)), \
	STRUCT(arm_spe, "Arm SPE", FIELDS(ARM_SPE_ROWS), IF_EQUAL(auxtrace_type, 4)), \
	NUMBERS(8, PD_HEX, priv, "the decoder's own words", TIMES_REST_WORDS, ROLE(NONE))

#define DOMAIN_COUNTS_BEGIN \
	U32(count, "times balancing was tried"), \
	U32(balanced, "of them nothing had to be done"), \
	U32(failed, "of them no task could be moved")
#define DOMAIN_COUNTS_END \
	U32(gained, "tasks moved here"), \
	U32(hot_gained, "of them still in the other cpu's cache"), \
	U32(nobusyq, "times no busier run queue was found"), \
	U32(nobusyg, "times no busier group was found")
#define DOMAIN_COUNTS_8 \
	DOMAIN_COUNTS_BEGIN, \
	U32(imbalance, "sum of the imbalances found"), \
	DOMAIN_COUNTS_END
#define DOMAIN_COUNTS_11 \
	DOMAIN_COUNTS_BEGIN, \
	U32(imbalance_load, "sum of the imbalances in load"), \
	U32(imbalance_util, "sum of the imbalances in utilisation"), \
	U32(imbalance_task, "sum of the imbalances in tasks"), \
	U32(imbalance_misfit, "sum of the imbalances in misfit tasks"), \
	DOMAIN_COUNTS_END
#define DOMAIN_TAIL \
	U32(alb_count, "times a running task was to be moved"), \
	U32(alb_failed, "of them it could not be"), \
	U32(alb_pushed, "of them it was"), \
	U32(sbe_count, "times balancing at exec was tried"), \
	U32(sbe_balanced, "of them nothing had to be done"), \
	U32(sbe_pushed, "of them a task was moved"), \
	U32(sbf_count, "times balancing at fork was tried"), \
	U32(sbf_balanced, "of them nothing had to be done"), \
	U32(sbf_pushed, "of them a task was moved"), \
	U32(ttwu_wake_remote, "wake-ups of a task that last ran on another cpu of the domain"), \
	U32(ttwu_move_affine, "of them moved to the waking cpu, cold on their own"), \
	U32(ttwu_move_balance, "of them passive balancing began"), \
	PAD(TIMES_REST_MOD(8)), \
	PAD(TIMES_REST)	/* perf gives each version the size of the longest */

const struct pd_record_desc pd_records_perf[] = {
	{ TYPE(HEADER_ATTR), "an event's attributes, where there is no file header",
	  FIELDS(GROUP(.fields = pd_attr_fields),
		NUMBERS(8, PD_DEC, ids, "the event's ids", TIMES_REST, ROLE(EVENT_ID))) },
	{ TYPE(HEADER_EVENT_TYPE), "an event's name (perf before 3.12)",
	  FIELDS(U64(event_id, "config"),
		CSTR(name, "the name", ROLE(EVENT_NAME))) },
	{ TYPE(HEADER_TRACING_DATA), "tracepoint formats follow", .payload = "data_size",
	  FIELDS(U32(data_size, "bytes that follow"),
		GROUP(FIELDS(PAD(TIMES(4), IF_LEFT(4))), UNLESS_TEST(more_than_padding)),
		BYTES(inline_data, "what simpleperf puts here instead", TIMES_REST, IF_TEST(more_than_padding),
		      .blob = PD_BLOB_LARGE, ROLE(NONE))) },
	{ TYPE(HEADER_BUILD_ID), "a file's build id", .cpumode = true, .misc = pd_names_misc_build_id,
	  .trailer = PD_TRAILER_LEFT,
	  FIELDS(S32(pid, "-1: the kernel, 0: a guest's", ROLE(PID)),
		BUILD_ID_ROWS,
		CSTR(filename, "the file", ROLE(PATH))) },
	{ TYPE(FINISHED_ROUND), "all buffers were read once: what follows is newer than the round before this" ,
	  FIELDS({ .kind = PD_END }) },
	{ TYPE(ID_INDEX), "which event, cpu and thread an id belongs to",
	  FIELDS(U64(nr, "how many"),
		ARRAY(entries, "an id each", TIMES_OF(nr), FIELDS(
			U64(id, "the id", ROLE(EVENT_ID)),
			U64(idx, "event's number"),
			S64(cpu, "-1: any", ROLE(CPU)),
			S64(tid, "-1: any", ROLE(TID)))),
		ARRAY(vcpu_entries, "the same ids in a virtual machine", TIMES_OF(nr), FIELDS(
			U64(machine_pid, "its process", ROLE(PID)),
			U64(vcpu, "its cpu")), IF_LEFT(16))) },
	{ TYPE(AUXTRACE_INFO), "how AUX data are to be read",
	  FIELDS(AUXTRACE_INFO_ROWS) },
	{ TYPE(AUXTRACE), "AUX data follow", .payload = "data_size",
	  FIELDS(U64(data_size, "bytes that follow"),
		U64(data_offset, "their place in the AUX stream"),
		U64(reference, "tells overlapping snapshots apart"),
		U32(idx, "which buffer"),
		S32(tid, "thread, -1: any", ROLE(TID)),
		S32(cpu, "cpu, -1: any", ROLE(CPU)),
		PAD(TIMES(4))) },
	{ TYPE(AUXTRACE_ERROR), "AUX data could not be decoded",
	  FIELDS(ENUM(4, error_type, "whose error", pd_names_auxtrace_error_type),
		U32(code, "which"),
		S32(cpu, "where", ROLE(CPU)),
		S32(pid, "process", ROLE(PID)),
		S32(tid, "thread", ROLE(TID)),
		U32(fmt, "version of this layout"),
		X64(ip, "instruction", ROLE(CODE_ADDRESS)),
		U64(time, "ns", IF_AT_LEAST(fmt, 1), ROLE(TIME)),
		GROUP(FIELDS(CSTR(msg, "in words", ROLE(NONE))), UNLESS_AT_LEAST(fmt, 2)),
		GROUP(FIELDS(
			CHARS(64, msg, "in words", ROLE(NONE)),
			U32(machine_pid, "process of the virtual machine", ROLE(PID)),
			U32(vcpu, "its cpu")),
			IF_AT_LEAST(fmt, 2))) },
	{ TYPE(THREAD_MAP), "the threads that were asked for",
	  FIELDS(U64(nr, "how many"),
		ARRAY(entries, "a thread each", TIMES_OF(nr), FIELDS(
			S64(pid, "thread", ROLE(TID)),
			CHARS(16, comm, "its name", ROLE(COMM))))) },
	{ TYPE(CPU_MAP), "the cpus that were asked for",
	  FIELDS(STRUCT(cpu_map, "struct perf_record_cpu_map_data", FIELDS(CPU_MAP_ROWS)),
		PAD(TIMES_REST_MOD(8))) },
	{ TYPE(STAT_CONFIG), "how perf stat counted",
	  FIELDS(U64(nr, "how many"),
		ARRAY(config, "settings", TIMES_OF(nr), FIELDS(
			ENUM(8, tag, "which", pd_names_stat_config, ROLE(BUILD_ID)),
			U64(val, "its value")))) },
	{ TYPE(STAT), "a count",
	  FIELDS(U64(id, "event", ROLE(EVENT_ID)),
		S32(cpu, "index in the cpu map"),
		S32(thread, "index in the thread map"),
		U64(val, "the count"),
		U64(ena, "ns enabled"),
		U64(run, "ns counting")) },
	{ TYPE(STAT_ROUND), "all counts up to here belong to one interval",
	  FIELDS(ENUM(8, round_type, "interval or final", pd_names_stat_round_type),
		U64(time, "ns since the start")) },
	{ TYPE(EVENT_UPDATE), "more about an event",
	  FIELDS(ENUM(8, update_type, "what", pd_names_event_update_type),
		U64(id, "any id of the event", ROLE(EVENT_ID)),
		GROUP(FIELDS(CSTR(unit, "of the counts", ROLE(NONE))), IF_EQUAL(update_type, 0)),
		GROUP(FIELDS(
			{ PD_KEY(scale), .kind = PD_UINT, .width = 8, .show = PD_FLOAT,
			  .doc = "counts times this are units" },
			PAD(TIMES_REST)),
			IF_EQUAL(update_type, 1)),
		GROUP(FIELDS(CSTR(name, "the event's", ROLE(EVENT_NAME))), IF_EQUAL(update_type, 2)),
		GROUP(FIELDS(
			STRUCT(cpu_map, "struct perf_record_cpu_map_data", FIELDS(CPU_MAP_ROWS)),
			PAD(TIMES_REST_MOD(8))),
			IF_EQUAL(update_type, 3))) },
	{ TYPE(TIME_CONV), "how the cpu's time stamps become ns",
	  FIELDS(U64(time_shift, "ns = time_zero + (tsc * time_mult >> time_shift)"),
		U64(time_mult, "see time_shift"),
		U64(time_zero, "see time_shift"),
		U64(time_cycles, "for short counters", IF_LEFT(8)),
		X64(time_mask, "for short counters", IF_LEFT(8), ROLE(NONE)),
		U8(cap_user_time_zero, "1: time_zero holds", IF_LEFT(1)),
		U8(cap_user_time_short, "1: the counter is short", IF_LEFT(1)),
		PAD(TIMES_REST_MOD(8))) },
	{ TYPE(HEADER_FEATURE), "a feature section, where there is no file header",
	  FIELDS(ENUM(8, feat_id, "which", pd_names_feature),
		{ PD_KEY(feature), .kind = PD_FEATURE, .doc = "as under features", .when = { .left = 1 } }) },
	{ TYPE(COMPRESSED), "a piece of a zstd stream of records", .compressed = true,
	  FIELDS(BYTES(data, "the piece", TIMES_REST, .blob = PD_BLOB_PAYLOAD, ROLE(RECORDS))) },
	{ TYPE(FINISHED_INIT), "what existed before the recording is told",
	  FIELDS({ .kind = PD_END }) },
	{ TYPE(COMPRESSED2), "a piece of a zstd stream of records, padded", .compressed = true,
	  FIELDS(U64(data_size, "bytes of the piece"),
		BYTES(data, "the piece", TIMES_OF(data_size), .blob = PD_BLOB_PAYLOAD, ROLE(RECORDS)),
		PAD(TIMES_REST)) },
	{ TYPE(BPF_METADATA), "what a BPF program says of itself", .trailer = PD_TRAILER_LEFT,
	  FIELDS(CHARS(512, prog_name, "the program", ROLE(SYMBOL)),
		U64(nr_entries, "how many"),
		ARRAY(entries, "variables", TIMES_OF(nr_entries), FIELDS(
			CHARS(64, key, "its name", ROLE(NONE)),
			CHARS(256, value, "its value", ROLE(NONE))))) },
	{ TYPE(SCHEDSTAT_CPU), "a line of /proc/schedstat for a cpu",
	  FIELDS(U64(timestamp, "jiffies"),
		S32(cpu, "which", ROLE(CPU)),
		U16(version, "of schedstat"),
		PAD(TIMES(2)),
		U32(yld_count, "sched_yield() calls"),
		U32(array_exp, "legacy, 0"),
		U32(sched_count, "schedule() calls"),
		U32(sched_goidle, "of them to idle"),
		U32(ttwu_count, "wake-ups"),
		U32(ttwu_local, "of them on this cpu"),
		U64(rq_cpu_time, "ns tasks ran"),
		U64(run_delay, "ns tasks waited"),
		U64(pcount, "time slices")) },
	{ TYPE(SCHEDSTAT_DOMAIN), "a line of /proc/schedstat for a domain",
	  FIELDS(U64(timestamp, "jiffies"),
		S32(cpu, "which", ROLE(CPU)),
		U16(version, "of schedstat"),
		U16(domain, "which of the cpu's domains"),
		GROUP(FIELDS(
			STRUCT(idle, "balancing while idle", FIELDS(DOMAIN_COUNTS_8)),
			STRUCT(busy, "while busy", FIELDS(DOMAIN_COUNTS_8)),
			STRUCT(newidle, "when going idle", FIELDS(DOMAIN_COUNTS_8)),
			DOMAIN_TAIL),
			IF_EQUAL(version, 15)),
		GROUP(FIELDS(
			STRUCT(busy, "balancing while busy", FIELDS(DOMAIN_COUNTS_8)),
			STRUCT(idle, "while idle", FIELDS(DOMAIN_COUNTS_8)),
			STRUCT(newidle, "when going idle", FIELDS(DOMAIN_COUNTS_8)),
			DOMAIN_TAIL),
			IF_EQUAL(version, 16)),
		GROUP(FIELDS(
			STRUCT(busy, "balancing while busy", FIELDS(DOMAIN_COUNTS_11)),
			STRUCT(idle, "while idle", FIELDS(DOMAIN_COUNTS_11)),
			STRUCT(newidle, "when going idle", FIELDS(DOMAIN_COUNTS_11)),
			DOMAIN_TAIL),
			IF_EQUAL(version, 17))) },
	{ .name = NULL },
};

/* simpleperf (Android) has records of its own; their bodies stay as they are. */
const struct pd_record_desc pd_records_simpleperf[] = {
	{ TYPE(SIMPLEPERF_KERNEL_SYMBOL), "kallsyms", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_DSO), "a file", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_SYMBOL), "a symbol", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_SPLIT), "a part of a record over 64 KiB", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_SPLIT_END), "the end of such a record", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_EVENT_ID), "ids of events", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_CALLCHAIN), "an unwound callchain", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_UNWINDING_RESULT), "how unwinding went", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ TYPE(SIMPLEPERF_TRACING_DATA), "tracepoint formats", .opaque = true, FIELDS({ .kind = PD_END }) },
	{ .name = NULL },
};
