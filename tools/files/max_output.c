/* max_output.c - parse --max-output. */
#include "files/max_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BYTES (1ull << 30)
#define DEFAULT_RATIO 4096

static int parse_limit(const char *text, struct max_output *out)
{
	static const char units[] = "KMGT";
	unsigned long long n;
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	n = strtoull(text, &end, 10);
	*out = (struct max_output){ .bytes = n };
	if (errno)
		return -1;
	if (!*end)
		return 0;
	if (end[1])
		return -1;
	if (*end == 'x') {
		*out = (struct max_output){ .ratio = n };
		return 0;
	}
	unit = strchr(units, *end);
	if (!unit || n > UINT64_MAX >> 10 * (unit - units + 1))
		return -1;
	out->bytes = n << 10 * (unit - units + 1);
	return 0;
}

enum cli_exit max_output_read(const struct cli_tool *tool, const char *text, struct max_output *out)
{
	*out = (struct max_output){ DEFAULT_BYTES, DEFAULT_RATIO };
	if (text && parse_limit(text, out))
		return cli_usage(tool, "'--max-output=%s': expected a ratio (100x) or a size (2G)",
				 text);
	return CLI_OK;
}
