/* preport_fields.h - what each sample has in -f script, as -F names it. */
#ifndef PREPORT_FIELDS_H
#define PREPORT_FIELDS_H

#include "cli/cli.h"
#include "pd/profile.h"

/* For completion. */
#define FIELDS_WORDS "comm pid tid cpu time period event trace ip sym symoff dso " \
		     "bpf-output"

/* Reads a list of words, which may be NULL, into o->fields and o->trace_fields. Returns CLI_OK, or
 * CLI_USAGE after a message. */
enum cli_exit fields_read(const struct cli_tool *tool, const char *list, struct pp_script *o);

#endif
