/* enums.h - numbers of linux/perf_event.h, under the names that the JSON shows.
 *
 * Made by `make enums` from libdecode/layout/names_*.c. Record types and features are in
 * pd/types.h, modes of the CPU in pd/history.h.
 */
#ifndef PD_ENUMS_H
#define PD_ENUMS_H

#ifdef __cplusplus
extern "C" {
#endif

/* type of struct perf_event_attr. */
enum pd_attr_type {
	PD_TYPE_HARDWARE = 0,
	PD_TYPE_SOFTWARE = 1,
	PD_TYPE_TRACEPOINT = 2,
	PD_TYPE_HW_CACHE = 3,
	PD_TYPE_RAW = 4,
	PD_TYPE_BREAKPOINT = 5,
};

/* config of PD_TYPE_HARDWARE, its low 32 bits. */
enum pd_hardware {
	PD_COUNT_HW_CPU_CYCLES = 0,
	PD_COUNT_HW_INSTRUCTIONS = 1,
	PD_COUNT_HW_CACHE_REFERENCES = 2,
	PD_COUNT_HW_CACHE_MISSES = 3,
	PD_COUNT_HW_BRANCH_INSTRUCTIONS = 4,
	PD_COUNT_HW_BRANCH_MISSES = 5,
	PD_COUNT_HW_BUS_CYCLES = 6,
	PD_COUNT_HW_STALLED_CYCLES_FRONTEND = 7,
	PD_COUNT_HW_STALLED_CYCLES_BACKEND = 8,
	PD_COUNT_HW_REF_CPU_CYCLES = 9,
};

/* config of PD_TYPE_SOFTWARE. */
enum pd_software {
	PD_COUNT_SW_CPU_CLOCK = 0,
	PD_COUNT_SW_TASK_CLOCK = 1,
	PD_COUNT_SW_PAGE_FAULTS = 2,
	PD_COUNT_SW_CONTEXT_SWITCHES = 3,
	PD_COUNT_SW_CPU_MIGRATIONS = 4,
	PD_COUNT_SW_PAGE_FAULTS_MIN = 5,
	PD_COUNT_SW_PAGE_FAULTS_MAJ = 6,
	PD_COUNT_SW_ALIGNMENT_FAULTS = 7,
	PD_COUNT_SW_EMULATION_FAULTS = 8,
	PD_COUNT_SW_DUMMY = 9,
	PD_COUNT_SW_BPF_OUTPUT = 10,
	PD_COUNT_SW_CGROUP_SWITCHES = 11,
};

/* Bits of sample_type: the fields of a sample. */
enum pd_sample_type {
	PD_SAMPLE_IP = 0x1,
	PD_SAMPLE_TID = 0x2,
	PD_SAMPLE_TIME = 0x4,
	PD_SAMPLE_ADDR = 0x8,
	PD_SAMPLE_READ = 0x10,
	PD_SAMPLE_CALLCHAIN = 0x20,
	PD_SAMPLE_ID = 0x40,
	PD_SAMPLE_CPU = 0x80,
	PD_SAMPLE_PERIOD = 0x100,
	PD_SAMPLE_STREAM_ID = 0x200,
	PD_SAMPLE_RAW = 0x400,
	PD_SAMPLE_BRANCH_STACK = 0x800,
	PD_SAMPLE_REGS_USER = 0x1000,
	PD_SAMPLE_STACK_USER = 0x2000,
	PD_SAMPLE_WEIGHT = 0x4000,
	PD_SAMPLE_DATA_SRC = 0x8000,
	PD_SAMPLE_IDENTIFIER = 0x10000,
	PD_SAMPLE_TRANSACTION = 0x20000,
	PD_SAMPLE_REGS_INTR = 0x40000,
	PD_SAMPLE_PHYS_ADDR = 0x80000,
	PD_SAMPLE_AUX = 0x100000,
	PD_SAMPLE_CGROUP = 0x200000,
	PD_SAMPLE_DATA_PAGE_SIZE = 0x400000,
	PD_SAMPLE_CODE_PAGE_SIZE = 0x800000,
	PD_SAMPLE_WEIGHT_STRUCT = 0x1000000,
};

/* Bits of read_format: the fields of a count. */
enum pd_read_format {
	PD_FORMAT_TOTAL_TIME_ENABLED = 0x1,
	PD_FORMAT_TOTAL_TIME_RUNNING = 0x2,
	PD_FORMAT_ID = 0x4,
	PD_FORMAT_GROUP = 0x8,
	PD_FORMAT_LOST = 0x10,
};

/* Bits of branch_sample_type. */
enum pd_branch_sample_type {
	PD_SAMPLE_BRANCH_USER = 0x1,
	PD_SAMPLE_BRANCH_KERNEL = 0x2,
	PD_SAMPLE_BRANCH_HV = 0x4,
	PD_SAMPLE_BRANCH_ANY = 0x8,
	PD_SAMPLE_BRANCH_ANY_CALL = 0x10,
	PD_SAMPLE_BRANCH_ANY_RETURN = 0x20,
	PD_SAMPLE_BRANCH_IND_CALL = 0x40,
	PD_SAMPLE_BRANCH_ABORT_TX = 0x80,
	PD_SAMPLE_BRANCH_IN_TX = 0x100,
	PD_SAMPLE_BRANCH_NO_TX = 0x200,
	PD_SAMPLE_BRANCH_COND = 0x400,
	PD_SAMPLE_BRANCH_CALL_STACK = 0x800,
	PD_SAMPLE_BRANCH_IND_JUMP = 0x1000,
	PD_SAMPLE_BRANCH_CALL = 0x2000,
	PD_SAMPLE_BRANCH_NO_FLAGS = 0x4000,
	PD_SAMPLE_BRANCH_NO_CYCLES = 0x8000,
	PD_SAMPLE_BRANCH_TYPE_SAVE = 0x10000,
	PD_SAMPLE_BRANCH_HW_INDEX = 0x20000,
	PD_SAMPLE_BRANCH_PRIV_SAVE = 0x40000,
	PD_SAMPLE_BRANCH_COUNTERS = 0x80000,
};

/* Markers in callchains: as uint64_t, the values of entries. */
enum pd_callchain {
	PD_CONTEXT_HV = -32,
	PD_CONTEXT_KERNEL = -128,
	PD_CONTEXT_USER = -512,
	PD_CONTEXT_USER_DEFERRED = -640,
	PD_CONTEXT_GUEST = -2048,
	PD_CONTEXT_GUEST_KERNEL = -2176,
	PD_CONTEXT_GUEST_USER = -2560,
};

/* abi of regs_user and regs_intr. */
enum pd_regs_abi {
	PD_REGS_ABI_NONE = 0,
	PD_REGS_ABI_32 = 1,
	PD_REGS_ABI_64 = 2,
};

/* type of a branch. */
enum pd_branch_type {
	PD_BR_UNKNOWN = 0,
	PD_BR_COND = 1,
	PD_BR_UNCOND = 2,
	PD_BR_IND = 3,
	PD_BR_CALL = 4,
	PD_BR_IND_CALL = 5,
	PD_BR_RET = 6,
	PD_BR_SYSCALL = 7,
	PD_BR_SYSRET = 8,
	PD_BR_COND_CALL = 9,
	PD_BR_COND_RET = 10,
	PD_BR_ERET = 11,
	PD_BR_IRQ = 12,
	PD_BR_SERROR = 13,
	PD_BR_NO_TX = 14,
	PD_BR_EXTEND_ABI = 15,
};

/* spec of a branch. */
enum pd_branch_spec {
	PD_BR_SPEC_NA = 0,
	PD_BR_SPEC_WRONG_PATH = 1,
	PD_BR_NON_SPEC_CORRECT_PATH = 2,
	PD_BR_SPEC_CORRECT_PATH = 3,
};

/* new_type of a branch whose type is PD_BR_EXTEND_ABI. */
enum pd_branch_new_type {
	PD_BR_NEW_FAULT_ALGN = 0,
	PD_BR_NEW_FAULT_DATA = 1,
	PD_BR_NEW_FAULT_INST = 2,
	PD_BR_NEW_ARCH_1 = 3,
	PD_BR_NEW_ARCH_2 = 4,
	PD_BR_NEW_ARCH_3 = 5,
	PD_BR_NEW_ARCH_4 = 6,
	PD_BR_NEW_ARCH_5 = 7,
};

/* priv of a branch. */
enum pd_branch_priv {
	PD_BR_PRIV_UNKNOWN = 0,
	PD_BR_PRIV_USER = 1,
	PD_BR_PRIV_KERNEL = 2,
	PD_BR_PRIV_HV = 3,
};

/* Bits of transaction, flags. */
enum pd_transaction {
	PD_TXN_ELISION = 0x1,
	PD_TXN_TRANSACTION = 0x2,
	PD_TXN_SYNC = 0x4,
	PD_TXN_ASYNC = 0x8,
	PD_TXN_RETRY = 0x10,
	PD_TXN_CONFLICT = 0x20,
	PD_TXN_CAPACITY_WRITE = 0x40,
	PD_TXN_CAPACITY_READ = 0x80,
};

/* Bits of data_src, op; those below are of its other parts. */
enum pd_mem_op {
	PD_MEM_OP_NA = 0x1,
	PD_MEM_OP_LOAD = 0x2,
	PD_MEM_OP_STORE = 0x4,
	PD_MEM_OP_PFETCH = 0x8,
	PD_MEM_OP_EXEC = 0x10,
};

/* Bits of lvl. */
enum pd_mem_lvl {
	PD_MEM_LVL_NA = 0x1,
	PD_MEM_LVL_HIT = 0x2,
	PD_MEM_LVL_MISS = 0x4,
	PD_MEM_LVL_L1 = 0x8,
	PD_MEM_LVL_LFB = 0x10,
	PD_MEM_LVL_L2 = 0x20,
	PD_MEM_LVL_L3 = 0x40,
	PD_MEM_LVL_LOC_RAM = 0x80,
	PD_MEM_LVL_REM_RAM1 = 0x100,
	PD_MEM_LVL_REM_RAM2 = 0x200,
	PD_MEM_LVL_REM_CCE1 = 0x400,
	PD_MEM_LVL_REM_CCE2 = 0x800,
	PD_MEM_LVL_IO = 0x1000,
	PD_MEM_LVL_UNC = 0x2000,
};

/* Bits of snoop. */
enum pd_mem_snoop {
	PD_MEM_SNOOP_NA = 0x1,
	PD_MEM_SNOOP_NONE = 0x2,
	PD_MEM_SNOOP_HIT = 0x4,
	PD_MEM_SNOOP_MISS = 0x8,
	PD_MEM_SNOOP_HITM = 0x10,
};

/* Bits of lock. */
enum pd_mem_lock {
	PD_MEM_LOCK_NA = 0x1,
	PD_MEM_LOCK_LOCKED = 0x2,
};

/* Bits of dtlb. */
enum pd_mem_dtlb {
	PD_MEM_DTLB_NA = 0x1,
	PD_MEM_DTLB_HIT = 0x2,
	PD_MEM_DTLB_MISS = 0x4,
	PD_MEM_DTLB_L1 = 0x8,
	PD_MEM_DTLB_L2 = 0x10,
	PD_MEM_DTLB_WK = 0x20,
	PD_MEM_DTLB_OS = 0x40,
};

/* lvl_num. */
enum pd_mem_lvl_num {
	PD_MEM_LVL_NUM_L1 = 1,
	PD_MEM_LVL_NUM_L2 = 2,
	PD_MEM_LVL_NUM_L3 = 3,
	PD_MEM_LVL_NUM_L4 = 4,
	PD_MEM_LVL_NUM_L2_MHB = 5,
	PD_MEM_LVL_NUM_MSC = 6,
	PD_MEM_LVL_NUM_L0 = 7,
	PD_MEM_LVL_NUM_UNC = 8,
	PD_MEM_LVL_NUM_CXL = 9,
	PD_MEM_LVL_NUM_IO = 10,
	PD_MEM_LVL_NUM_ANY_CACHE = 11,
	PD_MEM_LVL_NUM_LFB = 12,
	PD_MEM_LVL_NUM_RAM = 13,
	PD_MEM_LVL_NUM_PMEM = 14,
	PD_MEM_LVL_NUM_NA = 15,
};

/* Bits of remote. */
enum pd_mem_remote {
	PD_MEM_REMOTE_REMOTE = 0x1,
};

/* Bits of snoopx. */
enum pd_mem_snoopx {
	PD_MEM_SNOOPX_FWD = 0x1,
	PD_MEM_SNOOPX_PEER = 0x2,
};

/* Bits of blk. */
enum pd_mem_blk {
	PD_MEM_BLK_NA = 0x1,
	PD_MEM_BLK_DATA = 0x2,
	PD_MEM_BLK_ADDR = 0x4,
};

/* hops. */
enum pd_mem_hops {
	PD_MEM_HOPS_0 = 1,
	PD_MEM_HOPS_1 = 2,
	PD_MEM_HOPS_2 = 3,
	PD_MEM_HOPS_3 = 4,
};

#ifdef __cplusplus
}
#endif
#endif
