/* container.c - the headers of a file and of a pipe (perf's util/header.h, struct perf_file_header). */
#include "layout/container.h"

#define SECTION(n, d) STRUCT(n, d, FIELDS(U64(offset, "where it begins"), U64(size, "bytes")))

const struct pd_field pd_file_header_fields[] = {
	BYTES(magic, "PERFILE2, or 2ELIFREP from the other byte order; PERFFILE before perf 3.4", TIMES(8), ROLE(NONE)),
	U64(size, "bytes of this header: 104, 72 without adds_features; 16: a pipe's"),
	U64(attr_size, "bytes of an entry of attrs: the attribute and where its ids lie"),
	SECTION(attrs, "the events"),
	SECTION(data, "the records"),
	SECTION(event_types, "names of events (perf before 3.12); at 1, and 0 bytes: precord has not finished"),
	NUMBERS(8, PD_HEX, adds_features, "bit n: there is a section for feature n", TIMES(4), IF_LEFT(32), ROLE(NONE)),
	{ .kind = PD_END },
};

/* Behind each attribute in the attrs section; an entry of the feature table, too. */
const struct pd_field pd_section_fields[] = {
	U64(offset, "where it begins"),
	U64(size, "bytes"),
	{ .kind = PD_END },
};

/* The obsolete event_types section. */
const struct pd_field pd_event_type_fields[] = {
	U64(event_id, "config"),
	CHARS(64, name, "the event's", ROLE(EVENT_NAME)),
	{ .kind = PD_END },
};
