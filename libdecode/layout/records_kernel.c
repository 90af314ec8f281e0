/* records_kernel.c - the records that the kernel writes (linux/perf_event.h, enum perf_event_type),
 * by number.
 */
#include "layout/records.h"

#include "layout/names_tables.h"

#define MISC_MMAP_BUILD_ID (1 << 14)
#define ATTR_BUILD_ID (1ull << 34)

/* The first MMAP2 of 3.10 kernels (RHEL 7) has no prot and flags: the path is in their place. */
static bool prot_is_path(struct pd_bytes body, size_t at, enum pd_swap swap)
{
	struct pd_bytes rest = { body.data + at, body.size - at };

	if (rest.size < 8)
		return true;
	return (pd_load32(rest.data, swap) & ~0x0100000full) != 0 && pd_text_length(rest) >= 4;
}

/* Where an MMAP2 has its build id. */
enum { MMAP2_BUILD_ID_SIZE = 32, MMAP2_BUILD_ID = 36, MMAP2_BUILD_ID_MAX = 20 };

/* Linux before 6.19 leaves the bit of one event's record set in that of the next event, which has
 * an inode. A build id has at most 20 bytes, and zeros after it. */
static bool is_no_build_id(struct pd_bytes body, enum pd_swap swap)
{
	size_t size;

	(void)swap;
	if (body.size < MMAP2_BUILD_ID + MMAP2_BUILD_ID_MAX)
		return false;
	size = body.data[MMAP2_BUILD_ID_SIZE];
	return size > MMAP2_BUILD_ID_MAX ||
	       !pd_all_zero((struct pd_bytes){ body.data + MMAP2_BUILD_ID + size,
					       MMAP2_BUILD_ID_MAX - size });
}

static const struct pd_stray_misc stray_build_id = {
	.bit = MISC_MMAP_BUILD_ID, .attr_flag = ATTR_BUILD_ID, .field = "ino",
	.is_stray = is_no_build_id,
};

#define MAP_ROWS \
	S32(pid, "process, -1: the kernel", ROLE(PID)), \
	S32(tid, "thread", ROLE(TID)), \
	X64(addr, "start address", ROLE(CODE_ADDRESS)), \
	U64(len, "size in bytes"), \
	U64(pgoff, "offset in the file; for the kernel the address of its reference symbol")

#define TASK_ROWS \
	S32(pid, "process", ROLE(PID)), \
	S32(ppid, "parent process", ROLE(PID)), \
	S32(tid, "thread", ROLE(TID)), \
	S32(ptid, "thread that created it", ROLE(TID)), \
	U64(time, "ns", ROLE(TIME))

#define THROTTLE_ROWS \
	U64(time, "ns", ROLE(TIME)), \
	U64(id, "id of the event", ROLE(EVENT_ID)), \
	U64(stream_id, "id of the event instance", ROLE(EVENT_ID))

