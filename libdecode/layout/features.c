/* features.c - the header's feature sections (perf.data-file-format.txt, perf's util/header.c), by
 * their bit.
 *
 * In pipe mode HEADER_FEATURE records contain the same bytes. perf rounds the length of texts up to
 * 64.
 */
#include "layout/desc.h"
#include "layout/names_tables.h"

#define BUILD_ID_SIZE_VALID (1 << 15)

/* Before 2.6.34 the records had no pid, and the kernel's name starts 4 bytes earlier, which
 * truncates "[kernel.kallsyms]". */
static bool build_ids_without_pid(struct pd_bytes body, size_t at, enum pd_swap swap)
{
	static const char cut[] = "nel.kallsyms]";

	(void)at, (void)swap;
	return body.size >= 36 + sizeof(cut) && memcmp(body.data + 36, cut, sizeof(cut)) == 0;
}

/* simpleperf omits the number of pairs. */
static bool auxtrace_without_count(struct pd_bytes body, size_t at, enum pd_swap swap)
{
	(void)at;
	return body.size < 8 || (body.size - 8) / 16 != pd_load64(body.data, swap) ||
		body.size % 16 != 8;
}

static const struct pd_name byte_orders[] = { { 0, "little" }, { 1, "big" }, { 0, NULL } };

#define BUILD_ID_ITEM \
	U32(record_type, "0, or 67 from simpleperf"), \
	U16(misc, "cpumode, and whether build_id_size is valid"), \
	U16(size, "size of this item in bytes"), \
	GROUP(FIELDS( \
		S32(pid, "-1: the kernel, 0: a guest's", ROLE(PID)), \
		GROUP(.fields = pd_build_id_fields)), \
		UNLESS_TEST(build_ids_without_pid)), \
	GROUP(FIELDS( \
		AREA(24, build_id, "build id of the file", TIMES(0), ROLE(BUILD_ID))), \
		IF_TEST(build_ids_without_pid)), \
	CSTR(filename, "path of the file", ROLE(PATH))

#define STRINGS(n, d, r, ...) ARRAY(n, d, TIMES_INLINE(4), \
				    FIELDS({ ELEMENT, .kind = PD_FSTR, r }), __VA_ARGS__)
#define NAME_VALUE FIELDS(FSTR(name, "name of the capability", ROLE(MACHINE)), \
			  FSTR(value, "value of the capability", ROLE(MACHINE)))
#define SIZED_TEXT(n, d, w, ...) TEXT(n, d, TIMES_INLINE(w), __VA_ARGS__)
#define FORMATS(n, d) ARRAY(n, d, TIMES_INLINE(4), \
			    FIELDS({ ELEMENT, .kind = PD_TEXT, TIMES_INLINE(8), ROLE(NONE) }))

static const struct pd_bits bpf_licence[] = {
	BIT(gpl_compatible, 0, 1),
	BIT_RESERVED(1, 31),
	{ .name = NULL },
};

/* struct bpf_prog_info of linux/bpf.h. Its pointers are offsets into the following data, if
 * `arrays` has their bit. */
