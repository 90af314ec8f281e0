/* pdecode_schema.c - print the schemas, or write them to a directory. */
#include "pdecode/pdecode_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "files/output.h"
#include "pd/schema.h"

#define SUFFIX ".schema.json"
#define RECORD "record-"
#define PAGE "RECORDS.md"	/* the schemas in readable form */

/* Index pd_schema_count() is the page. */
static const char *schema_file_name(size_t i, char *buf)
{
	return i < pd_schema_count() ? pd_schema_name(i, buf, PD_SCHEMA_NAME_SIZE) : PAGE;
}

static int write_schema(size_t i, struct pd_output out)
{
	return i < pd_schema_count() ? pd_schema_write(i, out) : pd_doc_write(out);
}

static bool name_matches(const char *what, const char *name)
{
	const size_t n = strlen(what), m = strlen(name) - (strstr(name, SUFFIX) ? strlen(SUFFIX) :
							   0);
	const size_t record = strncmp(name, RECORD, strlen(RECORD)) == 0 ? strlen(RECORD) : 0;

	return strcasecmp(what, name) == 0 || (n == m && strncasecmp(what, name, n) == 0) ||
	       (record && n == m - record && strncasecmp(what, name + record, n) == 0);
}

const char *schema_word(size_t i, char *buf, size_t size)
{
	char name[PD_SCHEMA_NAME_SIZE];
	const size_t record = strlen(RECORD);

	if (i >= pd_schema_count())
		return NULL;
	pd_schema_name(i, name, sizeof(name));
	name[strlen(name) - strlen(SUFFIX)] = '\0';
	snprintf(buf, size, "%s", strncmp(name, RECORD, record) == 0 ? name + record : name);
	return buf;
}

const char *schema_record_type(size_t i, char *buf, size_t size)
{
	char name[PD_SCHEMA_NAME_SIZE];

	for (size_t at = 0; at < pd_schema_count(); at++)
		if (strncmp(pd_schema_name(at, name, sizeof(name)), RECORD, strlen(RECORD)) == 0 &&
		    i-- == 0)
			return schema_word(at, buf, size);
	return NULL;
}

static enum cli_exit write_one(const struct cli_tool *tool, size_t i, const char *path)
{
	struct output out;
	enum cli_exit status = output_open(&out, tool, path, NULL);

	if (status == CLI_OK)
		status = output_truncate(&out);
	if (status != CLI_OK)
		return status;
	if (write_schema(i, (struct pd_output){ output_write, &out }) && !out.error) {
		cli_error(tool, "out of memory");
		status = CLI_OUTPUT;
	}
	return output_close(&out, status);
}

static enum cli_exit list_schemas(const struct cli_tool *tool, const char *path)
{
	struct output out;
	char name[PD_SCHEMA_NAME_SIZE];
	enum cli_exit status = output_open(&out, tool, path, NULL);

	if (status == CLI_OK)
		status = output_truncate(&out);
	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i <= pd_schema_count(); i++) {
		const char *text = schema_file_name(i, name);

		output_write(&out, text, strlen(text));
		output_write(&out, "\n", 1);
	}
	return output_close(&out, status);
}

static enum cli_exit write_all(const struct cli_tool *tool, const char *directory)
{
	enum cli_exit status = CLI_OK;
	char name[PD_SCHEMA_NAME_SIZE], *path;

	for (size_t i = 0; i <= pd_schema_count() && status == CLI_OK; i++) {
		if (asprintf(&path, "%s/%s", directory, schema_file_name(i, name)) < 0) {
			cli_error(tool, "out of memory");
			return CLI_OUTPUT;
		}
		status = write_one(tool, i, path);
		free(path);
	}
	return status;
}

enum cli_exit schema_write(const struct cli_tool *tool, const char *what, const char *output)
{
	char name[PD_SCHEMA_NAME_SIZE];
	struct stat st;

	if (strcmp(what, SCHEMA_LIST) == 0)
		return list_schemas(tool, output);
	for (size_t i = 0; i <= pd_schema_count(); i++)
		if (name_matches(what, schema_file_name(i, name)))
			return write_one(tool, i, output);
	if (stat(what, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (output)
			return cli_usage(tool,
					 "'--schema=%s' writes to that directory; '-o' does not "
					 "apply", what);
		return write_all(tool, what);
	}
	return cli_usage(tool,
			 "'--schema': '%s' is neither a schema nor a directory; --schema alone "
			 "lists the schemas", what);
}
