/* names_records.c - misc of the record header, and values in the bodies of the kernel's records. */
#include "layout/names_tables.h"

/* linux/perf_event.h: PERF_RECORD_MISC_CPUMODE_MASK. */
const struct pd_name pd_names_cpumode[] = {
	{ 0, "UNKNOWN" },
	{ 1, "KERNEL" },
	{ 2, "USER" },
	{ 3, "HYPERVISOR" },
	{ 4, "GUEST_KERNEL" },
	{ 5, "GUEST_USER" },
	{ 0, NULL },
};

/* linux/perf_event.h: PERF_RECORD_MISC_*. The upper bits mean something else for each type. */
const struct pd_name pd_names_misc_mmap[] = {
	{ 1 << 12, "PROC_MAP_PARSE_TIMEOUT" },
	{ 1 << 13, "MMAP_DATA" },
	{ 1 << 15, "EXT_RESERVED" },
	{ 0, NULL },
};

const struct pd_name pd_names_misc_mmap2[] = {
	{ 1 << 12, "PROC_MAP_PARSE_TIMEOUT" },
	{ 1 << 13, "MMAP_DATA" },
	{ 1 << 14, "MMAP_BUILD_ID" },
	{ 1 << 15, "EXT_RESERVED" },
	{ 0, NULL },
};

const struct pd_name pd_names_misc_comm[] = {
	{ 1 << 13, "COMM_EXEC" },
	{ 1 << 15, "EXT_RESERVED" },
	{ 0, NULL },
};

const struct pd_name pd_names_misc_fork[] = {
	{ 1 << 13, "FORK_EXEC" },
	{ 1 << 15, "EXT_RESERVED" },
	{ 0, NULL },
};

const struct pd_name pd_names_misc_sample[] = {
	{ 1 << 14, "EXACT_IP" },
	{ 1 << 15, "EXT_RESERVED" },
	{ 0, NULL },
};

const struct pd_name pd_names_misc_switch[] = {
	{ 1 << 13, "SWITCH_OUT" },
	{ 1 << 14, "SWITCH_OUT_PREEMPT" },
	{ 1 << 15, "EXT_RESERVED" },
	{ 0, NULL },
};

const struct pd_name pd_names_misc_default[] = {
	{ 1 << 15, "EXT_RESERVED" },
	{ 0, NULL },
};

/* tools/lib/perf/include/perf/event.h: perf's own use of the bit that the kernel reserves. */
const struct pd_name pd_names_misc_lost_samples[] = {
	{ 1 << 15, "LOST_SAMPLES_BPF" },
	{ 0, NULL },
};

const struct pd_name pd_names_misc_build_id[] = {
	{ 1 << 15, "BUILD_ID_SIZE" },
	{ 0, NULL },
};

/* asm-generic/mman-common.h: PROT_*. */
const struct pd_name pd_names_prot[] = {
	{ 0x1, "READ" },
	{ 0x2, "WRITE" },
	{ 0x4, "EXEC" },
	{ 0x8, "SEM" },
	{ 0x01000000, "GROWSDOWN" },
	{ 0x02000000, "GROWSUP" },
	{ 0, NULL },
};

/* linux/mman.h, asm-generic/mman.h: MAP_*. Alpha, MIPS, PA-RISC, PowerPC, SPARC and Xtensa number
 * some of those after FIXED differently. The kernel records SHARED, PRIVATE, LOCKED, HUGETLB (and
 * once DENYWRITE, EXECUTABLE); perf, for what ran before it, only SHARED or PRIVATE. */
const struct pd_name pd_names_map[] = {
	{ 0x1, "SHARED" },
	{ 0x2, "PRIVATE" },
	{ 0x10, "FIXED" },
	{ 0x20, "ANONYMOUS" },
	{ 0x100, "GROWSDOWN" },
	{ 0x800, "DENYWRITE" },
	{ 0x1000, "EXECUTABLE" },
	{ 0x2000, "LOCKED" },
	{ 0x4000, "NORESERVE" },
	{ 0x8000, "POPULATE" },
	{ 0x10000, "NONBLOCK" },
	{ 0x20000, "STACK" },
	{ 0x40000, "HUGETLB" },
	{ 0x80000, "SYNC" },
	{ 0x100000, "FIXED_NOREPLACE" },
	{ 0x4000000, "UNINITIALIZED" },
	{ 0, NULL },
};

/* linux/perf_event.h: PERF_AUX_FLAG_*. Bits 8-15: a PMU's own format; only CoreSight has one. */
const struct pd_name pd_names_aux[] = {
	{ 0x1, "TRUNCATED" },
	{ 0x2, "OVERWRITE" },
	{ 0x4, "PARTIAL" },
	{ 0x8, "COLLISION" },
	{ 0x100, "CORESIGHT_FORMAT_RAW" },
	{ 0, NULL },
};

/* linux/perf_event.h: enum perf_record_ksymbol_type. */
const struct pd_name pd_names_ksym_type[] = {
	{ 0, "UNKNOWN" },
	{ 1, "BPF" },
	{ 2, "OOL" },
	{ 0, NULL },
};

/* linux/perf_event.h: PERF_RECORD_KSYMBOL_FLAGS_*. */
const struct pd_name pd_names_ksym[] = {
	{ 0x1, "UNREGISTER" },
	{ 0, NULL },
};

/* linux/perf_event.h: enum perf_bpf_event_type. */
const struct pd_name pd_names_bpf_event_type[] = {
	{ 0, "UNKNOWN" },
	{ 1, "PROG_LOAD" },
	{ 2, "PROG_UNLOAD" },
	{ 0, NULL },
};

/* linux/perf_event.h: *_NS_INDEX, by the names of /proc/PID/ns. */
const struct pd_name pd_names_namespace[] = {
	{ 0, "net" },
	{ 1, "uts" },
	{ 2, "ipc" },
	{ 3, "pid" },
	{ 4, "user" },
	{ 5, "mnt" },
	{ 6, "cgroup" },
	{ 0, NULL },
};
