/* pdecode_clocks.h - which clocks are tied to wall time, for --utc. */
#ifndef PD_TOOLS_PDECODE_CLOCKS_H
#define PD_TOOLS_PDECODE_CLOCKS_H

#include "cli/cli.h"
#include "pd/pd.h"

/* Reports once which events have no wall times. To be called at the end of the input: in a pipe the
 * features are records. */
void clocks_report_untied(const struct cli_tool *tool, const char *input,
			  const struct pd_reader *reader);

#endif
