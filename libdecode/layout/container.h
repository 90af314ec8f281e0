/* container.h - layouts of the parts around the records. */
#ifndef PD_LAYOUT_CONTAINER_H
#define PD_LAYOUT_CONTAINER_H

#include "layout/desc.h"
#include "layout/record_header.h"

#define PD_MAGIC_SIZE 16		/* size of a pipe's header; common to both */
#define PD_MAGIC_TEXT 8			/* bytes of it before its size */
#define PD_FILE_HEADER_V1 72		/* without adds_features */
#define PD_FILE_HEADER_SIZE 104
#define PD_SECTION_SIZE 16
#define PD_FEATURE_BITS 256
/* The own table, directly after perf's. */
#define PD_OWN_TABLE_MAGIC "PDFEATS1"
#define PD_OWN_TABLE_HEAD 16
#define PD_OWN_ENTRY_SIZE 24
#define PD_OWN_FEATURES_MAX (PD_FEATURE_PD_END - PD_FEATURE_PD_START)
#define PD_OWN_TABLE_MAX (PD_OWN_TABLE_HEAD + PD_OWN_FEATURES_MAX * PD_OWN_ENTRY_SIZE)
#define PD_FEATURE_TABLES_MAX (PD_FEATURE_BITS * PD_SECTION_SIZE + PD_OWN_TABLE_MAX)
#define PD_EVENT_TYPE_SIZE 72
/* event_types.offset, with size 0, until our recorder has finished. It is inside the header, where
 * perf never puts them, and perf ignores an empty section. It is small because some JSON tools
 * round numbers above 2^53. */
#define PD_UNFINISHED_AT 1
#define PD_ATTR_SIZE_VER0 64

/* Offsets of the numbers of pd_file_header_fields, for the recovery of damaged headers. */
enum pd_header_number {
	PD_HEADER_SIZE = 8, PD_HEADER_ATTR_SIZE = 16, PD_HEADER_ATTRS_OFFSET = 24,
	PD_HEADER_ATTRS_SIZE = 32, PD_HEADER_DATA_OFFSET = 40, PD_HEADER_DATA_SIZE = 48,
	PD_HEADER_EVENT_TYPES_OFFSET = 56, PD_HEADER_EVENT_TYPES_SIZE = 64,
};

static inline bool pd_feature_is_own(uint32_t id)
{
	return id >= PD_FEATURE_PD_START && id < PD_FEATURE_PD_END;
}

/* `size` and `flags` of a struct perf_event_attr. */
#define PD_ATTR_SIZE_AT 4
#define PD_ATTR_FLAGS_AT 40
static inline uint32_t pd_attr_size_load(const uint8_t *attr, enum pd_swap swap)
{
	return pd_load32(attr + PD_ATTR_SIZE_AT, swap);
}

extern const struct pd_field pd_file_header_fields[];
extern const struct pd_field pd_section_fields[];
extern const struct pd_field pd_own_table_fields[];
extern const struct pd_field pd_own_entry_fields[];
extern const struct pd_field pd_event_type_fields[];

#endif
