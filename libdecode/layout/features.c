/* features.c - the header's feature sections (perf.data-file-format.txt, perf's util/header.c), by their bit.
 *
 * In pipe mode the same bytes come inside HEADER_FEATURE records. Text has a length that perf rounds up to 64.
 */
#include "layout/desc.h"
#include "layout/names_tables.h"

#define BUILD_ID_SIZE_VALID (1 << 15)

/* Before 2.6.34 the records had no pid, and the kernel's name stands 4 bytes earlier: "[kernel.kallsyms]" is cut. */
static bool build_ids_without_pid(struct pd_bytes body, size_t at, enum pd_swap swap)
{
	static const char cut[] = "nel.kallsyms]";

	(void)at, (void)swap;
	return body.size >= 36 + sizeof(cut) && memcmp(body.data + 36, cut, sizeof(cut)) == 0;
}

/* simpleperf writes the pairs without their number. */
static bool auxtrace_without_count(struct pd_bytes body, size_t at, enum pd_swap swap)
{
	(void)at;
	return body.size < 8 || (body.size - 8) / 16 != pd_load64(body.data, swap) || body.size % 16 != 8;
}

static const struct pd_name byte_orders[] = { { 0, "little" }, { 1, "big" }, { 0, NULL } };

#define BUILD_ID_ITEM \
	U32(record_type, "0, or 67 from simpleperf"), \
	U16(misc, "whose file, and whether build_id_size counts"), \
	U16(size, "bytes of this item"), \
	GROUP(FIELDS( \
		S32(pid, "-1: the kernel, 0: a guest's", ROLE(PID)), \
		GROUP(.fields = pd_build_id_fields)), \
		UNLESS_TEST(build_ids_without_pid)), \
	GROUP(FIELDS( \
		AREA(24, build_id, "of the file", TIMES(0), ROLE(BUILD_ID))), \
		IF_TEST(build_ids_without_pid)), \
	CSTR(filename, "the file", ROLE(PATH))

#define STRINGS(n, d, r, ...) ARRAY(n, d, TIMES_INLINE(4), FIELDS({ ELEMENT, .kind = PD_FSTR, r }), __VA_ARGS__)
#define NAME_VALUE FIELDS(FSTR(name, "which", ROLE(MACHINE)), FSTR(value, "as the PMU says", ROLE(MACHINE)))
#define SIZED_TEXT(n, d, w, ...) TEXT(n, d, TIMES_INLINE(w), __VA_ARGS__)
#define FORMATS(n, d) ARRAY(n, d, TIMES_INLINE(4), FIELDS({ ELEMENT, .kind = PD_TEXT, TIMES_INLINE(8), ROLE(NONE) }))

static const struct pd_bits bpf_licence[] = {
	BIT(gpl_compatible, 0, 1),
	BIT_RESERVED(1, 31),
	{ .name = NULL },
};

