/* tables.c - the tables and their columns: what every format, the definitions for SQL and the
 * documentation are made from. */
#include "tables/tables.h"

#include <string.h>

#include "base/argument.h"

#define REQUIRED(name, type, doc) { name, type, PC_REQUIRED, 0, 0, doc }
#define NULLABLE(name, type, doc) { name, type, PC_NULLABLE, 0, 0, doc }
#define GROUPED(group, name, type, doc) { name, type, PC_NULLABLE, group, 0, doc }
#define BRANCH(name, type, doc) \
	{ name, type, PC_REQUIRED, PC_GROUP_BRANCH, PC_SAMPLES_BRANCH, doc }
#define COUNT(name, type, doc) \
	{ name, type, PC_REQUIRED, PC_GROUP_READ, PC_SAMPLES_COUNTS, doc }
#define TABLE(name, columns, doc) \
	{ name, columns, sizeof(columns) / sizeof((columns)[0]), doc }

#define FILE_ID \
	[PC_FILE_ID] = NULLABLE("file_id", PC_TEXT, "identity of the input, as the caller gives it")

#define SIDE_BAND \
	FILE_ID, \
	[PC_SIDE_TIME] = NULLABLE("time", PC_INT64, "ns of the recording's clock"), \
	[PC_SIDE_PID] = NULLABLE("pid", PC_INT32, "process"), \
	[PC_SIDE_TID] = NULLABLE("tid", PC_INT32, "thread"), \
	[PC_SIDE_CPU] = NULLABLE("cpu", PC_INT32, "CPU")

/* Pids and tids are those of the machine. */
#define MACHINE_PID \
	NULLABLE("machine_pid", PC_INT32, "process of the virtual machine; NULL: the host")

static const struct pc_column files[] = {
	FILE_ID,
	[PC_FILES_PATH] = NULLABLE("path", PC_TEXT, "name of the input"),
	[PC_FILES_SIZE] = NULLABLE("size", PC_INT64, "bytes; NULL: a stream"),
	[PC_FILES_HOST] = NULLABLE("host", PC_TEXT, "feature HOSTNAME"),
	[PC_FILES_OS_RELEASE] = NULLABLE("os_release", PC_TEXT, "feature OSRELEASE"),
	[PC_FILES_ARCH] = NULLABLE("arch", PC_TEXT, "feature ARCH"),
	[PC_FILES_CPU_DESC] = NULLABLE("cpu_desc", PC_TEXT, "feature CPUDESC"),
	[PC_FILES_PERF_VERSION] = NULLABLE("perf_version", PC_TEXT, "feature VERSION"),
	[PC_FILES_CMDLINE] = NULLABLE("cmdline", PC_TEXT_LIST, "feature CMDLINE"),
	[PC_FILES_MODE] = REQUIRED("mode", PC_TEXT, "file, pipe or directory"),
	[PC_FILES_BYTE_ORDER] = REQUIRED("byte_order", PC_TEXT, "little or big"),
	[PC_FILES_COMPLETE] = REQUIRED("complete", PC_BOOL, "false: unfinished, or cut off"),
	[PC_FILES_FIRST_TIME] = NULLABLE("first_time", PC_INT64, "least time of a sample"),
	[PC_FILES_LAST_TIME] = NULLABLE("last_time", PC_INT64, "largest time of a sample"),
	[PC_FILES_SAMPLES] = REQUIRED("samples", PC_INT64, "rows of samples"),
	[PC_FILES_LOST] = REQUIRED("lost", PC_INT64, "records that LOST counts"),
	[PC_FILES_LOST_SAMPLES] = REQUIRED("lost_samples", PC_INT64,
					   "samples that LOST_SAMPLES counts"),
	[PC_FILES_THROTTLED] = REQUIRED("throttled", PC_INT64, "THROTTLE records"),
	[PC_FILES_ERRORS] = REQUIRED("errors", PC_INT64, "damaged parts; notes are not counted"),
	[PC_FILES_STATUS] = REQUIRED("status", PC_TEXT, "ok, damaged or unreadable"),
	[PC_FILES_WEIGHT] = REQUIRED("weight", PC_DOUBLE,
				     "1 / probability that the recording was made"),
	[PC_FILES_SCHEMA] = REQUIRED("schema", PC_INT32, "number of this schema"),
	[PC_FILES_TOOL_VERSION] = REQUIRED("tool_version", PC_TEXT, "version of the library"),
	[PC_FILES_CLOCK] = NULLABLE("clock", PC_TEXT, "of times: MONOTONIC, ...; NULL: perf's own"),
	[PC_FILES_WALL_OFFSET_NS] = NULLABLE("wall_offset_ns", PC_INT64,
					     "added to a time: ns since 1970 UTC; NULL: unknown"),
};

