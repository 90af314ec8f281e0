/* abi.h - perf_event_open(2) and its attribute.
 *
 * Kernel headers of the build machine may be older than the running kernel: struct event_attr is
 * struct perf_event_attr up to config4 (linux/perf_event.h), with its bit-fields as one word.
 */
#ifndef RECORD_ABI_H
#define RECORD_ABI_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

struct event_attr {
	uint32_t type, size;
	uint64_t config;
	uint64_t sample_period;		/* or the frequency, with ATTR_FREQ */
	uint64_t sample_type, read_format;
	uint64_t flags;			/* ATTR_* */
	uint32_t wakeup;		/* events, or bytes with ATTR_WATERMARK */
	uint32_t bp_type;
	uint64_t config1;		/* or address of a breakpoint, pointer to a probe's path */
	uint64_t config2;		/* or length of a breakpoint, offset of a probe */
	uint64_t branch_sample_type, sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack, reserved;
	uint32_t aux_sample_size, aux_action;
	uint64_t sig_data, config3, config4;
};
_Static_assert(sizeof(struct event_attr) == 144, "the layout of VER9");

/* Big-endian compilers allocate bit-fields from the most significant bit. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ATTR_BIT(n) (1ull << (63 - (n)))
#define ATTR_PRECISE_SHIFT 47
#define AUX_ACTION_BIT(n) (1u << (31 - (n)))
#else
#define ATTR_BIT(n) (1ull << (n))
#define ATTR_PRECISE_SHIFT 15
#define AUX_ACTION_BIT(n) (1u << (n))
#endif

#define ATTR_DISABLED ATTR_BIT(0)
#define ATTR_INHERIT ATTR_BIT(1)
#define ATTR_PINNED ATTR_BIT(2)
#define ATTR_EXCLUSIVE ATTR_BIT(3)
#define ATTR_EXCLUDE_USER ATTR_BIT(4)
#define ATTR_EXCLUDE_KERNEL ATTR_BIT(5)
#define ATTR_EXCLUDE_HV ATTR_BIT(6)
#define ATTR_EXCLUDE_IDLE ATTR_BIT(7)
#define ATTR_MMAP ATTR_BIT(8)
#define ATTR_COMM ATTR_BIT(9)
#define ATTR_FREQ ATTR_BIT(10)
#define ATTR_INHERIT_STAT ATTR_BIT(11)
#define ATTR_ENABLE_ON_EXEC ATTR_BIT(12)
#define ATTR_TASK ATTR_BIT(13)
#define ATTR_WATERMARK ATTR_BIT(14)
#define ATTR_PRECISE_IP (3ull << ATTR_PRECISE_SHIFT)
#define ATTR_MMAP_DATA ATTR_BIT(17)
#define ATTR_SAMPLE_ID_ALL ATTR_BIT(18)
#define ATTR_EXCLUDE_HOST ATTR_BIT(19)
#define ATTR_EXCLUDE_GUEST ATTR_BIT(20)
#define ATTR_EXCLUDE_CALLCHAIN_KERNEL ATTR_BIT(21)
#define ATTR_EXCLUDE_CALLCHAIN_USER ATTR_BIT(22)
#define ATTR_MMAP2 ATTR_BIT(23)
#define ATTR_COMM_EXEC ATTR_BIT(24)
#define ATTR_USE_CLOCKID ATTR_BIT(25)
#define ATTR_CONTEXT_SWITCH ATTR_BIT(26)
#define ATTR_WRITE_BACKWARD ATTR_BIT(27)
#define ATTR_NAMESPACES ATTR_BIT(28)
#define ATTR_KSYMBOL ATTR_BIT(29)
#define ATTR_BPF_EVENT ATTR_BIT(30)
#define ATTR_AUX_OUTPUT ATTR_BIT(31)
#define ATTR_CGROUP ATTR_BIT(32)
#define ATTR_TEXT_POKE ATTR_BIT(33)
#define ATTR_BUILD_ID ATTR_BIT(34)
#define ATTR_INHERIT_THREAD ATTR_BIT(35)
#define ATTR_REMOVE_ON_EXEC ATTR_BIT(36)
#define ATTR_SIGTRAP ATTR_BIT(37)
#define ATTR_DEFER_CALLCHAIN ATTR_BIT(38)
#define ATTR_DEFER_OUTPUT ATTR_BIT(39)

enum {
	ABI_FORMAT_LOST = 1 << 4,		/* PERF_FORMAT_LOST, 6.0 */
	ABI_SAMPLE_DATA_PAGE_SIZE = 1 << 22,	/* 5.11 */
	ABI_SAMPLE_CODE_PAGE_SIZE = 1 << 23,	/* 5.11 */
	ABI_SAMPLE_WEIGHT_STRUCT = 1 << 24,	/* 5.12 */
	ABI_BRANCH_HW_INDEX = 1 << 17,		/* 5.7 */
	ABI_BRANCH_PRIV_SAVE = 1 << 18,		/* 6.1 */
	ABI_BRANCH_COUNTERS = 1 << 19,		/* 6.8 */
};

/* Returns a new descriptor, or -1 and errno. */
int abi_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
		   unsigned long flags);

unsigned int attr_precise_ip(const struct event_attr *attr);
void attr_set_precise_ip(struct event_attr *attr, unsigned int level);

/* Returns the smallest published size, from VER5 on, that covers all members that are not zero. */
uint32_t attr_size_needed(const struct event_attr *attr);

#endif
