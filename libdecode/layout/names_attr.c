/* names_attr.c - values and bits of struct perf_event_attr. */
#include "layout/names_tables.h"
#include "pd/types.h"

/* linux/perf_event.h: enum perf_type_id. SYNTH and TOOL: tools/perf/util/event.h, util/pmu.h. */
const struct pd_name pd_names_attr_type[] = {
	{ 0, "HARDWARE" },
	{ 1, "SOFTWARE" },
	{ 2, "TRACEPOINT" },
	{ 3, "HW_CACHE" },
	{ 4, "RAW" },
	{ 5, "BREAKPOINT" },
	{ 0x80000000, "SYNTH" },
	{ 0xfffffffe, "TOOL" },
	{ 0, NULL },
};

/* linux/perf_event.h: enum perf_hw_id. */
const struct pd_name pd_names_hardware[] = {
	{ 0, "CPU_CYCLES" },
	{ 1, "INSTRUCTIONS" },
	{ 2, "CACHE_REFERENCES" },
	{ 3, "CACHE_MISSES" },
	{ 4, "BRANCH_INSTRUCTIONS" },
	{ 5, "BRANCH_MISSES" },
	{ 6, "BUS_CYCLES" },
	{ 7, "STALLED_CYCLES_FRONTEND" },
	{ 8, "STALLED_CYCLES_BACKEND" },
	{ 9, "REF_CPU_CYCLES" },
	{ 0, NULL },
};

/* linux/perf_event.h: enum perf_sw_ids. */
const struct pd_name pd_names_software[] = {
	{ 0, "CPU_CLOCK" },
	{ 1, "TASK_CLOCK" },
	{ 2, "PAGE_FAULTS" },
	{ 3, "CONTEXT_SWITCHES" },
	{ 4, "CPU_MIGRATIONS" },
	{ 5, "PAGE_FAULTS_MIN" },
	{ 6, "PAGE_FAULTS_MAJ" },
	{ 7, "ALIGNMENT_FAULTS" },
	{ 8, "EMULATION_FAULTS" },
	{ 9, "DUMMY" },
	{ 10, "BPF_OUTPUT" },
	{ 11, "CGROUP_SWITCHES" },
	{ 0, NULL },
};

/* tools/perf/util/event.h: enum perf_synth_id. */
const struct pd_name pd_names_synth[] = {
	{ 0, "INTEL_PTWRITE" },
	{ 1, "INTEL_MWAIT" },
	{ 2, "INTEL_PWRE" },
	{ 3, "INTEL_EXSTOP" },
	{ 4, "INTEL_PWRX" },
	{ 5, "INTEL_CBR" },
	{ 6, "INTEL_PSB" },
	{ 7, "INTEL_EVT" },
	{ 8, "INTEL_IFLAG_CHG" },
	{ 0, NULL },
};

/* linux/perf_event.h: enum perf_event_sample_format. */
const struct pd_name pd_names_sample_type[] = {
	{ 1 << 0, "IP" },
	{ 1 << 1, "TID" },
	{ 1 << 2, "TIME" },
	{ 1 << 3, "ADDR" },
	{ 1 << 4, "READ" },
	{ 1 << 5, "CALLCHAIN" },
	{ 1 << 6, "ID" },
	{ 1 << 7, "CPU" },
	{ 1 << 8, "PERIOD" },
	{ 1 << 9, "STREAM_ID" },
	{ 1 << 10, "RAW" },
	{ 1 << 11, "BRANCH_STACK" },
	{ 1 << 12, "REGS_USER" },
	{ 1 << 13, "STACK_USER" },
	{ 1 << 14, "WEIGHT" },
	{ 1 << 15, "DATA_SRC" },
	{ 1 << 16, "IDENTIFIER" },
	{ 1 << 17, "TRANSACTION" },
	{ 1 << 18, "REGS_INTR" },
	{ 1 << 19, "PHYS_ADDR" },
	{ 1 << 20, "AUX" },
	{ 1 << 21, "CGROUP" },
	{ 1 << 22, "DATA_PAGE_SIZE" },
	{ 1 << 23, "CODE_PAGE_SIZE" },
	{ 1 << 24, "WEIGHT_STRUCT" },
	{ 0, NULL },
};

/* linux/perf_event.h: enum perf_event_read_format. */
const struct pd_name pd_names_read_format[] = {
	{ 1 << 0, "TOTAL_TIME_ENABLED" },
	{ 1 << 1, "TOTAL_TIME_RUNNING" },
	{ 1 << 2, "ID" },
	{ 1 << 3, "GROUP" },
	{ 1 << 4, "LOST" },
	{ 0, NULL },
};

