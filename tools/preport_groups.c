/* preport_groups.c - the frames above the stacks, and the marks of frames: --group, --annotate. */
#include "preport_groups.h"

#include <string.h>

static const struct {
	const char *word;
	uint32_t group;
} words[] = {
	{ "none", 0 }, { "comm", PP_GROUP_COMM }, { "pid", PP_GROUP_PID },
	{ "tid", PP_GROUP_TID }, { "cpu", PP_GROUP_CPU }, { "cgroup", PP_GROUP_CGROUP },
};

enum { NR_WORDS = sizeof(words) / sizeof(*words) };

enum cli_exit groups_read(const struct cli_tool *tool, const char *list,
			  const struct format *format, uint32_t *groups)
{
	const char *item;
	size_t n, i;

	*groups = list ? 0 : format->groups ? format->groups : PP_GROUP_COMM;
	while (list && (item = cli_next_item(&list, &n))) {
		for (i = 0; i < NR_WORDS; i++)
			if (n == strlen(words[i].word) && memcmp(item, words[i].word, n) == 0)
				break;
		if (i == NR_WORDS)
			return cli_usage(tool, "--group %.*s: is not comm, pid, tid, cpu, cgroup "
					 "or none", (int)n, item);
		*groups |= words[i].group;
	}
	return CLI_OK;
}

enum cli_exit marks_read(const struct cli_tool *tool, const char *list, uint32_t *marks)
{
	static const char letters[] = "kji";
	const char *item, *letter;
	size_t n;

	*marks = 0;
	while (list && (item = cli_next_item(&list, &n))) {
		letter = n == 1 ? strchr(letters, *item) : NULL;
		if (!letter)
			return cli_usage(tool, "--annotate %.*s: is not k, j or i", (int)n, item);
		*marks |= 1u << (letter - letters);
	}
	return CLI_OK;
}