static const struct pc_column events[] = {
	FILE_ID,
	[PC_EVENTS_EVENT] = REQUIRED("event", PC_INT32, "number of the event"),
	[PC_EVENTS_NAME] = REQUIRED("name", PC_TEXT, "name, with its modifiers"),
	[PC_EVENTS_TYPE] = NULLABLE("type", PC_TEXT, "attr.type: a name, or a number of a PMU"),
	[PC_EVENTS_CONFIG] = NULLABLE("config", PC_UINT64, "attr.config"),
	[PC_EVENTS_SAMPLE_PERIOD] = NULLABLE("sample_period", PC_INT64, "NULL: a frequency"),
	[PC_EVENTS_SAMPLE_FREQ] = NULLABLE("sample_freq", PC_INT64, "NULL: a period"),
	[PC_EVENTS_SAMPLE_TYPE] = NULLABLE("sample_type", PC_TEXT_LIST, "names of its bits"),
	[PC_EVENTS_FLAGS] = NULLABLE("flags", PC_TEXT_LIST, "names of attr.flags that are set"),
	[PC_EVENTS_IDS] = REQUIRED("ids", PC_INT64_LIST, "ids in records; two's complement"),
	[PC_EVENTS_JSON] = NULLABLE("json", PC_LONG_TEXT, "all of it, as pdecode writes it"),
	[PC_EVENTS_USER_REGS] = NULLABLE("user_regs", PC_TEXT_LIST,
					 "names of the registers in samples.user_regs"),
	[PC_EVENTS_INTR_REGS] = NULLABLE("intr_regs", PC_TEXT_LIST,
					 "names of the registers in samples.intr_regs"),
	[PC_EVENTS_GROUP_LEADER] = NULLABLE("group_leader", PC_INT32,
					    "event that leads its group; NULL: in none"),
};

