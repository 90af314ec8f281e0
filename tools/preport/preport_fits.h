/* preport_fits.h - whether a profile fits into the format that it is to be written in. */
#ifndef PD_TOOLS_PREPORT_FITS_H
#define PD_TOOLS_PREPORT_FITS_H

#include "cli/cli.h"
#include "pd/profile.h"

/* Must be called before anything is written. `input` is for messages. Returns CLI_OK, or CLI_OUTPUT
 * after a message. */
enum cli_exit fits_check(const struct cli_tool *tool, const char *input, struct pp_profile *p,
			 const struct pp_write *o);

#endif
