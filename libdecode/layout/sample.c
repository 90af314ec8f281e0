/* sample.c - PERF_RECORD_SAMPLE, read_format, sample_id (kernel/events/core.c: perf_output_sample,
 * perf_output_read).
 *
 * The order is the kernel's; uapi comments and several parsers get AUX and the page sizes wrong.
 */
#include "layout/desc.h"
#include "layout/names_tables.h"

#define BIT_OF(n) (1ull << (n))
enum {
	IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK,
	REGS_USER, STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX,
	CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT,
};
enum { TOTAL_TIME_ENABLED = 1, TOTAL_TIME_RUNNING = 2, READ_ID = 4, READ_GROUP = 8,
	READ_LOST = 16 };
#define HW_INDEX (1ull << 17)

/* A single value, or the values of a group. */
#define READ_TIMES \
	U64(time_enabled, "ns the event was enabled", IF_READ(TOTAL_TIME_ENABLED)), \
	U64(time_running, "ns the event was counting", IF_READ(TOTAL_TIME_RUNNING))
#define READ_TAIL(...) \
	U64(id, "id of the event", IF_READ(READ_ID), ROLE(EVENT_ID), __VA_ARGS__), \
	U64(lost, "lost records of this event", IF_READ(READ_LOST))
#define READ_ROWS \
	GROUP(FIELDS( \
		U64(nr, "number of events in the group"), \
		READ_TIMES, \
		ARRAY(values, "one per event, the leader first", TIMES_OF(nr), FIELDS( \
			U64(value, "the count"), \
			READ_TAIL(.names_event = true)))), \
		IF_READ(READ_GROUP)), \
	GROUP(FIELDS( \
		U64(value, "the count"), \
		READ_TIMES, \
		READ_TAIL()), \
		UNLESS_READ(READ_GROUP))

const struct pd_field pd_read_fields[] = {
	STRUCT(read, "counts, in the format of read_format", FIELDS(READ_ROWS)),
	{ .kind = PD_END },
};

static const struct pd_bits branch_flags[] = {
	BIT(mispred, 0, 1),
	BIT(predicted, 1, 1),
	BIT(in_tx, 2, 1),
	BIT(abort, 3, 1),
	BIT(cycles, 4, 16),
	BIT_ENUM(type, 20, 4, pd_names_branch_type),
	BIT_ENUM(spec, 24, 2, pd_names_branch_spec),
	BIT_ENUM(new_type, 26, 4, pd_names_branch_new_type),
	BIT_ENUM(priv, 30, 3, pd_names_branch_priv),
	BIT(not_taken, 33, 1),
	BIT_RESERVED(34, 30),
	{ .name = NULL },
};

static const struct pd_bits weight_parts[] = {
	BIT(var1_dw, 0, 32),
	BIT(var2_w, 32, 16),
	BIT(var3_w, 48, 16),
	{ .name = NULL },
};

static const struct pd_bits data_src_parts[] = {
	BIT_LIST(op, 0, 5, pd_names_mem_op),
	BIT_LIST(lvl, 5, 14, pd_names_mem_lvl),
	BIT_LIST(snoop, 19, 5, pd_names_mem_snoop),
	BIT_LIST(lock, 24, 2, pd_names_mem_lock),
	BIT_LIST(dtlb, 26, 7, pd_names_mem_dtlb),
	BIT_ENUM_LIST(lvl_num, 33, 4, pd_names_mem_lvl_num),
	BIT_LIST(remote, 37, 1, pd_names_mem_remote),
	BIT_LIST(snoopx, 38, 2, pd_names_mem_snoopx),
	BIT_LIST(blk, 40, 3, pd_names_mem_blk),
	BIT_ENUM_LIST(hops, 43, 3, pd_names_mem_hops),
	BIT_ENUM_LIST(region, 46, 5, pd_names_mem_region),
	{ .name = NULL },
};

static const struct pd_bits transaction_parts[] = {
	BIT_LIST(flags, 0, 32, pd_names_transaction),
	BIT(abort_code, 32, 32),
	{ .name = NULL },
};

