/* preport_fields.c - what each sample has in -f script, as -F names it. */
#include "preport/preport_fields.h"

#include <string.h>

static const struct {
	const char *word;
	uint32_t field;
} words[] = {
	{ "comm", PP_FIELD_COMM }, { "pid", PP_FIELD_PID }, { "tid", PP_FIELD_TID },
	{ "cpu", PP_FIELD_CPU }, { "time", PP_FIELD_TIME }, { "period", PP_FIELD_PERIOD },
	{ "event", PP_FIELD_EVENT }, { "trace", PP_FIELD_TRACE },
	{ "ip", PP_FIELD_IP | PP_FIELD_LONE_IP },
	{ "sym", PP_FIELD_SYMBOL }, { "symoff", PP_FIELD_OFFSET }, { "dso", PP_FIELD_IMAGE },
	{ "bpf-output", PP_FIELD_BPF_OUTPUT },
};

/* Returns the field of a word, or 0. */
static uint32_t find_field(const char *word, size_t size)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == size && memcmp(words[i].word, word, size) == 0)
			return words[i].field;
	return 0;
}

/* As in perf: a list of fields, or of changes to the default ones, such as +pid and -period. */
static enum cli_exit read_list(const struct cli_tool *tool, const char *list, struct pp_script *o)
{
	const bool changes = *list == '+' || *list == '-';
	const char *item;
	size_t size;

	if (!changes)
		o->fields = o->trace_fields = 0;
	while ((item = cli_next_item(&list, &size))) {
		const bool has_sign = size && (*item == '+' || *item == '-');
		const uint32_t field = find_field(item + has_sign, size - has_sign);

		if (!field)
			return cli_usage(tool, "--fields %.*s: is not one of " FIELDS_WORDS,
					 (int)size, item);
		if (has_sign != changes)
			return cli_usage(tool, "--fields has fields, or changes as +pid and "
					 "-period, not both");
		o->fields = *item == '-' ? o->fields & ~field : o->fields | field;
		o->trace_fields = *item == '-' ? o->trace_fields & ~field :
						 o->trace_fields | field;
	}
	return CLI_OK;
}

enum cli_exit fields_read(const struct cli_tool *tool, const char *list, struct pp_script *o)
{
	const uint32_t places = PP_FIELD_SYMBOL | PP_FIELD_OFFSET | PP_FIELD_IMAGE;
	enum cli_exit status;

	o->fields = PP_FIELDS;
	o->trace_fields = PP_FIELDS_OF_TRACEPOINTS;
	status = list ? read_list(tool, list, o) : CLI_OK;
	if (status == CLI_OK && !(o->fields & PP_FIELD_IP) && o->fields & places)
		return cli_usage(tool, "--fields sym, symoff and dso need ip");
	if (status == CLI_OK && o->fields & PP_FIELD_OFFSET && !(o->fields & PP_FIELD_SYMBOL))
		return cli_usage(tool, "--fields symoff needs sym");
	if (status == CLI_OK && !o->fields)
		return cli_usage(tool, "--fields leaves nothing");
	return status;
}