/* struct bpf_prog_info of linux/bpf.h. Its pointers are offsets into the data that follow, where `arrays` says so. */
#define BPF_INFO_ROWS \
	ENUM(4, type, "what it may be attached to", pd_names_bpf_prog_type, IF_LEFT(4)), \
	U32(id, "the program's id", IF_LEFT(4)), \
	BYTES(tag, "hash of its instructions", TIMES(8), IF_LEFT(8), ROLE(BUILD_ID)), \
	U32(jited_prog_len, "bytes of machine code", IF_LEFT(4)), \
	U32(xlated_prog_len, "bytes of BPF code", IF_LEFT(4)), \
	X64(jited_prog_insns, "place of the machine code", IF_LEFT(8), ROLE(NONE)), \
	X64(xlated_prog_insns, "place of the BPF code", IF_LEFT(8), ROLE(NONE)), \
	U64(load_time, "ns since boot", IF_LEFT(8)), \
	U32(created_by_uid, "user", IF_LEFT(4), ROLE(UID)), \
	U32(nr_map_ids, "maps it uses", IF_LEFT(4)), \
	X64(map_ids, "place of their ids", IF_LEFT(8), ROLE(NONE)), \
	CHARS(16, name, "the program's", IF_LEFT(16), ROLE(SYMBOL)), \
	U32(ifindex, "network device it is bound to", IF_LEFT(4)), \
	BITS(4, PD_BITS, licence, "bit-fields", .bits = bpf_licence, .msb_first = true, IF_LEFT(4)), \
	U64(netns_dev, "device of the inode of its network namespace", IF_LEFT(8)), \
	U64(netns_ino, "that inode", IF_LEFT(8)), \
	U32(nr_jited_ksyms, "functions", IF_LEFT(4)), \
	U32(nr_jited_func_lens, "functions", IF_LEFT(4)), \
	X64(jited_ksyms, "place of their addresses", IF_LEFT(8), ROLE(NONE)), \
	X64(jited_func_lens, "place of their lengths", IF_LEFT(8), ROLE(NONE)), \
	U32(btf_id, "its types: feature BPF_BTF", IF_LEFT(4)), \
	U32(func_info_rec_size, "bytes of an entry of func_info", IF_LEFT(4)), \
	X64(func_info, "place of what BTF says of its functions", IF_LEFT(8), ROLE(NONE)), \
	U32(nr_func_info, "entries", IF_LEFT(4)), \
	U32(nr_line_info, "entries", IF_LEFT(4)), \
	X64(line_info, "place of what BTF says of its lines", IF_LEFT(8), ROLE(NONE)), \
	X64(jited_line_info, "place of the addresses of its lines", IF_LEFT(8), ROLE(NONE)), \
	U32(nr_jited_line_info, "entries", IF_LEFT(4)), \
	U32(line_info_rec_size, "bytes of an entry of line_info", IF_LEFT(4)), \
	U32(jited_line_info_rec_size, "bytes of an entry of jited_line_info", IF_LEFT(4)), \
	U32(nr_prog_tags, "tags", IF_LEFT(4)), \
	X64(prog_tags, "place of the tags of its functions", IF_LEFT(8), ROLE(NONE)), \
	U64(run_time_ns, "ns it ran, where that is counted", IF_LEFT(8)), \
	U64(run_cnt, "times it ran", IF_LEFT(8)), \
	U64(recursion_misses, "runs left out: it was running already", IF_LEFT(8)), \
	U32(verified_insns, "instructions the verifier went through", IF_LEFT(4)), \
	U32(attach_btf_obj_id, "BTF of what it is attached to", IF_LEFT(4)), \
	U32(attach_btf_id, "type in that BTF", IF_LEFT(4)), \
	PAD(TIMES_REST_MOD(8), IF_LEFT(1))
#define X32(n, d, ...) NUMBER(4, PD_HEX, n, d, __VA_ARGS__)
#define IF_ARRAY(bit) IF_MASK(arrays, 1 << bit)

#define BPF_DATA_ROWS \
	BYTES(jited_insns, "machine code", TIMES_OF(info.jited_prog_len), IF_ARRAY(0), .blob = PD_BLOB_LARGE, ROLE(CODE_BYTES)), \
	PAD(TIMES_ALIGN(8)), \
	BYTES(xlated_insns, "BPF code", TIMES_OF(info.xlated_prog_len), IF_ARRAY(1), .blob = PD_BLOB_LARGE, ROLE(CODE_BYTES)), \
	PAD(TIMES_ALIGN(8)), \
	NUMBERS(4, PD_DEC, map_ids, "maps it uses", TIMES_OF(info.nr_map_ids), IF_ARRAY(2)), \
	PAD(TIMES_ALIGN(8)), \
	NUMBERS(8, PD_HEX, jited_ksyms, "addresses of its functions", TIMES_OF(info.nr_jited_ksyms), IF_ARRAY(3), \
		ROLE(CODE_ADDRESS)), \
	NUMBERS(4, PD_DEC, jited_func_lens, "bytes of its functions", TIMES_OF(info.nr_jited_func_lens), IF_ARRAY(4)), \
	PAD(TIMES_ALIGN(8)), \
	BYTES(func_info, "struct bpf_func_info", TIMES_PRODUCT(info.nr_func_info, info.func_info_rec_size), \
	      IF_ARRAY(5), .blob = PD_BLOB_LARGE, ROLE(NONE)), \
	PAD(TIMES_ALIGN(8)), \
	BYTES(line_info, "struct bpf_line_info", TIMES_PRODUCT(info.nr_line_info, info.line_info_rec_size), \
	      IF_ARRAY(6), .blob = PD_BLOB_LARGE, ROLE(NONE)), \
	PAD(TIMES_ALIGN(8)), \
	BYTES(jited_line_info, "addresses of lines", \
	      TIMES_PRODUCT(info.nr_jited_line_info, info.jited_line_info_rec_size), IF_ARRAY(7), \
	      .blob = PD_BLOB_LARGE, ROLE(CODE_ADDRESS)), \
	PAD(TIMES_ALIGN(8)), \
	ARRAY(prog_tags, "tags of its functions", TIMES_OF(info.nr_prog_tags), \
	      FIELDS({ ELEMENT, .kind = PD_BYTES, TIMES(8), ROLE(BUILD_ID) }), IF_ARRAY(8))

