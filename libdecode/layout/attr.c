/* attr.c - struct perf_event_attr (linux/perf_event.h), from VER0 (64 bytes) to config4 (144).
 *
 * New fields are appended; `size` states how many exist. Big-endian compilers allocate the
 * bit-fields from the most significant bit. In a file's attrs section every entry is padded to the
 * same size.
 */
#include "layout/desc.h"
#include "layout/names_tables.h"
#include "pd/enums.h"

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
	ENUM(4, type, "kind of event, or id of its PMU", pd_names_attr_type), \
	U32(size, "size of this structure in bytes"), \
	X64(config, "the event, in the encoding of its type", ROLE(NONE)), \
	U64(sample_freq, "samples per second", IF_MASK(flags, PD_ATTR_FREQ)), \
	U64(sample_period, "events per sample, 0: count only", \
	    UNLESS_MASK(flags, PD_ATTR_FREQ)), \
	FLAGS(8, sample_type, "fields of a sample", pd_names_sample_type), \
	FLAGS(8, read_format, "fields of a count", pd_names_read_format), \
	{ PD_KEY(flags), .kind = PD_UINT, .width = 8, .show = PD_FLAGS, .msb_first = true, \
		.bits = flag_bits, \
	  .names = pd_names_attr_flags, \
	  .doc = "bit-fields, numbered as on little-endian machines" }, \
	U32(wakeup_watermark, "bytes before a wake-up", IF_MASK(flags, PD_ATTR_WATERMARK)), \
	U32(wakeup_events, "samples before a wake-up", UNLESS_MASK(flags, PD_ATTR_WATERMARK)), \
	ENUM(4, bp_type, "accesses that trigger the breakpoint", pd_names_bp_type), \
	X64(bp_addr, "address of the breakpoint", IF_EQUAL(type, PD_TYPE_BREAKPOINT), \
	    ROLE(DATA_ADDRESS)), \
	X64(config1, "extension of config; name or path of a probe", \
	    UNLESS_EQUAL(type, PD_TYPE_BREAKPOINT), ROLE(NONE)), \
	U64(bp_len, "length of the breakpoint in bytes", \
	    .when = { .on = PD_ON_EQUAL, .sibling = "type", .value = PD_TYPE_BREAKPOINT, \
		    .left = 8 }), \
	X64(config2, "extension of config; offset of a probe", \
	    .when = { .on = PD_ON_EQUAL, .sibling = "type", .value = PD_TYPE_BREAKPOINT, \
		    .unless = true, .left = 8 }, ROLE(NONE)), \
	FLAGS(8, branch_sample_type, "branches to record", pd_names_branch_sample_type, \
	      IF_LEFT(8)), \
	X64(sample_regs_user, "mask of the user registers in samples", IF_LEFT(8), ROLE(NONE)), \
	U32(sample_stack_user, "bytes of user stack in samples", IF_LEFT(4)), \
	{ PD_KEY(clockid), .kind = PD_UINT, .width = 4, .show = PD_ENUM, \
		.names = pd_names_clockid, \
	  .doc = "clock of `time`", \
	  .when = { .on = PD_ON_MASK, .sibling = "flags", .value = PD_ATTR_USE_CLOCKID, \
		    .left = 4 } }, \
	PAD(TIMES(4), \
	    .when = { .on = PD_ON_MASK, .sibling = "flags", .value = PD_ATTR_USE_CLOCKID, \
		    .unless = true, .left = 4 }), \
	X64(sample_regs_intr, "mask of the interrupt-time registers in samples", IF_LEFT(8), \
	    ROLE(NONE)), \
	U32(aux_watermark, "bytes of AUX data before a wake-up", IF_LEFT(4)), \
	U16(sample_max_stack, "maximum number of callchain entries", IF_LEFT(2)), \
	PAD(TIMES(2), IF_LEFT(2)), \
	U32(aux_sample_size, "bytes of AUX data in samples", IF_LEFT(4)), \
	{ PD_KEY(aux_action), .kind = PD_UINT, .width = 4, .show = PD_BITS_OBJECT, \
		.msb_first = true, \
	  .bits = aux_action_bits, .doc = "effect of this event on the AUX event of its group", \
	  IF_LEFT(4) }, \
	X64(sig_data, "data for the SIGTRAP of sigtrap", IF_LEFT(8), ROLE(NONE)), \
	X64(config3, "extension of config", IF_LEFT(8), ROLE(NONE)), \
	X64(config4, "extension of config", IF_LEFT(8), ROLE(NONE))

const struct pd_field pd_attr_fields[] = {
	STRUCT(attr, "struct perf_event_attr", FIELDS(ATTR_ROWS), EXTENT_OWN(size, 64)),
	{ .kind = PD_END },
};

const struct pd_field pd_file_attr_fields[] = {
	STRUCT(attr, "struct perf_event_attr", FIELDS(ATTR_ROWS), EXTENT_OWN(size, 64)),
	PAD(TIMES_REST),
	{ .kind = PD_END },
};
