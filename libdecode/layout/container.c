/* container.c - headers of a file and of a pipe (perf's util/header.h, struct perf_file_header). */
#include "layout/container.h"

#define SECTION(n, d) STRUCT(n, d, \
			     FIELDS(U64(offset, "offset in the file"), \
				    U64(size, "size in bytes")))

const struct pd_field pd_file_header_fields[] = {
	BYTES(magic, "PERFILE2, or 2ELIFREP from the other byte order; PERFFILE before perf 3.4",
	      TIMES(8), ROLE(NONE)),
	U64(size, "size of this header: 104; 72 without adds_features; 16 in a pipe"),
	U64(attr_size, "size of an entry of attrs: the attr and the section of its ids"),
	SECTION(attrs, "the events"),
	SECTION(data, "the records"),
	SECTION(event_types,
		"names of events (perf before 3.12); offset 1 and size 0: precord has not "
		"finished"),
	NUMBERS(8, PD_HEX, adds_features, "bit n: feature n has a section", TIMES(4), IF_LEFT(32),
		ROLE(NONE)),
	{ .kind = PD_END },
};

/* Follows each attr in the attrs section; also an entry of the feature table. */
const struct pd_field pd_section_fields[] = {
	U64(offset, "offset in the file"),
	U64(size, "size in bytes"),
	{ .kind = PD_END },
};

/* The own table: features that perf doesn't have, without bits in adds_features. perf 6.1 ends with
 * a segmentation fault when it copies a header with a bit above its own (perf inject). It stands
 * directly after the feature table, to which the bits lead, and before the first section. */
const struct pd_field pd_own_table_fields[] = {
	BYTES(magic, "PDFEATS1", TIMES(8), ROLE(NONE)),
	U64(nr, "number of entries that follow"),
	{ .kind = PD_END },
};

/* An entry of the own table; ids ascend. */
const struct pd_field pd_own_entry_fields[] = {
	U64(id, "number of the feature, from 240 on"),
	U64(offset, "offset in the file"),
	U64(size, "size in bytes"),
	{ .kind = PD_END },
};

/* The obsolete event_types section. */
const struct pd_field pd_event_type_fields[] = {
	U64(event_id, "config"),
	CHARS(64, name, "name of the event", ROLE(EVENT_NAME)),
	{ .kind = PD_END },
};