#define BPF_INFO_ROWS \
	ENUM(4, type, "type of the program", pd_names_bpf_prog_type, IF_LEFT(4)), \
	U32(id, "id of the program", IF_LEFT(4)), \
	BYTES(tag, "hash of the instructions", TIMES(8), IF_LEFT(8), ROLE(BUILD_ID)), \
	U32(jited_prog_len, "size of the machine code", IF_LEFT(4)), \
	U32(xlated_prog_len, "size of the BPF code", IF_LEFT(4)), \
	X64(jited_prog_insns, "address of the machine code", IF_LEFT(8), ROLE(NONE)), \
	X64(xlated_prog_insns, "address of the BPF code", IF_LEFT(8), ROLE(NONE)), \
	U64(load_time, "ns since boot", IF_LEFT(8)), \
	U32(created_by_uid, "user that loaded the program", IF_LEFT(4), ROLE(UID)), \
	U32(nr_map_ids, "number of maps in use", IF_LEFT(4)), \
	X64(map_ids, "address of their ids", IF_LEFT(8), ROLE(NONE)), \
	CHARS(16, name, "name of the program", IF_LEFT(16), ROLE(SYMBOL)), \
	U32(ifindex, "bound network device", IF_LEFT(4)), \
	BITS(4, PD_BITS, licence, "bit-fields", .bits = bpf_licence, .msb_first = true, \
	     IF_LEFT(4)), \
	U64(netns_dev, "device of the inode of its network namespace", IF_LEFT(8)), \
	U64(netns_ino, "inode of its network namespace", IF_LEFT(8)), \
	U32(nr_jited_ksyms, "number of functions", IF_LEFT(4)), \
	U32(nr_jited_func_lens, "number of functions", IF_LEFT(4)), \
	X64(jited_ksyms, "address of the function addresses", IF_LEFT(8), ROLE(NONE)), \
	X64(jited_func_lens, "address of the function lengths", IF_LEFT(8), ROLE(NONE)), \
	U32(btf_id, "BTF object, in feature BPF_BTF", IF_LEFT(4)), \
	U32(func_info_rec_size, "size of an entry of func_info", IF_LEFT(4)), \
	X64(func_info, "address of func_info", IF_LEFT(8), ROLE(NONE)), \
	U32(nr_func_info, "number of entries", IF_LEFT(4)), \
	U32(nr_line_info, "number of entries", IF_LEFT(4)), \
	X64(line_info, "address of line_info", IF_LEFT(8), ROLE(NONE)), \
	X64(jited_line_info, "address of jited_line_info", IF_LEFT(8), ROLE(NONE)), \
	U32(nr_jited_line_info, "number of entries", IF_LEFT(4)), \
	U32(line_info_rec_size, "size of an entry of line_info", IF_LEFT(4)), \
	U32(jited_line_info_rec_size, "size of an entry of jited_line_info", IF_LEFT(4)), \
	U32(nr_prog_tags, "number of tags", IF_LEFT(4)), \
	X64(prog_tags, "address of the function tags", IF_LEFT(8), ROLE(NONE)), \
	U64(run_time_ns, "run time in ns, if enabled", IF_LEFT(8)), \
	U64(run_cnt, "number of runs, if enabled", IF_LEFT(8)), \
	U64(recursion_misses, "runs skipped because it was already running", IF_LEFT(8)), \
	U32(verified_insns, "number of verified instructions", IF_LEFT(4)), \
	U32(attach_btf_obj_id, "BTF object of the attach target", IF_LEFT(4)), \
	U32(attach_btf_id, "type of the attach target in that BTF", IF_LEFT(4)), \
	PAD(TIMES_REST_MOD(8), IF_LEFT(1))
#define X32(n, d, ...) NUMBER(4, PD_HEX, n, d, __VA_ARGS__)
#define IF_ARRAY(bit) IF_MASK(arrays, 1 << bit)