static const struct pc_column samples[] = {
	FILE_ID,
	[PC_SAMPLES_TIME] = NULLABLE("time", PC_INT64, "ns of the recording's clock"),
	[PC_SAMPLES_CPU] = NULLABLE("cpu", PC_INT32, "CPU"),
	[PC_SAMPLES_PID] = NULLABLE("pid", PC_INT32, "process"),
	[PC_SAMPLES_TID] = NULLABLE("tid", PC_INT32, "thread"),
	[PC_SAMPLES_EVENT] = NULLABLE("event", PC_INT32, "number in events"),
	[PC_SAMPLES_EVENT_NAME] = NULLABLE("event_name", PC_TEXT, "name of the event"),
	[PC_SAMPLES_COMM] = NULLABLE("comm", PC_TEXT, "name of the thread at this time"),
	[PC_SAMPLES_CPUMODE] = NULLABLE("cpumode", PC_TEXT, "as in the JSON"),
	[PC_SAMPLES_FRAME] = NULLABLE("frame", PC_INT32, "number in frames, of ip"),
	[PC_SAMPLES_STACK] = NULLABLE("stack", PC_INT32, "number in stacks; NULL: no callchain"),
	[PC_SAMPLES_PERIOD] = NULLABLE("period", PC_INT64,
				       "what the sample counts; NULL: not recorded"),
	[PC_SAMPLES_WEIGHT] = NULLABLE("weight", PC_INT64, "weight, or var1_dw"),
	[PC_SAMPLES_CGROUP] = NULLABLE("cgroup", PC_TEXT, "path of the cgroup"),
	[PC_SAMPLES_ADDR] = GROUPED(PC_GROUP_ADDR, "addr", PC_UINT64, "address of data"),
	[PC_SAMPLES_PHYS_ADDR] = GROUPED(PC_GROUP_ADDR, "phys_addr", PC_UINT64, "its place"),
	[PC_SAMPLES_DATA_PAGE_SIZE] = GROUPED(PC_GROUP_ADDR, "data_page_size", PC_INT64, "bytes"),
	[PC_SAMPLES_CODE_PAGE_SIZE] = GROUPED(PC_GROUP_ADDR, "code_page_size", PC_INT64, "bytes"),
	[PC_SAMPLES_IP] = GROUPED(PC_GROUP_RAW, "ip", PC_UINT64, "address of the instruction"),
	[PC_SAMPLES_CALLCHAIN] = GROUPED(PC_GROUP_RAW, "callchain", PC_UINT64_LIST,
					 "addresses and markers, as recorded"),
	[PC_SAMPLES_OFFSET] = GROUPED(PC_GROUP_OFFSET, "offset", PC_INT64,
				      "place of the record in the input"),
	[PC_SAMPLES_WALL_NS] = GROUPED(PC_GROUP_WALL, "wall_ns", PC_INT64, "ns since 1970 UTC"),
	[PC_SAMPLES_MACHINE_PID] = MACHINE_PID,
	[PC_SAMPLES_RAW] = GROUPED(PC_GROUP_RAW, "raw", PC_BYTES, "what the event wrote"),
	[PC_SAMPLES_DATA_SRC] = GROUPED(PC_GROUP_MEM, "data_src", PC_UINT64,
					"source of the data, as recorded"),
	[PC_SAMPLES_MEM_OP] = GROUPED(PC_GROUP_MEM, "mem_op", PC_TEXT, "LOAD, STORE, ..."),
	[PC_SAMPLES_MEM_LVL] = GROUPED(PC_GROUP_MEM, "mem_lvl", PC_TEXT,
				       "where the data was: HIT|L1"),
	[PC_SAMPLES_MEM_SNOOP] = GROUPED(PC_GROUP_MEM, "mem_snoop", PC_TEXT, "NONE, HITM, ..."),
	[PC_SAMPLES_MEM_LOCK] = GROUPED(PC_GROUP_MEM, "mem_lock", PC_TEXT, "LOCKED"),
	[PC_SAMPLES_MEM_TLB] = GROUPED(PC_GROUP_MEM, "mem_tlb", PC_TEXT, "HIT|L1|L2"),
	[PC_SAMPLES_MEM_HOPS] = GROUPED(PC_GROUP_MEM, "mem_hops", PC_TEXT, "how far away"),
	[PC_SAMPLES_INS_LAT] = GROUPED(PC_GROUP_MEM, "ins_lat", PC_INT32,
				       "weight_struct.var2_w, on x86 the instruction's latency"),
	[PC_SAMPLES_RETIRE_LAT] = GROUPED(PC_GROUP_MEM, "retire_lat", PC_INT32,
					  "weight_struct.var3_w, on x86 cycles until it retired"),
	[PC_SAMPLES_TRANSACTION] = GROUPED(PC_GROUP_MEM, "transaction", PC_UINT64,
					   "end of a transaction, as recorded"),
	[PC_SAMPLES_BRANCH] = GROUPED(PC_GROUP_BRANCH, "branch", PC_STRUCT_LIST,
				      "branches, newest first"),
	[PC_SAMPLES_BRANCH_FROM] = BRANCH("from", PC_UINT64, "address of the branch"),
	[PC_SAMPLES_BRANCH_TO] = BRANCH("to", PC_UINT64, "its target"),
	[PC_SAMPLES_BRANCH_MISPRED] = BRANCH("mispred", PC_BOOL, "mispredicted"),
	[PC_SAMPLES_BRANCH_PREDICTED] = BRANCH("predicted", PC_BOOL, "predicted; neither: unknown"),
	[PC_SAMPLES_BRANCH_IN_TX] = BRANCH("in_tx", PC_BOOL, "in a transaction"),
	[PC_SAMPLES_BRANCH_ABORT] = BRANCH("abort", PC_BOOL, "it aborted a transaction"),
	[PC_SAMPLES_BRANCH_CYCLES] = BRANCH("cycles", PC_INT32, "since the branch before"),
	[PC_SAMPLES_BRANCH_TYPE] = BRANCH("type", PC_TEXT, "COND, CALL, RET, ..."),
	[PC_SAMPLES_BRANCH_SPEC] = BRANCH("spec", PC_TEXT, "outcome of speculation"),
	[PC_SAMPLES_TIME_ENABLED] = GROUPED(PC_GROUP_READ, "time_enabled", PC_INT64,
					    "ns that the event was enabled"),
	[PC_SAMPLES_TIME_RUNNING] = GROUPED(PC_GROUP_READ, "time_running", PC_INT64,
					    "ns that it counted"),
	[PC_SAMPLES_COUNTS] = GROUPED(PC_GROUP_READ, "counts", PC_STRUCT_LIST,
				      "counts of the event, or of its group"),
	[PC_SAMPLES_COUNTS_EVENT] = COUNT("event", PC_INT32, "number in events; -1: not recorded"),
	[PC_SAMPLES_COUNTS_VALUE] = COUNT("value", PC_INT64, "the count"),
	[PC_SAMPLES_USER_ABI] = GROUPED(PC_GROUP_REGS, "user_abi", PC_TEXT, "word size: 32, 64"),
	[PC_SAMPLES_USER_REGS] = GROUPED(PC_GROUP_REGS, "user_regs", PC_UINT64_LIST,
					 "registers in user space; events.user_regs has names"),
	[PC_SAMPLES_INTR_ABI] = GROUPED(PC_GROUP_REGS, "intr_abi", PC_TEXT, "word size: 32, 64"),
	[PC_SAMPLES_INTR_REGS] = GROUPED(PC_GROUP_REGS, "intr_regs", PC_UINT64_LIST,
					 "registers at the interrupt; events.intr_regs has names"),
	[PC_SAMPLES_DYN_SIZE] = GROUPED(PC_GROUP_STACK, "dyn_size", PC_INT64,
					"valid bytes of user_stack"),
	[PC_SAMPLES_USER_STACK] = GROUPED(PC_GROUP_STACK, "user_stack", PC_BYTES,
					  "from the stack pointer upwards"),
	[PC_SAMPLES_FIELDS] = GROUPED(PC_GROUP_TRACEPOINTS, "fields", PC_LONG_TEXT,
				      "fields of the tracepoint, a JSON object"),
};

