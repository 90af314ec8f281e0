/* pdecode_settings.h - the options of pdecode: which go together, and what they ask for. */
#ifndef PD_TOOLS_PDECODE_SETTINGS_H
#define PD_TOOLS_PDECODE_SETTINGS_H

#include "pdecode/pdecode_options.h"

enum { MOST_THREADS = 16 };

/* Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit settings_check(const struct settings *s, const char *operand);

/* Returns whether samples are written with their frames. */
bool settings_show_frames(const struct settings *s);
/* Returns whether names of functions are needed. */
bool settings_need_names(const struct settings *s);
/* Returns whether tables are written, not records. */
bool settings_make_tables(const struct settings *s);

#endif
