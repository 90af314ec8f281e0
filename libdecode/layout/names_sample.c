/* names_sample.c - values and bits in samples. */
#include "layout/names_tables.h"

/* linux/perf_event.h: enum perf_callchain_context. */
const struct pd_name pd_names_callchain[] = {
	{ (uint64_t)-32, "HV" },
	{ (uint64_t)-128, "KERNEL" },
	{ (uint64_t)-512, "USER" },
	{ (uint64_t)-640, "USER_DEFERRED" },
	{ (uint64_t)-2048, "GUEST" },
	{ (uint64_t)-2176, "GUEST_KERNEL" },
	{ (uint64_t)-2560, "GUEST_USER" },
	{ 0, NULL },
};

/* linux/perf_event.h: enum perf_sample_regs_abi. */
const struct pd_name pd_names_regs_abi[] = {
	{ 0, "NONE" },
	{ 1, "32" },
	{ 2, "64" },
	{ 0, NULL },
};

/* linux/perf_event.h: PERF_BR_* of struct perf_branch_entry's type. */
const struct pd_name pd_names_branch_type[] = {
	{ 0, "UNKNOWN" },
	{ 1, "COND" },
	{ 2, "UNCOND" },
	{ 3, "IND" },
	{ 4, "CALL" },
	{ 5, "IND_CALL" },
	{ 6, "RET" },
	{ 7, "SYSCALL" },
	{ 8, "SYSRET" },
	{ 9, "COND_CALL" },
	{ 10, "COND_RET" },
	{ 11, "ERET" },
	{ 12, "IRQ" },
	{ 13, "SERROR" },
	{ 14, "NO_TX" },
	{ 15, "EXTEND_ABI" },
	{ 0, NULL },
};

/* linux/perf_event.h: PERF_BR_* of spec; two of them have SPEC_ inside, so it stays in all. */
const struct pd_name pd_names_branch_spec[] = {
	{ 0, "SPEC_NA" },
	{ 1, "SPEC_WRONG_PATH" },
	{ 2, "NON_SPEC_CORRECT_PATH" },
	{ 3, "SPEC_CORRECT_PATH" },
	{ 0, NULL },
};

/* linux/perf_event.h: PERF_BR_NEW_*. */
const struct pd_name pd_names_branch_new_type[] = {
	{ 0, "FAULT_ALGN" },
	{ 1, "FAULT_DATA" },
	{ 2, "FAULT_INST" },
	{ 3, "ARCH_1" },
	{ 4, "ARCH_2" },
	{ 5, "ARCH_3" },
	{ 6, "ARCH_4" },
	{ 7, "ARCH_5" },
	{ 0, NULL },
};

/* linux/perf_event.h: PERF_BR_PRIV_*. */
const struct pd_name pd_names_branch_priv[] = {
	{ 0, "UNKNOWN" },
	{ 1, "USER" },
	{ 2, "KERNEL" },
	{ 3, "HV" },
	{ 0, NULL },
};

/* linux/perf_event.h: PERF_TXN_*. */
const struct pd_name pd_names_transaction[] = {
	{ 1 << 0, "ELISION" },
	{ 1 << 1, "TRANSACTION" },
	{ 1 << 2, "SYNC" },
	{ 1 << 3, "ASYNC" },
	{ 1 << 4, "RETRY" },
	{ 1 << 5, "CONFLICT" },
	{ 1 << 6, "CAPACITY_WRITE" },
	{ 1 << 7, "CAPACITY_READ" },
	{ 0, NULL },
};

/* linux/perf_event.h: union perf_mem_data_src, PERF_MEM_*. */
const struct pd_name pd_names_mem_op[] = {
	{ 0x01, "NA" },
	{ 0x02, "LOAD" },
	{ 0x04, "STORE" },
	{ 0x08, "PFETCH" },
	{ 0x10, "EXEC" },
	{ 0, NULL },
};

const struct pd_name pd_names_mem_lvl[] = {
	{ 0x01, "NA" },
	{ 0x02, "HIT" },
	{ 0x04, "MISS" },
	{ 0x08, "L1" },
	{ 0x10, "LFB" },
	{ 0x20, "L2" },
	{ 0x40, "L3" },
	{ 0x80, "LOC_RAM" },
	{ 0x100, "REM_RAM1" },
	{ 0x200, "REM_RAM2" },
	{ 0x400, "REM_CCE1" },
	{ 0x800, "REM_CCE2" },
	{ 0x1000, "IO" },
	{ 0x2000, "UNC" },
	{ 0, NULL },
};

const struct pd_name pd_names_mem_snoop[] = {
	{ 0x01, "NA" },
	{ 0x02, "NONE" },
	{ 0x04, "HIT" },
	{ 0x08, "MISS" },
	{ 0x10, "HITM" },
	{ 0, NULL },
};

const struct pd_name pd_names_mem_lock[] = {
	{ 0x01, "NA" },
	{ 0x02, "LOCKED" },
	{ 0, NULL },
};

const struct pd_name pd_names_mem_dtlb[] = {
	{ 0x01, "NA" },
	{ 0x02, "HIT" },
	{ 0x04, "MISS" },
	{ 0x08, "L1" },
	{ 0x10, "L2" },
	{ 0x20, "WK" },
	{ 0x40, "OS" },
	{ 0, NULL },
};

/* 0, written by kernels without the field, has no name. */
const struct pd_name pd_names_mem_lvl_num[] = {
	{ 0x1, "L1" },
	{ 0x2, "L2" },
	{ 0x3, "L3" },
	{ 0x4, "L4" },
	{ 0x5, "L2_MHB" },
	{ 0x6, "MSC" },
	{ 0x7, "L0" },
	{ 0x8, "UNC" },
	{ 0x9, "CXL" },
	{ 0xa, "IO" },
	{ 0xb, "ANY_CACHE" },
	{ 0xc, "LFB" },
	{ 0xd, "RAM" },
	{ 0xe, "PMEM" },
	{ 0xf, "NA" },
	{ 0, NULL },
};

const struct pd_name pd_names_mem_remote[] = {
	{ 0x1, "REMOTE" },
	{ 0, NULL },
};

const struct pd_name pd_names_mem_snoopx[] = {
	{ 0x1, "FWD" },
	{ 0x2, "PEER" },
	{ 0, NULL },
};

const struct pd_name pd_names_mem_blk[] = {
	{ 0x1, "NA" },
	{ 0x2, "DATA" },
	{ 0x4, "ADDR" },
	{ 0, NULL },
};

/* PERF_MEM_HOPS_0 is 1: a bare "0" would look like the value. 0 has no name. */
const struct pd_name pd_names_mem_hops[] = {
	{ 0x1, "HOPS_0" },
	{ 0x2, "HOPS_1" },
	{ 0x3, "HOPS_2" },
	{ 0x4, "HOPS_3" },
	{ 0, NULL },
};

const struct pd_name pd_names_mem_region[] = {
	{ 0x0, "NA" },
	{ 0x1, "RSVD" },
	{ 0x2, "L_SHARE" },
	{ 0x3, "L_NON_SHARE" },
	{ 0x4, "O_IO" },
	{ 0x5, "O_SHARE" },
	{ 0x6, "O_NON_SHARE" },
	{ 0x7, "MMIO" },
	{ 0x8, "MEM0" },
	{ 0x9, "MEM1" },
	{ 0xa, "MEM2" },
	{ 0xb, "MEM3" },
	{ 0xc, "MEM4" },
	{ 0xd, "MEM5" },
	{ 0xe, "MEM6" },
	{ 0xf, "MEM7" },
	{ 0, NULL },
};
