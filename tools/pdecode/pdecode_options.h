/* pdecode_options.h - the command line of pdecode. */
#ifndef PD_TOOLS_PDECODE_OPTIONS_H
#define PD_TOOLS_PDECODE_OPTIONS_H

#include "files/max_output.h"
#include "pdecode/pdecode_columns.h"
#include "recording/filter.h"
#include "recording/symbols.h"

enum { FORMAT_JSON, FORMAT_JSONL, FORMAT_STATS, FORMAT_ARROW, FORMAT_PARQUET };

struct settings {
	struct cli_list inputs;
	const char *output, *schema, *sandbox, *max_output;
	unsigned int format, blobs, sort;
	uint64_t memory;
	unsigned int jobs;
	bool strict, pretty, header_only, records_only, utc, resolve, verbose;
	struct filter_settings filter;
	struct symbol_settings symbols;
	struct column_settings columns;
};

extern const struct cli_tool pdecode;

#endif