#define BPF_DATA_ROWS \
	BYTES(jited_insns, "machine code", TIMES_OF(info.jited_prog_len), IF_ARRAY(0), \
	      .blob = PD_BLOB_LARGE, ROLE(CODE_BYTES)), \
	PAD(TIMES_ALIGN(8)), \
	BYTES(xlated_insns, "BPF code", TIMES_OF(info.xlated_prog_len), IF_ARRAY(1), \
	      .blob = PD_BLOB_LARGE, ROLE(CODE_BYTES)), \
	PAD(TIMES_ALIGN(8)), \
	NUMBERS(4, PD_DEC, map_ids, "maps in use", TIMES_OF(info.nr_map_ids), IF_ARRAY(2)), \
	PAD(TIMES_ALIGN(8)), \
	NUMBERS(8, PD_HEX, jited_ksyms, "addresses of the functions", \
		TIMES_OF(info.nr_jited_ksyms), IF_ARRAY(3), \
		ROLE(CODE_ADDRESS)), \
	NUMBERS(4, PD_DEC, jited_func_lens, "sizes of the functions", \
		TIMES_OF(info.nr_jited_func_lens), IF_ARRAY(4)), \
	PAD(TIMES_ALIGN(8)), \
	BYTES(func_info, "struct bpf_func_info", \
	      TIMES_PRODUCT(info.nr_func_info, info.func_info_rec_size), \
	      IF_ARRAY(5), .blob = PD_BLOB_LARGE, ROLE(NONE)), \
	PAD(TIMES_ALIGN(8)), \
	BYTES(line_info, "struct bpf_line_info", \
	      TIMES_PRODUCT(info.nr_line_info, info.line_info_rec_size), \
	      IF_ARRAY(6), .blob = PD_BLOB_LARGE, ROLE(NONE)), \
	PAD(TIMES_ALIGN(8)), \
	BYTES(jited_line_info, "addresses of lines", \
	      TIMES_PRODUCT(info.nr_jited_line_info, info.jited_line_info_rec_size), IF_ARRAY(7), \
	      .blob = PD_BLOB_LARGE, ROLE(CODE_ADDRESS)), \
	PAD(TIMES_ALIGN(8)), \
	ARRAY(prog_tags, "tags of the functions", TIMES_OF(info.nr_prog_tags), \
	      FIELDS({ ELEMENT, .kind = PD_BYTES, TIMES(8), ROLE(BUILD_ID) }), IF_ARRAY(8))

#define ROW (const struct pd_field[2])	/* the second is PD_END */
/* Functions that are inlined at the addresses of an image of PD_SYMBOLS, and lines. */
#define BUNDLE_CALL_ROWS \
	ARRAY(names, "names of inlined functions in the debug information", TIMES_INLINE(4), \
	      FIELDS({ ELEMENT, .kind = PD_ZSTR, ROLE(SYMBOL) })), \
	ARRAY(files, "source files", TIMES_INLINE(4), \
	      FIELDS({ ELEMENT, .kind = PD_ZSTR, ROLE(PATH) })), \
	ARRAY(calls, "inlined functions, after those into which they are inlined", \
	      TIMES_INLINE(4), FIELDS( \
		U32(name, "number in names, from 1; 0: unknown"), \
		U32(file, "of the call: number in files, from 1; 0: unknown"), \
		U32(line, "of the call, 0: unknown"), \
		U32(caller, "number in calls, from 1; 0: the function of the address"))), \
	U32(nr_inlined, "number of the following: none, or one per address"), \
	NUMBERS(4, PD_DEC, inlined, "number in calls of the innermost, by address, from 1; " \
		"0: nothing is inlined there", TIMES_OF(nr_inlined), ROLE(NONE)), \
	U32(nr_lines, "number of each of the following: none, or one per address"), \
	NUMBERS(4, PD_DEC, lines, "source line by address, 0: unknown", TIMES_OF(nr_lines), \
		ROLE(NONE)), \
	NUMBERS(4, PD_DEC, line_files, "its number in files, from 1; 0: unknown", \
		TIMES_OF(nr_lines), ROLE(NONE))

/* How copied stacks are unwound there. */
#define BUNDLE_ROW_ROWS \
	ARRAY(unwind_rows, "rows of call frame information", TIMES_INLINE(4), FIELDS( \
		BYTES(row, "as in libsymbols/unwind/rows.h", TIMES_INLINE(4), ROLE(NONE)))), \
	U32(nr_unwound, "number of each of the following"), \
	NUMBERS(8, PD_HEX, unwound, "offsets in the file, sorted", TIMES_OF(nr_unwound), \
		ROLE(CODE_ADDRESS)), \
	NUMBERS(4, PD_DEC, unwound_rows, "index in unwind_rows, by offset", \
		TIMES_OF(nr_unwound), ROLE(NONE))

