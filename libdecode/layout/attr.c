/* attr.c - struct perf_event_attr (linux/perf_event.h), from VER0 (64 bytes) to config4 (144).
 *
 * It grew at its end: `size` says how much of it there is. Its bit-fields are laid out from the top on big-endian
 * machines. The section of a file pads each to a common stride.
 */
#include "layout/desc.h"
#include "layout/names_tables.h"

#define FREQ (1ull << 10)
#define WATERMARK (1ull << 14)
#define USE_CLOCKID (1ull << 25)
#define BREAKPOINT 5

static const struct pd_bits flag_bits[] = {
	BIT(precise_ip, 15, 2),
	{ .name = NULL },
};

static const struct pd_bits aux_action_bits[] = {
	BIT(aux_start_paused, 0, 1),
	BIT(aux_pause, 1, 1),
	BIT(aux_resume, 2, 1),
	BIT_RESERVED(3, 29),
	{ .name = NULL },
};

#define ATTR_ROWS \
	ENUM(4, type, "the kind of event, or the number of its PMU", pd_names_attr_type), \
	U32(size, "bytes of this structure"), \
	X64(config, "which event, in the type's own coding", ROLE(NONE)), \
	U64(sample_freq, "samples per second", IF_MASK(flags, FREQ)), \
	U64(sample_period, "events per sample, 0: count only", UNLESS_MASK(flags, FREQ)), \
	FLAGS(8, sample_type, "what a sample holds", pd_names_sample_type), \
	FLAGS(8, read_format, "what a count holds", pd_names_read_format), \
	{ PD_KEY(flags), .kind = PD_UINT, .width = 8, .show = PD_FLAGS, .msb_first = true, .bits = flag_bits, \
	  .names = pd_names_attr_flags, .doc = "the bit-fields, as little-endian machines number them" }, \
	U32(wakeup_watermark, "bytes before a wake-up", IF_MASK(flags, WATERMARK)), \
	U32(wakeup_events, "samples before a wake-up", UNLESS_MASK(flags, WATERMARK)), \
	ENUM(4, bp_type, "what a breakpoint waits for", pd_names_bp_type), \
	X64(bp_addr, "a breakpoint's address", IF_EQUAL(type, BREAKPOINT), ROLE(DATA_ADDRESS)), \
	X64(config1, "more of config; a probe's name or path", UNLESS_EQUAL(type, BREAKPOINT), ROLE(NONE)), \
	U64(bp_len, "a breakpoint's length in bytes", \
	    .when = { .on = PD_ON_EQUAL, .sibling = "type", .value = BREAKPOINT, .left = 8 }), \
	X64(config2, "more of config; a probe's offset", \
	    .when = { .on = PD_ON_EQUAL, .sibling = "type", .value = BREAKPOINT, .unless = true, .left = 8 }, ROLE(NONE)), \
	FLAGS(8, branch_sample_type, "which branches are recorded", pd_names_branch_sample_type, IF_LEFT(8)), \
	X64(sample_regs_user, "mask of user registers", IF_LEFT(8), ROLE(NONE)), \
	U32(sample_stack_user, "bytes of user stack", IF_LEFT(4)), \
	{ PD_KEY(clockid), .kind = PD_UINT, .width = 4, .show = PD_ENUM, .names = pd_names_clockid, \
	  .doc = "the clock of `time`", \
	  .when = { .on = PD_ON_MASK, .sibling = "flags", .value = USE_CLOCKID, .left = 4 } }, \
	PAD(TIMES(4), .when = { .on = PD_ON_MASK, .sibling = "flags", .value = USE_CLOCKID, .unless = true, .left = 4 }), \
	X64(sample_regs_intr, "mask of registers at the interrupt", IF_LEFT(8), ROLE(NONE)), \
	U32(aux_watermark, "bytes of AUX data before a wake-up", IF_LEFT(4)), \
	U16(sample_max_stack, "callchain entries at most", IF_LEFT(2)), \
	PAD(TIMES(2), IF_LEFT(2)), \
	U32(aux_sample_size, "bytes of AUX data in a sample", IF_LEFT(4)), \
	{ PD_KEY(aux_action), .kind = PD_UINT, .width = 4, .show = PD_BITS_OBJECT, .msb_first = true, \
	  .bits = aux_action_bits, .doc = "what this event does to its group's AUX event", IF_LEFT(4) }, \
	X64(sig_data, "goes to the SIGTRAP of sigtrap", IF_LEFT(8), ROLE(NONE)), \
	X64(config3, "more of config", IF_LEFT(8), ROLE(NONE)), \
	X64(config4, "more of config", IF_LEFT(8), ROLE(NONE))

const struct pd_field pd_attr_fields[] = {
	STRUCT(attr, "struct perf_event_attr", FIELDS(ATTR_ROWS), EXTENT_OWN(size, 64)),
	{ .kind = PD_END },
};

const struct pd_field pd_file_attr_fields[] = {
	STRUCT(attr, "struct perf_event_attr", FIELDS(ATTR_ROWS), EXTENT_OWN(size, 64)),
	PAD(TIMES_REST),
	{ .kind = PD_END },
};