/* Layouts that only the record's length distinguishes. */
enum {
	/* hw_idx without branches; the kernel omits it, samples that perf writes do not */
	EMPTY_HAS_HW_IDX = 1,
	HAS_COUNTERS = 2,	/* an event of the group uses branch counters */
};

#define BRANCH_ROWS \
	COUNTER(8, nr), \
	GROUP(FIELDS( \
		S64(hw_idx, "index of the newest entry in the hardware, -1: unknown", \
		    UNLESS_EQUAL(nr, 0)), \
		GROUP(FIELDS( \
			S64(hw_idx, "index of the newest entry in the hardware, -1: unknown", \
			    IF_VARIANT(EMPTY_HAS_HW_IDX))), \
			IF_EQUAL(nr, 0))), \
		IF_BRANCH(HW_INDEX)), \
	ARRAY(entries, "newest first", TIMES_OF(nr), FIELDS( \
		X64(from, "address of the branch", ROLE(CODE_ADDRESS)), \
		X64(to, "target of the branch", ROLE(CODE_ADDRESS)), \
		BITS(8, PD_BITS, flags, "properties of the branch", .bits = branch_flags, \
		     .msb_first = true))), \
	GROUP(FIELDS( \
		NUMBERS(8, PD_HEX, counters, "packed event counts of each entry", TIMES_OF(nr), \
			IF_VARIANT(HAS_COUNTERS), \
			ROLE(NONE))), \
		UNLESS_EQUAL(nr, 0))

#define REGISTER_ROWS(mask) \
	ENUM(8, abi, "word size of the task", pd_names_regs_abi), \
	{ PD_KEY(regs), .kind = PD_REGISTERS, .width = 8, .show = PD_HEX, \
		.doc = "registers by name", ROLE(REGISTERS), \
	  .count = { .from = mask }, UNLESS_EQUAL(abi, 0) }

