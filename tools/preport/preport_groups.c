/* preport_groups.c - frames above the stacks, labels and marks: --group, --labels, --annotate. */
#include "preport/preport_groups.h"

#include <string.h>

static const struct {
	const char *word;
	uint32_t group;
} words[] = {
	{ "none", 0 }, { "comm", PP_GROUP_COMM }, { "pid", PP_GROUP_PID },
	{ "tid", PP_GROUP_TID }, { "cpu", PP_GROUP_CPU }, { "cgroup", PP_GROUP_CGROUP },
};

enum { NR_WORDS = sizeof(words) / sizeof(*words) };

static bool is_word(const char *word, const char *item, size_t size)
{
	return size == strlen(word) && memcmp(item, word, size) == 0;
}

/* Returns the index of a word, or NR_WORDS. */
static size_t find_word(const char *item, size_t size)
{
	size_t i = 0;

	while (i < NR_WORDS && !is_word(words[i].word, item, size))
		i++;
	return i;
}

/* Returns whether a list has `none` among other words. */
static bool contradicts_itself(const char *list)
{
	size_t nr = 0, nr_none = 0, n;
	const char *item;

	for (; (item = cli_next_item(&list, &n)); nr++)
		nr_none += is_word("none", item, n);
	return nr_none && nr > 1;
}

static enum cli_exit read_groups(const struct cli_tool *tool, const char *list, uint32_t *groups)
{
	const char *item;
	size_t n, i;

	if (contradicts_itself(list))
		return cli_usage(tool, "--group %s: none is not for others, too", list);
	while ((item = cli_next_item(&list, &n))) {
		i = find_word(item, n);
		if (i == NR_WORDS)
			return cli_usage(tool, "--group %.*s: is not comm, pid, tid, cpu, cgroup "
					 "or none", (int)n, item);
		*groups |= words[i].group;
	}
	return CLI_OK;
}

enum cli_exit groups_read(const struct cli_tool *tool, const struct cli_list *lists,
			  const struct format *format, uint32_t *groups)
{
	enum cli_exit status = CLI_OK;

	*groups = lists->count ? 0 : format->groups ? format->groups : PP_GROUP_COMM;
	for (size_t i = 0; i < lists->count && status == CLI_OK; i++)
		status = read_groups(tool, lists->items[i], groups);
	return status;
}

enum cli_exit labels_read(const struct cli_tool *tool, const char *list, uint32_t *groups,
			  uint32_t *labels)
{
	const char *item;
	size_t n, i;

	*groups = *labels = 0;
	if (contradicts_itself(list))
		return cli_usage(tool, "--labels %s: none is not for others, too", list);
	while ((item = cli_next_item(&list, &n))) {
		i = find_word(item, n);
		if (is_word("execution_mode", item, n))
			*labels |= PP_LABEL_MODE;
		else if (is_word("timestamp_ns", item, n))
			*labels |= PP_LABEL_TIME;
		else if (i < NR_WORDS)
			*groups |= words[i].group;
		else
			return cli_usage(tool, "--labels %.*s: is not comm, pid, tid, cpu, cgroup, "
					 "execution_mode, timestamp_ns or none", (int)n, item);
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
