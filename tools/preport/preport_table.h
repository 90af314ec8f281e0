/* preport_table.h - the order and the columns of a table, as --sort names them. */
#ifndef PREPORT_TABLE_H
#define PREPORT_TABLE_H

#include "cli/cli.h"
#include "pd/profile.h"

/* For completion. */
#define TABLE_SORT_WORDS "self total event comm pid tid cpu cgroup dso sym srcline"

struct table {
	enum pp_sort sort;
	enum pp_key keys[PP_NR_KEYS];	/* up to the first PP_KEY_NONE */
};

/* Reads a list of words, which may be NULL. Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit table_read(const struct cli_tool *tool, const char *list, struct table *t);

/* Returns whether a key is the event. */
bool table_has_events(const struct table *t);

/* Returns whether a key is the line of the source. */
bool table_has_lines(const struct table *t);

/* Returns the groups, of enum pp_group, that the keys need. */
uint32_t table_groups(const struct table *t);

#endif
