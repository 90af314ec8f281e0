/* cpu_filter.h - whether samples have the CPU that --cpu compares: the filter keeps those that have
 * none. */
#ifndef PD_TOOLS_CPU_FILTER_H
#define PD_TOOLS_CPU_FILTER_H

#include "files/input.h"
#include "recording/filter.h"

/* Checks that samples of at least one wanted event have a CPU, if there is --cpu. The input must be
 * one that can be read again. Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit cpu_filter_check(const struct cli_tool *tool, const struct filter_settings *s,
			       const struct input *in);

/* Reports a wanted event whose samples have no CPU, if there is --cpu. To be called at the end of
 * the input: a pipe may define events anywhere. */
void cpu_filter_report(const struct cli_tool *tool, const struct filter_settings *s,
		       const struct pd_reader *reader);

#endif
