/* names_perf.c - values in perf's own records and in feature sections. */
#include "layout/names_tables.h"

#include "pd/types.h"

#define FEATURE(n) { PD_FEATURE_##n, #n }

const struct pd_name pd_names_feature[] = {
	{ 0, "RESERVED" },
	FEATURE(TRACING_DATA),
	FEATURE(BUILD_ID),
	FEATURE(HOSTNAME),
	FEATURE(OSRELEASE),
	FEATURE(VERSION),
	FEATURE(ARCH),
	FEATURE(NRCPUS),
	FEATURE(CPUDESC),
	FEATURE(CPUID),
	FEATURE(TOTAL_MEM),
	FEATURE(CMDLINE),
	FEATURE(EVENT_DESC),
	FEATURE(CPU_TOPOLOGY),
	FEATURE(NUMA_TOPOLOGY),
	FEATURE(BRANCH_STACK),
	FEATURE(PMU_MAPPINGS),
	FEATURE(GROUP_DESC),
	FEATURE(AUXTRACE),
	FEATURE(STAT),
	FEATURE(CACHE),
	FEATURE(SAMPLE_TIME),
	FEATURE(MEM_TOPOLOGY),
	FEATURE(CLOCKID),
	FEATURE(DIR_FORMAT),
	FEATURE(BPF_PROG_INFO),
	FEATURE(BPF_BTF),
	FEATURE(COMPRESSED),
	FEATURE(CPU_PMU_CAPS),
	FEATURE(CLOCK_DATA),
	FEATURE(HYBRID_TOPOLOGY),
	FEATURE(PMU_CAPS),
	FEATURE(CPU_DOMAIN_INFO),
	FEATURE(E_MACHINE),
	FEATURE(CLN_SIZE),
	FEATURE(SIMPLEPERF_FILE),
	FEATURE(SIMPLEPERF_META_INFO),
	FEATURE(SIMPLEPERF_DEBUG_UNWIND),
	FEATURE(SIMPLEPERF_DEBUG_UNWIND_FILE),
	FEATURE(SIMPLEPERF_FILE2),
	FEATURE(PD_SYMBOLS),
	{ 0, NULL },
};

/* tools/lib/perf/include/perf/event.h: PERF_CPU_MAP__*. */
const struct pd_name pd_names_cpu_map_type[] = {
	{ 0, "CPUS" },
	{ 1, "MASK" },
	{ 2, "RANGE_CPUS" },
	{ 0, NULL },
};

/* tools/perf/util/auxtrace.h: enum auxtrace_type. */
const struct pd_name pd_names_auxtrace_type[] = {
	{ 0, "UNKNOWN" },
	{ 1, "INTEL_PT" },
	{ 2, "INTEL_BTS" },
	{ 3, "CS_ETM" },
	{ 4, "ARM_SPE" },
	{ 5, "S390_CPUMSF" },
	{ 6, "HISI_PTT" },
	{ 7, "VPA_DTL" },
	{ 0, NULL },
};

/* tools/perf/util/auxtrace.h: enum auxtrace_error_type. */
const struct pd_name pd_names_auxtrace_error_type[] = {
	{ 1, "ITRACE" },
	{ 0, NULL },
};

/* tools/lib/perf/include/perf/event.h: PERF_STAT_CONFIG_TERM__*. */
const struct pd_name pd_names_stat_config[] = {
	{ 0, "AGGR_MODE" },
	{ 1, "INTERVAL" },
	{ 2, "SCALE" },
	{ 3, "AGGR_LEVEL" },
	{ 0, NULL },
};

/* tools/lib/perf/include/perf/event.h: PERF_STAT_ROUND_TYPE__*. */
const struct pd_name pd_names_stat_round_type[] = {
	{ 0, "INTERVAL" },
	{ 1, "FINAL" },
	{ 0, NULL },
};

/* tools/lib/perf/include/perf/event.h: PERF_EVENT_UPDATE__*. */
const struct pd_name pd_names_event_update_type[] = {
	{ 0, "UNIT" },
	{ 1, "SCALE" },
	{ 2, "NAME" },
	{ 3, "CPUS" },
	{ 0, NULL },
};