static const struct pc_column stacks[] = {
	FILE_ID,
	[PC_STACKS_STACK] = REQUIRED("stack", PC_INT32, "number of the stack"),
	[PC_STACKS_FRAMES] = REQUIRED("frames", PC_INT32_LIST,
				      "numbers in frames, innermost first, with markers"),
	[PC_STACKS_DEPTH] = REQUIRED("depth", PC_INT32, "frames that are no markers"),
};

static const struct pc_column frames[] = {
	FILE_ID,
	[PC_FRAMES_FRAME] = REQUIRED("frame", PC_INT32, "number of the frame"),
	[PC_FRAMES_KIND] = REQUIRED("kind", PC_TEXT, "user, kernel, guest_user, guest_kernel, "
				    "hypervisor, unknown; marker, cookie; unmapped"),
	[PC_FRAMES_OBJECT] = NULLABLE("object", PC_INT32, "number in objects"),
	[PC_FRAMES_OFFSET] = NULLABLE("offset", PC_INT64, "address - map.start + map.pgoff; "
				      "without an object the address, in two's complement"),
	[PC_FRAMES_EXACT] = NULLABLE("exact", PC_BOOL, "false: a return address, after its call"),
	[PC_FRAMES_NAME] = NULLABLE("name", PC_TEXT, "name of a marker"),
	[PC_FRAMES_WHY] = NULLABLE("why", PC_TEXT, "why there is no object: NO_MAP"),
};