#define ROW (const struct pd_field[2])	/* the second is PD_END */
static const struct pd_feature_desc features[] = {
	{ PD_FEATURE_TRACING_DATA, ROW{ STRUCT(TRACING_DATA, "tracepoint formats (perf's trace-event-info.c)", FIELDS(
		LITERAL("\x17\x08\x44tracing", 10),
		ZSTR(version, "0.5 or 0.6", ROLE(NONE)),
		{ PD_KEY(byte_order), .kind = PD_UINT, .width = 1, .show = PD_ORDER, .names = byte_orders,
		  .doc = "of what follows" },
		U8(long_size, "bytes of a long on the recording machine"),
		U32(page_size, "bytes"),
		LITERAL("header_page", 12),
		SIZED_TEXT(header_page, "format of a ring buffer page", 8, ROLE(NONE)),
		LITERAL("header_event", 13),
		SIZED_TEXT(header_event, "format of a ring buffer event", 8, ROLE(NONE)),
		FORMATS(ftrace_formats, "formats of ftrace's own events"),
		ARRAY(systems, "tracepoints by system", TIMES_INLINE(4), FIELDS(
			ZSTR(name, "the system", ROLE(EVENT_NAME)),
			FORMATS(formats, "formats, as tracefs shows them"))),
		SIZED_TEXT(kallsyms, "kernel symbols", 4, ROLE(SYMBOL)),
		SIZED_TEXT(printk_formats, "format strings", 4, ROLE(NONE)),
		SIZED_TEXT(cmdlines, "pids and names", 8, .when = { .left = 8 }, ROLE(COMM)),
		PAD(TIMES_REST))) } },
	{ PD_FEATURE_BUILD_ID, ROW{ ARRAY(BUILD_ID, "build ids of the files in the maps", TIMES_REST, FIELDS(
		GROUP(FIELDS(BUILD_ID_ITEM), EXTENT_OWN(size, 0)))) } },
	{ PD_FEATURE_HOSTNAME, ROW{ FSTR(HOSTNAME, "uname -n", ROLE(HOST)) } },
	{ PD_FEATURE_OSRELEASE, ROW{ FSTR(OSRELEASE, "uname -r", ROLE(MACHINE)) } },
	{ PD_FEATURE_VERSION, ROW{ FSTR(VERSION, "of perf", ROLE(NONE)) } },
	{ PD_FEATURE_ARCH, ROW{ FSTR(ARCH, "uname -m", ROLE(MACHINE)) } },
	{ PD_FEATURE_NRCPUS, ROW{ STRUCT(NRCPUS, "cpus", FIELDS(
		U32(available, "configured"),
		U32(online, "running"))) } },
	{ PD_FEATURE_CPUDESC, ROW{ FSTR(CPUDESC, "the cpu's name", ROLE(MACHINE)) } },
	{ PD_FEATURE_CPUID, ROW{ FSTR(CPUID, "vendor, family, model, stepping; or the like", ROLE(MACHINE)) } },
	{ PD_FEATURE_TOTAL_MEM, ROW{ U64(TOTAL_MEM, "KiB") } },
	{ PD_FEATURE_CMDLINE, ROW{ STRINGS(CMDLINE, "perf's arguments", ROLE(ARGUMENTS)) } },
	{ PD_FEATURE_EVENT_DESC, ROW{ STRUCT(EVENT_DESC, "the events, with names", FIELDS(
		U32(nr, "how many"),
		U32(attr_size, "bytes of each attr"),
		ARRAY(events, "an event each", TIMES_OF(nr), FIELDS(
			GROUP(.fields = pd_file_attr_fields, EXTENT_OF(attr_size)),
			U32(nr_ids, "how many ids"),
			FSTR(name, "the event's", ROLE(EVENT_NAME)),
			NUMBERS(8, PD_DEC, ids, "the event's", TIMES_OF(nr_ids), ROLE(EVENT_ID)))))) } },
	{ PD_FEATURE_CPU_TOPOLOGY, ROW{ STRUCT(CPU_TOPOLOGY, "how cpus share cores and packages", FIELDS(
		STRINGS(sibling_cores, "cpu lists of packages", ROLE(MACHINE)),
		STRINGS(sibling_threads, "cpu lists of cores", ROLE(MACHINE)),
		ARRAY(cpus, "by cpu number", TIMES_CPUS, FIELDS(
			S32(core_id, "-1: offline"),
			S32(socket_id, "-1: offline")), IF_LEFT(8)),
		STRINGS(sibling_dies, "cpu lists of dies", ROLE(MACHINE), .when = { .left = 4 }),
		NUMBERS(4, PD_SIGNED, die_ids, "by cpu number", TIMES_CPUS, IF_LEFT(4)))) } },
	{ PD_FEATURE_NUMA_TOPOLOGY, ROW{ ARRAY(NUMA_TOPOLOGY, "memory nodes", TIMES_INLINE(4), FIELDS(
		U32(node, "number"),
		U64(mem_total, "KiB"),
		U64(mem_free, "KiB"),
		FSTR(cpus, "cpu list", ROLE(MACHINE)))) } },
	{ PD_FEATURE_BRANCH_STACK, ROW{ STRUCT(BRANCH_STACK, "there are branch stacks", FIELDS({ .kind = PD_END })) } },
	{ PD_FEATURE_PMU_MAPPINGS, ROW{ ARRAY(PMU_MAPPINGS, "PMUs by attr type", TIMES_INLINE(4), FIELDS(
		U32(type, "as in attr.type"),
		FSTR(name, "the PMU", ROLE(MACHINE)))) } },
	{ PD_FEATURE_GROUP_DESC, ROW{ ARRAY(GROUP_DESC, "groups of events", TIMES_INLINE(4), FIELDS(
		FSTR(name, "{anon_group} when it has none", ROLE(EVENT_NAME)),
		U32(leader_idx, "index of its leader in attrs"),
		U32(nr_members, "events in it"))) } },
	{ PD_FEATURE_AUXTRACE, ROW{ STRUCT(AUXTRACE, "where AUXTRACE records lie", FIELDS(
		GROUP(FIELDS(U64(nr, "how many")), UNLESS_TEST(auxtrace_without_count)),
		ARRAY(entries, "a record each", TIMES_REST, FIELDS(
			U64(file_offset, "of the record"),
			U64(size, "of the record's header"))))) } },
	{ PD_FEATURE_STAT, ROW{ STRUCT(STAT, "perf stat wrote this", FIELDS({ .kind = PD_END })) } },
	{ PD_FEATURE_CACHE, ROW{ STRUCT(CACHE, "cpu caches", FIELDS(
		U32(version, "of this layout"),
		ARRAY(caches, "a cache each", TIMES_INLINE(4), FIELDS(
			U32(level, "1: nearest"),
			U32(line_size, "bytes"),
			U32(sets, "how many"),
			U32(ways, "of associativity"),
			FSTR(type, "Data, Instruction, Unified", ROLE(MACHINE)),
			FSTR(size, "as sysfs says", ROLE(MACHINE)),
			FSTR(map, "cpu list", ROLE(MACHINE)))))) } },
	{ PD_FEATURE_SAMPLE_TIME, ROW{ STRUCT(SAMPLE_TIME, "time span of the samples", FIELDS(
		U64(first, "ns", ROLE(TIME)),
		U64(last, "ns", ROLE(TIME)))) } },
	{ PD_FEATURE_MEM_TOPOLOGY, ROW{ STRUCT(MEM_TOPOLOGY, "memory blocks by node", FIELDS(
		U64(version, "of this layout"),
		U64(block_size, "bytes"),
		ARRAY(nodes, "a node each", TIMES_INLINE(8), FIELDS(
			U64(node, "number"),
			U64(size, "blocks"),
			U64(nbits, "bits that follow"),
			NUMBERS(8, PD_HEX, bits, "which blocks", TIMES_WORDS(nbits, 64), ROLE(NONE)))))) } },
	{ PD_FEATURE_CLOCKID, ROW{ U64(CLOCKID, "resolution of the clock in ns (its id is attr.clockid)") } },
	{ PD_FEATURE_DIR_FORMAT, ROW{ U64(DIR_FORMAT, "1: data lie in a directory") } },
	{ PD_FEATURE_BPF_PROG_INFO, ROW{ ARRAY(BPF_PROG_INFO, "BPF programs", TIMES_INLINE(4), FIELDS(
		U32(info_len, "bytes of info"),
		U32(data_len, "bytes of what follows it"),
		X64(arrays, "which arrays follow", ROLE(NONE)),
		STRUCT(info, "struct bpf_prog_info", FIELDS(BPF_INFO_ROWS), EXTENT_OF(info_len)),
		STRUCT(data, "the arrays", FIELDS(BPF_DATA_ROWS), EXTENT_OF(data_len)))) } },
	{ PD_FEATURE_BPF_BTF, ROW{ ARRAY(BPF_BTF, "BPF type information", TIMES_INLINE(4), FIELDS(
		U32(id, "as in btf_id"),
		U32(data_size, "bytes"),
		BYTES(data, "BTF", TIMES_OF(data_size), .blob = PD_BLOB_LARGE, ROLE(NONE)))) } },
	{ PD_FEATURE_COMPRESSED, ROW{ STRUCT(COMPRESSED, "how records were compressed", FIELDS(
		U32(version, "0"),
		ENUM(4, type, "codec", pd_names_compression),
		U32(level, "of compression"),
		U32(ratio, "reached"),
		U32(mmap_len, "bytes of perf's buffers"))) } },
	{ PD_FEATURE_CPU_PMU_CAPS, ROW{ ARRAY(CPU_PMU_CAPS, "what the cpu's PMU can", TIMES_INLINE(4), NAME_VALUE) } },
	{ PD_FEATURE_CLOCK_DATA, ROW{ STRUCT(CLOCK_DATA, "one moment on two clocks", FIELDS(
		U32(version, "of this layout"),
		ENUM(4, clockid, "the clock of the samples", pd_names_clockid),
		U64(wall_clock_ns, "by the wall clock"),
		U64(clockid_time_ns, "by the clock of the samples", ROLE(TIME)))) } },
	{ PD_FEATURE_HYBRID_TOPOLOGY, ROW{ ARRAY(HYBRID_TOPOLOGY, "which PMU has which cpus", TIMES_INLINE(4), FIELDS(
		FSTR(pmu_name, "the PMU", ROLE(MACHINE)),
		FSTR(cpus, "cpu list", ROLE(MACHINE)))) } },
	{ PD_FEATURE_PMU_CAPS, ROW{ ARRAY(PMU_CAPS, "what the PMUs can", TIMES_INLINE(4), FIELDS(
		ARRAY(caps, "a capability each", TIMES_INLINE(4), NAME_VALUE),
		FSTR(pmu_name, "the PMU", ROLE(MACHINE)))) } },
	{ PD_FEATURE_CPU_DOMAIN_INFO, ROW{ STRUCT(CPU_DOMAIN_INFO, "scheduler domains", FIELDS(
		U32(schedstat_version, "of /proc/schedstat"),
		U32(max_sched_domains, "levels, and one"),
		ARRAY(cpus, "a cpu each", TIMES_REST, FIELDS(
			U32(cpu, "number", ROLE(CPU)),
			U32(nr_domains, "levels"),
			ARRAY(domains, "a level each", TIMES_OF(nr_domains), FIELDS(
				U32(domain, "level"),
				FSTR(dname, "its name", IF_AT_LEAST(schedstat_version, 17), ROLE(MACHINE)),
				FSTR(cpumask, "as a mask", ROLE(MACHINE)),
				FSTR(cpulist, "as a list", ROLE(MACHINE)))))))) } },
	{ PD_FEATURE_E_MACHINE, ROW{ STRUCT(E_MACHINE, "ELF machine", FIELDS(
		ENUM(4, e_machine, "EM_ of elf.h", pd_names_elf_machine),
		X32(e_flags, "as in an ELF header", ROLE(NONE)))) } },
	{ PD_FEATURE_CLN_SIZE, ROW{ STRUCT(CLN_SIZE, "cache line", FIELDS(U32(size, "bytes"))) } },
	{ PD_FEATURE_SIMPLEPERF_FILE, ROW{ BYTES(SIMPLEPERF_FILE, "files and their symbols", TIMES_REST, ROLE(SYMBOL)) } },
	{ PD_FEATURE_SIMPLEPERF_META_INFO,
	  ROW{ TEXT(SIMPLEPERF_META_INFO, "keys and values, each with its NUL", TIMES_REST, ROLE(MACHINE)) } },
	{ PD_FEATURE_SIMPLEPERF_DEBUG_UNWIND,
	  ROW{ BYTES(SIMPLEPERF_DEBUG_UNWIND, "how unwinding is to be debugged", TIMES_REST, ROLE(NONE)) } },
	{ PD_FEATURE_SIMPLEPERF_DEBUG_UNWIND_FILE,
	  ROW{ BYTES(SIMPLEPERF_DEBUG_UNWIND_FILE, "files for that", TIMES_REST, ROLE(PATH)) } },
	{ PD_FEATURE_SIMPLEPERF_FILE2,
	  ROW{ BYTES(SIMPLEPERF_FILE2, "files and their symbols, as protobufs", TIMES_REST, ROLE(SYMBOL)) } },
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