const struct pd_field pd_sample_fields[] = {
	U64(identifier, "id of the event, at a position that does not depend on the event",
	    IF_SAMPLE(BIT_OF(IDENTIFIER)), ROLE(EVENT_ID)),
	X64(ip, "instruction pointer", IF_SAMPLE(BIT_OF(IP)), ROLE(CODE_ADDRESS)),
	S32(pid, "process", IF_SAMPLE(BIT_OF(TID)), ROLE(PID)),
	S32(tid, "thread", IF_SAMPLE(BIT_OF(TID)), ROLE(TID)),
	U64(time, "ns of the event's clock", IF_SAMPLE(BIT_OF(TIME)), ROLE(TIME)),
	X64(addr, "data address, or another address that the event defines",
	    IF_SAMPLE(BIT_OF(ADDR)), ROLE(DATA_ADDRESS)),
	U64(id, "id of the event (of its parent, if inherited)", IF_SAMPLE(BIT_OF(ID)),
	    ROLE(EVENT_ID)),
	U64(stream_id, "id of the event instance", IF_SAMPLE(BIT_OF(STREAM_ID)), ROLE(EVENT_ID)),
	S32(cpu, "CPU of the sample", IF_SAMPLE(BIT_OF(CPU)), ROLE(CPU)),
	PAD(TIMES(4), IF_SAMPLE(BIT_OF(CPU))),
	U64(period, "events since the last sample", IF_SAMPLE(BIT_OF(PERIOD))),
	STRUCT(read, "counts, in the format of read_format", FIELDS(READ_ROWS),
	       IF_SAMPLE(BIT_OF(READ))),
	{ PD_KEY(callchain), .kind = PD_NUMBERS, .width = 8, .show = PD_MARKED,
		.names = pd_names_callchain,
	  .doc = "return addresses, innermost first, and context markers", TIMES_INLINE(8),
	  ROLE(CODE_ADDRESS), IF_SAMPLE(BIT_OF(CALLCHAIN)) },
	STRUCT(raw, "data written by the event itself", FIELDS(
		U32(size, "size of data in bytes"),
		BYTES(data, "fields of a tracepoint, or output of a BPF program", TIMES_OF(size),
		      .blob = PD_BLOB_LARGE, ROLE(USER_BYTES)),
		PAD(TIMES_REST_MOD(8))),
		IF_SAMPLE(BIT_OF(RAW))),
	STRUCT(branch_stack, "the most recent branches", FIELDS(BRANCH_ROWS),
	       IF_SAMPLE(BIT_OF(BRANCH_STACK))),
	STRUCT(regs_user, "user-space registers", FIELDS(REGISTER_ROWS(PD_COUNT_REGS_USER)),
	       IF_SAMPLE(BIT_OF(REGS_USER))),
	STRUCT(stack_user, "the top of the user stack", FIELDS(
		U64(size, "size of data in bytes"),
		BYTES(data, "stack bytes, upwards from the stack pointer", TIMES_OF(size),
		      .blob = PD_BLOB_LARGE, ROLE(USER_BYTES)),
		U64(dyn_size, "number of valid bytes", UNLESS_EQUAL(size, 0))),
		IF_SAMPLE(BIT_OF(STACK_USER))),
	U64(weight, "cost, often a latency in cycles", IF_SAMPLE(BIT_OF(WEIGHT))),
	BITS(8, PD_BITS_OBJECT, weight_struct, "three costs", .bits = weight_parts,
	     IF_SAMPLE(BIT_OF(WEIGHT_STRUCT))),
	BITS(8, PD_BITS_RAW, data_src, "source of the data", .bits = data_src_parts,
	     IF_SAMPLE(BIT_OF(DATA_SRC))),
	BITS(8, PD_BITS_RAW, transaction, "end of a transaction", .bits = transaction_parts,
	     IF_SAMPLE(BIT_OF(TRANSACTION))),
	STRUCT(regs_intr, "registers at the time of the interrupt",
	       FIELDS(REGISTER_ROWS(PD_COUNT_REGS_INTR)), IF_SAMPLE(BIT_OF(REGS_INTR))),
	X64(phys_addr, "physical data address", IF_SAMPLE(BIT_OF(PHYS_ADDR)), ROLE(PHYS_ADDRESS)),
	U64(cgroup, "id of the cgroup", IF_SAMPLE(BIT_OF(CGROUP)), ROLE(CGROUP_ID)),
	U64(data_page_size, "page size at addr, 0: unknown", IF_SAMPLE(BIT_OF(DATA_PAGE_SIZE))),
	U64(code_page_size, "page size at ip, 0: unknown", IF_SAMPLE(BIT_OF(CODE_PAGE_SIZE))),
	STRUCT(aux, "a snapshot of the AUX area", FIELDS(
		U64(size, "size of data in bytes"),
		BYTES(data, "data in the format of the AUX event", TIMES_OF(size),
		      .blob = PD_BLOB_LARGE, ROLE(USER_BYTES))),
		IF_SAMPLE(BIT_OF(AUX))),
	{ .kind = PD_END },
};

/* The trailer of all other kernel records, if the attr has sample_id_all. */
const struct pd_field pd_sample_id_fields[] = {
	S32(pid, "process", IF_SAMPLE(BIT_OF(TID)), ROLE(PID)),
	S32(tid, "thread", IF_SAMPLE(BIT_OF(TID)), ROLE(TID)),
	U64(time, "ns of the event's clock", IF_SAMPLE(BIT_OF(TIME)), ROLE(TIME)),
	U64(id, "id of the event", IF_SAMPLE(BIT_OF(ID)), ROLE(EVENT_ID)),
	U64(stream_id, "id of the event instance", IF_SAMPLE(BIT_OF(STREAM_ID)), ROLE(EVENT_ID)),
	S32(cpu, "CPU of the record", IF_SAMPLE(BIT_OF(CPU)), ROLE(CPU)),
	PAD(TIMES(4), IF_SAMPLE(BIT_OF(CPU))),
	U64(identifier, "id of the event, at a position that does not depend on the event",
	    IF_SAMPLE(BIT_OF(IDENTIFIER)), ROLE(EVENT_ID)),
	{ .kind = PD_END },
};