static const struct pc_column objects[] = {
	FILE_ID,
	[PC_OBJECTS_OBJECT] = REQUIRED("object", PC_INT32, "number of what is mapped"),
	[PC_OBJECTS_PATH] = NULLABLE("path", PC_TEXT, "as recorded"),
	[PC_OBJECTS_BUILD_ID] = NULLABLE("build_id", PC_TEXT, "hex"),
	[PC_OBJECTS_KIND] = REQUIRED("kind", PC_TEXT, "FILE, KERNEL, MODULE, BPF, ..."),
	[PC_OBJECTS_FIRST_TIME] = NULLABLE("first_time", PC_INT64, "of its first map"),
	[PC_OBJECTS_MACHINE_PID] = MACHINE_PID,
};

static const struct pc_column maps[] = {
	FILE_ID,
	[PC_MAPS_TIME] = NULLABLE("time", PC_INT64, "ns; NULL: none"),
	[PC_MAPS_UNTIL] = NULLABLE("until", PC_INT64, "when it was replaced; NULL: to the end"),
	[PC_MAPS_PID] = REQUIRED("pid", PC_INT32, "process; -1: the kernel"),
	[PC_MAPS_START] = REQUIRED("start", PC_UINT64, "first address"),
	[PC_MAPS_LEN] = NULLABLE("len", PC_INT64, "bytes"),
	[PC_MAPS_PGOFF] = NULLABLE("pgoff", PC_INT64,
				   "offset of start in the object; of the kernel, from _text"),
	[PC_MAPS_OBJECT] = NULLABLE("object", PC_INT32, "number in objects; NULL: an end"),
	[PC_MAPS_MAJ] = NULLABLE("maj", PC_INT64, "device"),
	[PC_MAPS_MIN] = NULLABLE("min", PC_INT64, "device"),
	[PC_MAPS_INO] = NULLABLE("ino", PC_INT64, "inode"),
	[PC_MAPS_INO_GENERATION] = NULLABLE("ino_generation", PC_INT64, "of the inode"),
	[PC_MAPS_PROT] = NULLABLE("prot", PC_INT32, "of mmap(2)"),
	[PC_MAPS_FLAGS] = NULLABLE("flags", PC_INT32, "of mmap(2)"),
	[PC_MAPS_CPUMODE] = REQUIRED("cpumode", PC_TEXT, "as in the JSON"),
	[PC_MAPS_EXECUTABLE] = REQUIRED("executable", PC_BOOL, "false: data"),
	[PC_MAPS_MACHINE_PID] = MACHINE_PID,
};

static const struct pc_column tasks[] = {
	FILE_ID,
	[PC_TASKS_PID] = REQUIRED("pid", PC_INT32, "process"),
	[PC_TASKS_TID] = REQUIRED("tid", PC_INT32, "thread"),
	[PC_TASKS_PPID] = NULLABLE("ppid", PC_INT32, "process that created it"),
	[PC_TASKS_PTID] = NULLABLE("ptid", PC_INT32, "thread that created it"),
	[PC_TASKS_COMM] = NULLABLE("comm", PC_TEXT, "its last name"),
	[PC_TASKS_START] = NULLABLE("start", PC_INT64, "ns; NULL: before the recording"),
	[PC_TASKS_END] = NULLABLE("end", PC_INT64, "ns, of the record EXIT; the last samples are "
				  "later; NULL: not recorded"),
	[PC_TASKS_EXECS] = REQUIRED("execs", PC_INT64, "programs that it executed"),
	[PC_TASKS_MACHINE_PID] = MACHINE_PID,
};

static const struct pc_column comms[] = {
	SIDE_BAND,
	[PC_COMMS_COMM] = NULLABLE("comm", PC_TEXT, "new name"),
	[PC_COMMS_EXEC] = REQUIRED("exec", PC_BOOL, "by exec(2)"),
};

static const struct pc_column switches[] = {
	SIDE_BAND,
	[PC_SWITCHES_OUT] = REQUIRED("out", PC_BOOL, "false: the thread gets the CPU"),
	[PC_SWITCHES_PREEMPT] = REQUIRED("preempt", PC_BOOL, "it could have run on"),
	[PC_SWITCHES_OTHER_PID] = NULLABLE("other_pid", PC_INT32, "next or previous process"),
	[PC_SWITCHES_OTHER_TID] = NULLABLE("other_tid", PC_INT32, "next or previous thread"),
};