/* linux/perf_event.h: enum perf_branch_sample_type. */
const struct pd_name pd_names_branch_sample_type[] = {
	{ 1 << 0, "USER" },
	{ 1 << 1, "KERNEL" },
	{ 1 << 2, "HV" },
	{ 1 << 3, "ANY" },
	{ 1 << 4, "ANY_CALL" },
	{ 1 << 5, "ANY_RETURN" },
	{ 1 << 6, "IND_CALL" },
	{ 1 << 7, "ABORT_TX" },
	{ 1 << 8, "IN_TX" },
	{ 1 << 9, "NO_TX" },
	{ 1 << 10, "COND" },
	{ 1 << 11, "CALL_STACK" },
	{ 1 << 12, "IND_JUMP" },
	{ 1 << 13, "CALL" },
	{ 1 << 14, "NO_FLAGS" },
	{ 1 << 15, "NO_CYCLES" },
	{ 1 << 16, "TYPE_SAVE" },
	{ 1 << 17, "HW_INDEX" },
	{ 1 << 18, "PRIV_SAVE" },
	{ 1 << 19, "COUNTERS" },
	{ 0, NULL },
};

/* linux/perf_event.h: the bit-fields of struct perf_event_attr; 15, 16 are precise_ip, a number. */
const struct pd_name pd_names_attr_flags[] = {
	{ 1ull << 0, "disabled" },
	{ 1ull << 1, "inherit" },
	{ 1ull << 2, "pinned" },
	{ 1ull << 3, "exclusive" },
	{ 1ull << 4, "exclude_user" },
	{ 1ull << 5, "exclude_kernel" },
	{ 1ull << 6, "exclude_hv" },
	{ 1ull << 7, "exclude_idle" },
	{ 1ull << 8, "mmap" },
	{ 1ull << 9, "comm" },
	{ 1ull << 10, "freq" },
	{ 1ull << 11, "inherit_stat" },
	{ 1ull << 12, "enable_on_exec" },
	{ 1ull << 13, "task" },
	{ 1ull << 14, "watermark" },
	{ 1ull << 17, "mmap_data" },
	{ 1ull << 18, "sample_id_all" },
	{ 1ull << 19, "exclude_host" },
	{ 1ull << 20, "exclude_guest" },
	{ 1ull << 21, "exclude_callchain_kernel" },
	{ 1ull << 22, "exclude_callchain_user" },
	{ 1ull << 23, "mmap2" },
	{ 1ull << 24, "comm_exec" },
	{ 1ull << 25, "use_clockid" },
	{ 1ull << 26, "context_switch" },
	{ 1ull << 27, "write_backward" },
	{ 1ull << 28, "namespaces" },
	{ 1ull << 29, "ksymbol" },
	{ 1ull << 30, "bpf_event" },
	{ 1ull << 31, "aux_output" },
	{ 1ull << 32, "cgroup" },
	{ 1ull << 33, "text_poke" },
	{ 1ull << 34, "build_id" },
	{ 1ull << 35, "inherit_thread" },
	{ 1ull << 36, "remove_on_exec" },
	{ 1ull << 37, "sigtrap" },
	{ 1ull << 38, "defer_callchain" },
	{ 1ull << 39, "defer_output" },
	{ 0, NULL },
};

/* linux/perf_event.h: the bit-fields of aux_action. */
const struct pd_name pd_names_aux_action[] = {
	{ 1 << 0, "aux_start_paused" },
	{ 1 << 1, "aux_pause" },
	{ 1 << 2, "aux_resume" },
	{ 0, NULL },
};

/* linux/hw_breakpoint.h: HW_BREAKPOINT_*. */
const struct pd_name pd_names_bp_type[] = {
	{ 0, "EMPTY" },
	{ 1, "R" },
	{ 2, "W" },
	{ 3, "RW" },
	{ 4, "X" },
	{ 0, NULL },
};

/* linux/time.h: CLOCK_*. */
const struct pd_name pd_names_clockid[] = {
	{ 0, "REALTIME" },
	{ 1, "MONOTONIC" },
	{ 2, "PROCESS_CPUTIME_ID" },
	{ 3, "THREAD_CPUTIME_ID" },
	{ 4, "MONOTONIC_RAW" },
	{ 5, "REALTIME_COARSE" },
	{ 6, "MONOTONIC_COARSE" },
	{ 7, "BOOTTIME" },
	{ 8, "REALTIME_ALARM" },
	{ 9, "BOOTTIME_ALARM" },
	{ 10, "SGI_CYCLE" },
	{ 11, "TAI" },
	{ PD_CLOCK_PERF, "PERF" },	/* in CLOCK_DATA of precord */
	{ 0, NULL },
};