/* tools/perf/util/compress.h: enum perf_compress_type, PERF_COMP_*. */
const struct pd_name pd_names_compression[] = {
	{ 0, "NONE" },
	{ 1, "ZSTD" },
	{ 0, NULL },
};

/* linux/bpf.h: enum bpf_prog_type. */
const struct pd_name pd_names_bpf_prog_type[] = {
	{ 0, "UNSPEC" },
	{ 1, "SOCKET_FILTER" },
	{ 2, "KPROBE" },
	{ 3, "SCHED_CLS" },
	{ 4, "SCHED_ACT" },
	{ 5, "TRACEPOINT" },
	{ 6, "XDP" },
	{ 7, "PERF_EVENT" },
	{ 8, "CGROUP_SKB" },
	{ 9, "CGROUP_SOCK" },
	{ 10, "LWT_IN" },
	{ 11, "LWT_OUT" },
	{ 12, "LWT_XMIT" },
	{ 13, "SOCK_OPS" },
	{ 14, "SK_SKB" },
	{ 15, "CGROUP_DEVICE" },
	{ 16, "SK_MSG" },
	{ 17, "RAW_TRACEPOINT" },
	{ 18, "CGROUP_SOCK_ADDR" },
	{ 19, "LWT_SEG6LOCAL" },
	{ 20, "LIRC_MODE2" },
	{ 21, "SK_REUSEPORT" },
	{ 22, "FLOW_DISSECTOR" },
	{ 23, "CGROUP_SYSCTL" },
	{ 24, "RAW_TRACEPOINT_WRITABLE" },
	{ 25, "CGROUP_SOCKOPT" },
	{ 26, "TRACING" },
	{ 27, "STRUCT_OPS" },
	{ 28, "EXT" },
	{ 29, "LSM" },
	{ 30, "SK_LOOKUP" },
	{ 31, "SYSCALL" },
	{ 32, "NETFILTER" },
	{ 0, NULL },
};

/* linux/elf-em.h: EM_*. */
const struct pd_name pd_names_elf_machine[] = {
	{ 0, "NONE" },
	{ 1, "M32" },
	{ 2, "SPARC" },
	{ 3, "386" },
	{ 4, "68K" },
	{ 5, "88K" },
	{ 6, "486" },
	{ 7, "860" },
	{ 8, "MIPS" },
	{ 10, "MIPS_RS3_LE" },
	{ 15, "PARISC" },
	{ 18, "SPARC32PLUS" },
	{ 20, "PPC" },
	{ 21, "PPC64" },
	{ 22, "S390" },
	{ 23, "SPU" },
	{ 40, "ARM" },
	{ 42, "SH" },
	{ 43, "SPARCV9" },
	{ 46, "H8_300" },
	{ 50, "IA_64" },
	{ 62, "X86_64" },
	{ 76, "CRIS" },
	{ 88, "M32R" },
	{ 89, "MN10300" },
	{ 92, "OPENRISC" },
	{ 93, "ARCOMPACT" },
	{ 94, "XTENSA" },
	{ 106, "BLACKFIN" },
	{ 110, "UNICORE" },
	{ 113, "ALTERA_NIOS2" },
	{ 140, "TI_C6000" },
	{ 164, "HEXAGON" },
	{ 167, "NDS32" },
	{ 183, "AARCH64" },
	{ 188, "TILEPRO" },
	{ 189, "MICROBLAZE" },
	{ 191, "TILEGX" },
	{ 195, "ARCV2" },
	{ 243, "RISCV" },
	{ 247, "BPF" },
	{ 252, "CSKY" },
	{ 258, "LOONGARCH" },
	{ 0x5441, "FRV" },
	{ 0x9026, "ALPHA" },
	{ 0x9041, "CYGNUS_M32R" },
	{ 0xa390, "S390_OLD" },
	{ 0xbeef, "CYGNUS_MN10300" },
	{ 0, NULL },
};