static const struct pc_column cgroups[] = {
	SIDE_BAND,
	[PC_CGROUPS_ID] = NULLABLE("id", PC_INT64, "id in samples"),
	[PC_CGROUPS_PATH] = NULLABLE("path", PC_TEXT, "path in the hierarchy"),
};

static const struct pc_column namespaces[] = {
	SIDE_BAND,
	[PC_NAMESPACES_NAME] = REQUIRED("name", PC_TEXT, "net, uts, ipc, pid, user, mnt, cgroup"),
	[PC_NAMESPACES_DEV] = NULLABLE("dev", PC_INT64, "device"),
	[PC_NAMESPACES_INODE] = NULLABLE("inode", PC_INT64, "inode"),
};

static const struct pc_column lost[] = {
	SIDE_BAND,
	[PC_LOST_KIND] = REQUIRED("kind", PC_TEXT, "type of the record"),
	[PC_LOST_EVENT] = NULLABLE("event", PC_INT32, "number in events"),
	[PC_LOST_COUNT] = NULLABLE("count", PC_INT64,
				   "records or samples that are missing; NULL: unknown"),
};

static const struct pc_column features[] = {
	FILE_ID,
	[PC_FEATURES_NAME] = REQUIRED("name", PC_TEXT, "as in the JSON"),
	[PC_FEATURES_JSON] = REQUIRED("json", PC_LONG_TEXT, "its value, as pdecode writes it"),
};

static const struct pc_column records[] = {
	FILE_ID,
	[PC_RECORDS_RECORD] = REQUIRED("record", PC_INT64, "ordinal in the recording"),
	[PC_RECORDS_OFFSET] = NULLABLE("offset", PC_INT64, "place in the input"),
	[PC_RECORDS_TYPE] = REQUIRED("type", PC_TEXT, "as in the JSON"),
	[PC_RECORDS_TIME] = NULLABLE("time", PC_INT64, "ns of the recording's clock"),
	[PC_RECORDS_PID] = NULLABLE("pid", PC_INT32, "process"),
	[PC_RECORDS_TID] = NULLABLE("tid", PC_INT32, "thread"),
	[PC_RECORDS_CPU] = NULLABLE("cpu", PC_INT32, "CPU"),
	[PC_RECORDS_EVENT] = NULLABLE("event", PC_INT32, "number in events"),
	[PC_RECORDS_JSON] = NULLABLE("json", PC_LONG_TEXT, "the record, as pdecode writes it"),
};

static const struct pc_column errors[] = {
	FILE_ID,
	[PC_ERRORS_OFFSET] = NULLABLE("offset", PC_INT64, "place in the input"),
	[PC_ERRORS_CODE] = REQUIRED("code", PC_TEXT, "TRUNCATED, GARBAGE, ..."),
	[PC_ERRORS_SEVERITY] = REQUIRED("severity", PC_TEXT, "note, damaged or fatal"),
	[PC_ERRORS_RECORD] = NULLABLE("record", PC_TEXT, "type of the record, or the section; of "
				      "OUT_OF_RANGE, the table"),
	[PC_ERRORS_FIELD] = NULLABLE("field", PC_TEXT, "name of the field, or column"),
	[PC_ERRORS_WANT] = NULLABLE("want", PC_INT64, "bytes that the field needs"),
	[PC_ERRORS_HAVE] = NULLABLE("have", PC_INT64, "bytes that were left; of OUT_OF_RANGE, how "
				    "many values are NULL"),
	[PC_ERRORS_SKIPPED] = NULLABLE("skipped", PC_INT64, "bytes that are in no record"),
	[PC_ERRORS_MESSAGE] = REQUIRED("message", PC_TEXT, "one line of English"),
};

