/* preport_applies.h - the formats that each option is for. */
#ifndef PREPORT_APPLIES_H
#define PREPORT_APPLIES_H

#include "cli/cli.h"
#include "preport/preport_formats.h"
#include "preport/preport_options.h"

/* Returns CLI_OK; or CLI_USAGE after a message: an option was given that does nothing in this
 * format. */
enum cli_exit applies_check(const struct settings *s, const struct format *format);

#endif