static const struct pd_feature_desc features[] = {
	{ PD_FEATURE_TRACING_DATA,
		ROW{ STRUCT(TRACING_DATA, "tracepoint formats (perf's trace-event-info.c)", FIELDS(
		LITERAL("\x17\x08\x44tracing", 10),
		ZSTR(version, "0.5 or 0.6", ROLE(NONE)),
		{ PD_KEY(byte_order), .kind = PD_UINT, .width = 1, .show = PD_ORDER,
			.names = byte_orders,
		  .doc = "byte order of the rest" },
		U8(long_size, "size of a long on the recording machine"),
		U32(page_size, "page size in bytes"),
		LITERAL("header_page", 12),
		SIZED_TEXT(header_page, "format of a ring buffer page", 8, ROLE(NONE)),
		LITERAL("header_event", 13),
		SIZED_TEXT(header_event, "format of a ring buffer event", 8, ROLE(NONE)),
		FORMATS(ftrace_formats, "formats of ftrace's own events"),
		ARRAY(systems, "tracepoints by system", TIMES_INLINE(4), FIELDS(
			ZSTR(name, "name of the system", ROLE(EVENT_NAME)),
			FORMATS(formats, "formats, as in tracefs"))),
		SIZED_TEXT(kallsyms, "kernel symbols", 4, ROLE(SYMBOL)),
		SIZED_TEXT(printk_formats, "format strings", 4, ROLE(NONE)),
		SIZED_TEXT(cmdlines, "pids and thread names", 8, .when = { .left = 8 }, ROLE(COMM)),
		PAD(TIMES_REST))) } },
	{ PD_FEATURE_BUILD_ID, ROW{ ARRAY(BUILD_ID, "build ids of mapped files", TIMES_REST, FIELDS(
		GROUP(FIELDS(BUILD_ID_ITEM), EXTENT_OWN(size, 0)))) } },
	{ PD_FEATURE_HOSTNAME, ROW{ FSTR(HOSTNAME, "uname -n", ROLE(HOST)) } },
	{ PD_FEATURE_OSRELEASE, ROW{ FSTR(OSRELEASE, "uname -r", ROLE(MACHINE)) } },
	{ PD_FEATURE_VERSION, ROW{ FSTR(VERSION, "version of perf", ROLE(NONE)) } },
	{ PD_FEATURE_ARCH, ROW{ FSTR(ARCH, "uname -m", ROLE(MACHINE)) } },
	{ PD_FEATURE_NRCPUS, ROW{ STRUCT(NRCPUS, "number of CPUs", FIELDS(
		U32(available, "configured CPUs"),
		U32(online, "online CPUs"))) } },
	{ PD_FEATURE_CPUDESC, ROW{ FSTR(CPUDESC, "name of the CPU", ROLE(MACHINE)) } },
	{ PD_FEATURE_CPUID,
		ROW{ FSTR(CPUID, "vendor, family, model and stepping, or similar",
			  ROLE(MACHINE)) } },
	{ PD_FEATURE_TOTAL_MEM, ROW{ U64(TOTAL_MEM, "total memory in KiB") } },
	{ PD_FEATURE_CMDLINE, ROW{ STRINGS(CMDLINE, "arguments of perf", ROLE(ARGUMENTS)) } },
	{ PD_FEATURE_EVENT_DESC, ROW{ STRUCT(EVENT_DESC, "the events and their names", FIELDS(
		U32(nr, "number of entries"),
		U32(attr_size, "size of an attr in bytes"),
		ARRAY(events, "one per event", TIMES_OF(nr), FIELDS(
			GROUP(.fields = pd_file_attr_fields, EXTENT_OF(attr_size)),
			U32(nr_ids, "number of ids"),
			FSTR(name, "name of the event", ROLE(EVENT_NAME)),
			NUMBERS(8, PD_DEC, ids, "ids of the event", TIMES_OF(nr_ids),
				ROLE(EVENT_ID)))))) } },
	{ PD_FEATURE_CPU_TOPOLOGY,
		ROW{ STRUCT(CPU_TOPOLOGY, "cores and packages of the CPUs", FIELDS(
		STRINGS(sibling_cores, "CPU lists of packages", ROLE(MACHINE)),
		STRINGS(sibling_threads, "CPU lists of cores", ROLE(MACHINE)),
		ARRAY(cpus, "by CPU number", TIMES_CPUS, FIELDS(
			S32(core_id, "core, -1: offline"),
			S32(socket_id, "package, -1: offline")), IF_LEFT(8)),
		STRINGS(sibling_dies, "CPU lists of dies", ROLE(MACHINE), .when = { .left = 4 }),
		NUMBERS(4, PD_SIGNED, die_ids, "dies by CPU number", TIMES_CPUS, IF_LEFT(4)))) } },
	{ PD_FEATURE_NUMA_TOPOLOGY,
		ROW{ ARRAY(NUMA_TOPOLOGY, "memory nodes", TIMES_INLINE(4), FIELDS(
		U32(node, "node number"),
		U64(mem_total, "total memory in KiB"),
		U64(mem_free, "free memory in KiB"),
		FSTR(cpus, "CPU list", ROLE(MACHINE)))) } },
	{ PD_FEATURE_BRANCH_STACK,
		ROW{ STRUCT(BRANCH_STACK, "samples have branch stacks",
			    FIELDS({ .kind = PD_END })) } },
	{ PD_FEATURE_PMU_MAPPINGS,
		ROW{ ARRAY(PMU_MAPPINGS, "PMUs by attr type", TIMES_INLINE(4), FIELDS(
		U32(type, "same as type of an attr"),
		FSTR(name, "name of the PMU", ROLE(MACHINE)))) } },
	{ PD_FEATURE_GROUP_DESC, ROW{ ARRAY(GROUP_DESC, "groups of events", TIMES_INLINE(4), FIELDS(
		FSTR(name, "name of the group, {anon_group} without one", ROLE(EVENT_NAME)),
		U32(leader_idx, "index of the leader in attrs"),
		U32(nr_members, "number of events"))) } },
	{ PD_FEATURE_AUXTRACE, ROW{ STRUCT(AUXTRACE, "offsets of AUXTRACE records", FIELDS(
		GROUP(FIELDS(U64(nr, "number of entries")), UNLESS_TEST(auxtrace_without_count)),
		ARRAY(entries, "one per record", TIMES_REST, FIELDS(
			U64(file_offset, "offset of the record"),
			U64(size, "size of the record without payload"))))) } },
	{ PD_FEATURE_STAT,
		ROW{ STRUCT(STAT, "perf stat wrote this", FIELDS({ .kind = PD_END })) } },
	{ PD_FEATURE_CACHE, ROW{ STRUCT(CACHE, "CPU caches", FIELDS(
		U32(version, "version of this layout"),
		ARRAY(caches, "one per cache", TIMES_INLINE(4), FIELDS(
			U32(level, "level, 1: nearest"),
			U32(line_size, "line size in bytes"),
			U32(sets, "number of sets"),
			U32(ways, "associativity"),
			FSTR(type, "Data, Instruction, Unified", ROLE(MACHINE)),
			FSTR(size, "size, as in sysfs", ROLE(MACHINE)),
			FSTR(map, "CPU list", ROLE(MACHINE)))))) } },
	{ PD_FEATURE_SAMPLE_TIME, ROW{ STRUCT(SAMPLE_TIME, "time span of the samples", FIELDS(
		U64(first, "first time in ns", ROLE(TIME)),
		U64(last, "last time in ns", ROLE(TIME)))) } },
	{ PD_FEATURE_MEM_TOPOLOGY, ROW{ STRUCT(MEM_TOPOLOGY, "memory blocks by node", FIELDS(
		U64(version, "version of this layout"),
		U64(block_size, "size of a block in bytes"),
		ARRAY(nodes, "one per node", TIMES_INLINE(8), FIELDS(
			U64(node, "node number"),
			U64(size, "number of blocks"),
			U64(nbits, "number of bits"),
			NUMBERS(8, PD_HEX, bits, "bitmap of the blocks", TIMES_WORDS(nbits, 64),
				ROLE(NONE)))))) } },
	{ PD_FEATURE_CLOCKID,
		ROW{ U64(CLOCKID, "resolution of the clock in ns (its id is attr.clockid)") } },
	{ PD_FEATURE_DIR_FORMAT, ROW{ U64(DIR_FORMAT, "1: the data is in a directory") } },
	{ PD_FEATURE_BPF_PROG_INFO,
		ROW{ ARRAY(BPF_PROG_INFO, "BPF programs", TIMES_INLINE(4), FIELDS(
		U32(info_len, "size of info in bytes"),
		U32(data_len, "size of data in bytes"),
		X64(arrays, "mask of the arrays in data", ROLE(NONE)),
		STRUCT(info, "struct bpf_prog_info", FIELDS(BPF_INFO_ROWS), EXTENT_OF(info_len)),
		STRUCT(data, "the arrays", FIELDS(BPF_DATA_ROWS), EXTENT_OF(data_len)))) } },
	{ PD_FEATURE_BPF_BTF, ROW{ ARRAY(BPF_BTF, "BPF type information", TIMES_INLINE(4), FIELDS(
		U32(id, "same as btf_id of a program"),
		U32(data_size, "size of data in bytes"),
		BYTES(data, "BTF", TIMES_OF(data_size), .blob = PD_BLOB_LARGE, ROLE(NONE)))) } },
	{ PD_FEATURE_COMPRESSED, ROW{ STRUCT(COMPRESSED, "parameters of record compression", FIELDS(
		U32(version, "version, 0"),
		ENUM(4, type, "compression method", pd_names_compression),
		U32(level, "compression level"),
		U32(ratio, "compression ratio"),
		U32(mmap_len, "size of perf's buffers in bytes"))) } },
	{ PD_FEATURE_CPU_PMU_CAPS,
		ROW{ ARRAY(CPU_PMU_CAPS, "capabilities of the CPU PMU", TIMES_INLINE(4),
			   NAME_VALUE) } },
	{ PD_FEATURE_CLOCK_DATA, ROW{ STRUCT(CLOCK_DATA, "one point in time on two clocks", FIELDS(
		U32(version, "version of this layout"),
		ENUM(4, clockid, "clock of the samples", pd_names_clockid),
		U64(wall_clock_ns, "time on the wall clock"),
		U64(clockid_time_ns, "time on the clock of the samples", ROLE(TIME)))) } },
	{ PD_FEATURE_HYBRID_TOPOLOGY,
		ROW{ ARRAY(HYBRID_TOPOLOGY, "CPUs of each PMU", TIMES_INLINE(4), FIELDS(
		FSTR(pmu_name, "name of the PMU", ROLE(MACHINE)),
		FSTR(cpus, "CPU list", ROLE(MACHINE)))) } },
	{ PD_FEATURE_PMU_CAPS,
		ROW{ ARRAY(PMU_CAPS, "capabilities of the PMUs", TIMES_INLINE(4), FIELDS(
		ARRAY(caps, "one per capability", TIMES_INLINE(4), NAME_VALUE),
		FSTR(pmu_name, "name of the PMU", ROLE(MACHINE)))) } },
	{ PD_FEATURE_CPU_DOMAIN_INFO, ROW{ STRUCT(CPU_DOMAIN_INFO, "scheduler domains", FIELDS(
		U32(schedstat_version, "version of /proc/schedstat"),
		U32(max_sched_domains, "number of levels plus one"),
		ARRAY(cpus, "one per CPU", TIMES_REST, FIELDS(
			U32(cpu, "CPU number", ROLE(CPU)),
			U32(nr_domains, "number of levels"),
			ARRAY(domains, "one per level", TIMES_OF(nr_domains), FIELDS(
				U32(domain, "level"),
				FSTR(dname, "name of the domain",
				     IF_AT_LEAST(schedstat_version, 17), ROLE(MACHINE)),
				FSTR(cpumask, "CPUs as a mask", ROLE(MACHINE)),
				FSTR(cpulist, "CPUs as a list", ROLE(MACHINE)))))))) } },
	{ PD_FEATURE_E_MACHINE, ROW{ STRUCT(E_MACHINE, "ELF machine", FIELDS(
		ENUM(4, e_machine, "EM_ of elf.h", pd_names_elf_machine),
		X32(e_flags, "e_flags of an ELF header", ROLE(NONE)))) } },
	{ PD_FEATURE_CLN_SIZE,
		ROW{ STRUCT(CLN_SIZE, "cache line size", FIELDS(U32(size, "size in bytes"))) } },
	{ PD_FEATURE_SIMPLEPERF_FILE,
		ROW{ BYTES(SIMPLEPERF_FILE, "files and their symbols", TIMES_REST,
			   ROLE(SYMBOL)) } },
	{ PD_FEATURE_SIMPLEPERF_META_INFO,
	  ROW{ TEXT(SIMPLEPERF_META_INFO, "keys and values, NUL-terminated", TIMES_REST,
		    ROLE(MACHINE)) } },
	{ PD_FEATURE_SIMPLEPERF_DEBUG_UNWIND,
	  ROW{ BYTES(SIMPLEPERF_DEBUG_UNWIND, "settings for debugging unwinding", TIMES_REST,
		     ROLE(NONE)) } },
	{ PD_FEATURE_SIMPLEPERF_DEBUG_UNWIND_FILE,
	  ROW{ BYTES(SIMPLEPERF_DEBUG_UNWIND_FILE, "files for debugging unwinding", TIMES_REST,
		     ROLE(PATH)) } },
	{ PD_FEATURE_SIMPLEPERF_FILE2,
	  ROW{ BYTES(SIMPLEPERF_FILE2, "files and their symbols, as protobufs", TIMES_REST,
		     ROLE(SYMBOL)) } },
	{ PD_FEATURE_PD_SYMBOLS,
		ROW{ STRUCT(PD_SYMBOLS, "names of the addresses in samples", FIELDS(
		U32(version, "of this layout; 2 has inlined functions and lines, 3 "
		    "what unwinds stacks, too"),
		U32(cut, "no time for 1: all addresses, 2: all inlined functions and lines"),
		ARRAY(images, "files, and processes with JIT code", TIMES_INLINE(4), FIELDS(
			S32(pid, "process of the JIT code, -1: none", ROLE(PID)),
			U64(ino, "inode of the file, 0: unknown"),
			SIZED_TEXT(path, "path as in the map records", 4, ROLE(PATH)),
			BYTES(build_id, "build id as in the map records", TIMES_INLINE(4),
			      ROLE(BUILD_ID)),
			ARRAY(functions, "functions that were hit", TIMES_INLINE(4), FIELDS(
				X64(base, "where it begins, as an address like those below",
				    ROLE(CODE_ADDRESS)),
				X64(extent, "without a name: where it begins in the image, -1: "
				    "unknown", ROLE(CODE_ADDRESS)),
				U32(why, "without a name: the reason, by number"),
				SIZED_TEXT(name, "name in the symbol table, empty: none", 4,
					   ROLE(SYMBOL)))),
			U32(nr_addresses, "number of addresses"),
			NUMBERS(8, PD_HEX, addresses, "offsets in the file, sorted; of the kernel "
				"and JIT code addresses", TIMES_OF(nr_addresses),
				ROLE(CODE_ADDRESS)),
			NUMBERS(4, PD_DEC, hits, "index in functions, by address",
				TIMES_OF(nr_addresses), ROLE(NONE)),
			U32(nr_times, "number of times: none, or one per address"),
			NUMBERS(8, PD_DEC, times, "when that code was written, in ns",
				TIMES_OF(nr_times), ROLE(TIME)),
			GROUP(FIELDS(BUNDLE_CALL_ROWS), IF_AT_LEAST(version, 2)),
			GROUP(FIELDS(BUNDLE_ROW_ROWS), IF_AT_LEAST(version, 3)))))) } },
};

#define NR_FEATURES (sizeof(features) / sizeof(*features))

const struct pd_feature_desc *pd_feature_desc_at(size_t i)
{
	return i < NR_FEATURES ? &features[i] : NULL;
}

const struct pd_feature_desc *pd_feature_desc(uint32_t id)
{
	for (size_t i = 0; i < NR_FEATURES; i++)
		if (features[i].id == id)
			return &features[i];
	return NULL;
}