static const struct pc_column symbols[] = {
	FILE_ID,
	[PC_SYMBOLS_FRAME] = REQUIRED("frame", PC_INT32, "number in frames"),
	[PC_SYMBOLS_DEPTH] = REQUIRED("depth", PC_INT32,
				      "0: the innermost function; others: what it is inlined into"),
	[PC_SYMBOLS_FUNCTION] = NULLABLE("function", PC_TEXT, "its name; NULL: see why"),
	[PC_SYMBOLS_FILE] = NULLABLE("file", PC_TEXT, "source file"),
	[PC_SYMBOLS_LINE] = NULLABLE("line", PC_INT32,
				     "of depth 0 the line itself, of others that of the call"),
	[PC_SYMBOLS_WHY] = NULLABLE("why", PC_TEXT, "why there is no name: NO_FILE, ..."),
	[PC_SYMBOLS_UNVERIFIED] = REQUIRED("unverified", PC_BOOL, "nothing shows that the name is "
					   "of the recorded file: --unverified=always"),
};

static const struct pc_table tables[PC_NR_TABLES] = {
	[PC_FILES] = TABLE("files", files, "the input"),
	[PC_EVENTS] = TABLE("events", events, "events (attr)"),
	[PC_SAMPLES] = TABLE("samples", samples,
			     "SAMPLE records; one of a group (:S) is its leader's"),
	[PC_STACKS] = TABLE("stacks", stacks, "different callchains"),
	[PC_FRAMES] = TABLE("frames", frames, "different places in code"),
	[PC_OBJECTS] = TABLE("objects", objects, "mapped files, kernel, modules, BPF programs"),
	[PC_MAPS] = TABLE("maps", maps, "MMAP, MMAP2 and KSYMBOL records"),
	[PC_TASKS] = TABLE("tasks", tasks, "threads, each life of a tid"),
	[PC_COMMS] = TABLE("comms", comms, "COMM records"),
	[PC_SWITCHES] = TABLE("switches", switches, "SWITCH and SWITCH_CPU_WIDE records"),
	[PC_CGROUPS] = TABLE("cgroups", cgroups, "CGROUP records"),
	[PC_NAMESPACES] = TABLE("namespaces", namespaces, "entries of NAMESPACES records"),
	[PC_LOST] = TABLE("lost", lost,
			  "LOST, LOST_SAMPLES, THROTTLE and UNTHROTTLE records, AUX that is cut"),
	[PC_FEATURES] = TABLE("features", features, "feature sections"),
	[PC_RECORDS] = TABLE("records", records, "records of the types without a table"),
	[PC_ERRORS] = TABLE("errors", errors, "damage, and notes"),
	[PC_SYMBOLS] = TABLE("symbols", symbols, "functions of frames, if names are looked up"),
};

size_t pc_nr_tables(void)
{
	return PC_NR_TABLES;
}

const struct pc_table *pc_table_at(size_t i)
{
	return i < PC_NR_TABLES ? &tables[i] : NULL;
}

bool pc_table_find(const char *name, size_t *i)
{
	for (size_t at = 0; name && at < PC_NR_TABLES; at++)
		if (strcmp(tables[at].name, name) == 0) {
			if (i)
				*i = at;
			return true;
		}
	return false;
}

const char *pc_group_name(size_t i)
{
	static const char *const names[] = { "addr", "raw", "offset", "wall", "mem", "branch",
					     "read", "regs", "stack", "tracepoints" };

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

uint32_t pc_group_find(const char *name)
{
	for (size_t i = 0; name && pc_group_name(i); i++)
		if (strcmp(pc_group_name(i), name) == 0)
			return 1u << i;
	return 0;
}

struct pc_pair pc_pair_at(size_t i, enum pc_unsigned uint64)
{
	const struct pc_pair pairs[PC_NR_PAIRS] = {
		{ "perfdata.schema", "1" },
		{ "perfdata.int64", uint64 == PC_AS_INT64 ? "true" : "false" },
		{ "perfdata.version", pd_version() },
	};

	return pairs[i];
}

const char *pc_options_take(struct pc_options *mine, const struct pc_options *o)
{
	if (!o || pd_options_take(mine, sizeof(*mine), o, o->size) || mine->uint64 > PC_AS_INT64 ||
	    mine->reading > PC_READ_NEEDED)
		return "an option is invalid";
	return NULL;
}
