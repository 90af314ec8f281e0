/* symbols_file.c - the file of --symbols-file: see symbols_file.h. */
#include "recording/symbols_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST = 1 << 28 };	/* bytes that precord writes */

static enum cli_exit refuse_file(const struct cli_tool *tool, const char *path, const char *why)
{
	cli_error(tool, "%s: %s", path, why);
	return CLI_INPUT;
}

static enum cli_exit read_bytes(const struct cli_tool *tool, const char *path, FILE *file,
				struct pd_bytes *out)
{
	struct stat st;
	uint8_t *bytes;

	if (fstat(fileno(file), &st))
		return refuse_file(tool, path, strerror(errno));
	if (!S_ISREG(st.st_mode) || !st.st_size || st.st_size > MOST)
		return refuse_file(tool, path, SYMBOLS_FILE_UNKNOWN);
	bytes = malloc((size_t)st.st_size);
	if (!bytes)
		return refuse_file(tool, path, strerror(ENOMEM));
	*out = (struct pd_bytes){ bytes, fread(bytes, 1, (size_t)st.st_size, file) };
	if (!ferror(file))
		return CLI_OK;
	free(bytes);
	*out = (struct pd_bytes){ NULL, 0 };
	return refuse_file(tool, path, strerror(errno));
}

enum cli_exit symbols_file_read(const struct cli_tool *tool, const char *path, struct pd_bytes *out)
{
	FILE *file = fopen(path, "rbe");
	enum cli_exit status;

	if (!file)
		return refuse_file(tool, path, strerror(errno));
	status = read_bytes(tool, path, file, out);
	fclose(file);
	return status;
}