const struct pd_record_desc pd_records_kernel[] = {
	{ TYPE(MMAP), "a mapping was created (executable, unless misc states data)",
		.cpumode = true,
	  .misc = pd_names_misc_mmap, .trailer = PD_TRAILER,
	  .task = PD_TASK_OR_KERNEL, .event = PD_EVENT_ANY,
	  FIELDS(MAP_ROWS,
		CSTR(filename, "path, //anon, [vdso], ...", ROLE(PATH))) },
	{ TYPE(LOST), "records were lost because the buffer was full", .trailer = PD_TRAILER,
		.misc = pd_names_misc_default,
	  .task = PD_TASK_NONE,
	  FIELDS(U64(id, "event of the buffer", ROLE(EVENT_ID)),
		U64(lost, "number of lost records")) },
	{ TYPE(COMM), "the name of a thread", .misc = pd_names_misc_comm, .trailer = PD_TRAILER,
	  .event = PD_EVENT_ANY, .names_thread = PD_NAMES_THREAD,
	  FIELDS(S32(pid, "process", ROLE(PID)),
		S32(tid, "thread", ROLE(TID)),
		CSTR(comm, "name of the thread", ROLE(COMM))) },
	{ TYPE(EXIT), "a thread ended", .misc = pd_names_misc_default, .trailer = PD_TRAILER,
	  .event = PD_EVENT_ANY,
	  FIELDS(TASK_ROWS) },
	{ TYPE(THROTTLE), "an event was stopped after too many samples",
		.misc = pd_names_misc_default, .trailer = PD_TRAILER,
	  FIELDS(THROTTLE_ROWS) },
	{ TYPE(UNTHROTTLE), "a throttled event continues", .misc = pd_names_misc_default,
		.trailer = PD_TRAILER,
	  FIELDS(THROTTLE_ROWS) },
	{ TYPE(FORK), "a thread was created", .misc = pd_names_misc_fork, .trailer = PD_TRAILER,
	  .event = PD_EVENT_ANY, .names_thread = PD_NAMES_CHILD,
	  FIELDS(TASK_ROWS) },
	{ TYPE(READ), "counts of a task that ended", .misc = pd_names_misc_default,
		.trailer = PD_TRAILER,
	  FIELDS(S32(pid, "process", ROLE(PID)),
		S32(tid, "thread", ROLE(TID)),
		GROUP(.fields = pd_read_fields)) },
	{ TYPE(SAMPLE), "a sample of an event", .cpumode = true, .misc = pd_names_misc_sample,
	  .fields = pd_sample_fields },
	{ TYPE(MMAP2), "a mapping was created, with its inode or build id", .cpumode = true,
	  .misc = pd_names_misc_mmap2, .stray = &stray_build_id, .trailer = PD_TRAILER,
	  .task = PD_TASK_OR_KERNEL, .event = PD_EVENT_ANY,
	  FIELDS(MAP_ROWS,
		GROUP(FIELDS(
			U8(build_id_size, "size of build_id in bytes"),
			PAD(TIMES(3)),
			AREA(20, build_id, "build id of the file", TIMES_OF(build_id_size),
			     ROLE(BUILD_ID))),
			IF_MASK(misc, MISC_MMAP_BUILD_ID)),
		GROUP(FIELDS(
			U32(maj, "major number of the device"),
			U32(min, "minor number of the device"),
			U64(ino, "inode number"),
			U64(ino_generation, "generation of the inode")),
			UNLESS_MASK(misc, MISC_MMAP_BUILD_ID)),
		GROUP(FIELDS(
			FLAGS(4, prot, "PROT_ of mmap(2)", pd_names_prot),
			FLAGS(4, flags, "MAP_ of mmap(2)", pd_names_map)),
			UNLESS_TEST(prot_is_path)),
		CSTR(filename, "path, //anon, [vdso], ...", ROLE(PATH))) },
	{ TYPE(AUX), "new data in the AUX area", .misc = pd_names_misc_default,
		.trailer = PD_TRAILER,
	  FIELDS(U64(aux_offset, "offset in the AUX stream"),
		U64(aux_size, "size in bytes"),
		FLAGS(8, flags, "state of the data", pd_names_aux)) },
	{ TYPE(ITRACE_START), "a hardware trace starts", .misc = pd_names_misc_default,
		.trailer = PD_TRAILER,
	  FIELDS(S32(pid, "process", ROLE(PID)),
		S32(tid, "thread", ROLE(TID))) },
	{ TYPE(LOST_SAMPLES), "samples were lost", .misc = pd_names_misc_lost_samples,
		.trailer = PD_TRAILER,
	  .task = PD_TASK_NONE,
	  FIELDS(U64(lost, "number of lost samples")) },
	{ TYPE(SWITCH), "this task was switched in or out", .misc = pd_names_misc_switch,
		.trailer = PD_TRAILER,
	  .event = PD_EVENT_ANY,
	  FIELDS({ .kind = PD_END }) },
	{ TYPE(SWITCH_CPU_WIDE), "this cpu switched tasks", .misc = pd_names_misc_switch,
		.trailer = PD_TRAILER,
	  .event = PD_EVENT_ANY,
	  FIELDS(S32(next_prev_pid, "next process (out) or previous process (in)", ROLE(PID)),
		S32(next_prev_tid, "next or previous thread", ROLE(TID))) },
	{ TYPE(NAMESPACES), "namespaces of a task", .misc = pd_names_misc_default,
		.trailer = PD_TRAILER,
	  .event = PD_EVENT_ANY,
	  FIELDS(S32(pid, "process", ROLE(PID)),
		S32(tid, "thread", ROLE(TID)),
		U64(nr_namespaces, "number of namespaces"),
		ARRAY(namespaces, "net, uts, ipc, pid, user, mnt, cgroup", TIMES_OF(nr_namespaces),
		      FIELDS(
			U64(dev, "device of the inode"),
			U64(inode, "inode number")))) },
	{ TYPE(KSYMBOL), "a kernel symbol was added or removed", .cpumode = true,
		.misc = pd_names_misc_default,
	  .trailer = PD_TRAILER, .oversized = true,
	  .task = PD_TASK_NONE, .event = PD_EVENT_ANY,
	  FIELDS(X64(addr, "start address", ROLE(CODE_ADDRESS)),
		U32(len, "size in bytes"),
		ENUM(2, ksym_type, "origin of the symbol", pd_names_ksym_type),
		FLAGS(2, flags, "register or unregister", pd_names_ksym),
		CSTR(name, "name of the symbol", ROLE(SYMBOL))) },
	{ TYPE(BPF_EVENT), "a BPF program was loaded or unloaded", .cpumode = true,
		.misc = pd_names_misc_default,
	  .trailer = PD_TRAILER, .oversized = true,
	  .task = PD_TASK_NONE, .event = PD_EVENT_ANY,
	  FIELDS(ENUM(2, bpf_type, "kind of event", pd_names_bpf_event_type),
		FLAGS(2, flags, "no known flags", pd_names_none),
		U32(id, "id of the program"),
		BYTES(tag, "tag of the program", TIMES(8), ROLE(BUILD_ID))) },
	{ TYPE(CGROUP), "a cgroup was created", .misc = pd_names_misc_default,
		.trailer = PD_TRAILER,
	  .task = PD_TASK_NONE, .event = PD_EVENT_ANY,
	  FIELDS(U64(id, "same as cgroup in samples", ROLE(CGROUP_ID)),
		CSTR(path, "path from the root of the hierarchy", ROLE(PATH))) },
	{ TYPE(TEXT_POKE), "the kernel changed its own code", .cpumode = true,
		.misc = pd_names_misc_default,
	  .trailer = PD_TRAILER,
	  .task = PD_TASK_NONE, .event = PD_EVENT_ANY,
	  FIELDS(X64(addr, "address", ROLE(CODE_ADDRESS)),
		U16(old_len, "size of old_bytes"),
		U16(new_len, "size of new_bytes"),
		BYTES(old_bytes, "code before the change", TIMES_OF(old_len), ROLE(CODE_BYTES)),
		BYTES(new_bytes, "code after the change", TIMES_OF(new_len), ROLE(CODE_BYTES)),
		PAD(TIMES_REST_MOD(8))) },
	{ TYPE(AUX_OUTPUT_HW_ID), "hardware id of an event in the AUX data",
		.misc = pd_names_misc_default,
	  .trailer = PD_TRAILER,
	  FIELDS(U64(hw_id, "hardware id")) },
	{ TYPE(CALLCHAIN_DEFERRED), "the user part of earlier callchains", .cpumode = true,
	  .misc = pd_names_misc_default, .trailer = PD_TRAILER,
	  FIELDS(U64(cookie, "value after USER_DEFERRED in the sample's callchain"),
		U64(nr, "number of entries"),
		NUMBERS(8, PD_MARKED, ips, "return addresses, innermost first", TIMES_OF(nr),
			.names = pd_names_callchain, ROLE(CODE_ADDRESS))) },
	{ .name = NULL },
};
