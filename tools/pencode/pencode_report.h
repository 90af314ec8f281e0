/* pencode_report.h - what the encoder could not write. */
#ifndef PD_TOOLS_PENCODE_REPORT_H
#define PD_TOOLS_PENCODE_REPORT_H

#include "cli/cli.h"
#include "pd/write.h"

/* Reports the parts that the output can't represent, and the edits that have no effect. Returns
 * CLI_ERRORS if there are any, else CLI_OK. `input`: a name for messages. */
enum cli_exit report_left_out(const struct cli_tool *tool, const char *input,
			      const struct pd_encoder *enc);

#endif
