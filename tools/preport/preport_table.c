/* preport_table.c - the order and the columns of a table, as --sort names them. */
#include "preport/preport_table.h"

#include <string.h>

/* The words of perf report, and the two orders. */
static const struct {
	const char *word;
	enum pp_key key;	/* PP_KEY_NONE: an order */
	enum pp_sort sort;
	uint32_t group;
} words[] = {
	{ "self", PP_KEY_NONE, PP_SORT_SELF, 0 },
	{ "total", PP_KEY_NONE, PP_SORT_TOTAL, 0 },
	{ "sym", PP_KEY_SYMBOL, PP_SORT_SELF, 0 },
	{ "symbol", PP_KEY_SYMBOL, PP_SORT_SELF, 0 },
	{ "dso", PP_KEY_IMAGE, PP_SORT_SELF, 0 },
	{ "comm", PP_KEY_COMM, PP_SORT_SELF, PP_GROUP_COMM },
	{ "pid", PP_KEY_PID, PP_SORT_SELF, PP_GROUP_PID },
	{ "tid", PP_KEY_TID, PP_SORT_SELF, PP_GROUP_TID },
	{ "cpu", PP_KEY_CPU, PP_SORT_SELF, PP_GROUP_CPU },
	{ "cgroup", PP_KEY_CGROUP, PP_SORT_SELF, PP_GROUP_CGROUP },
	{ "srcline", PP_KEY_LINE, PP_SORT_SELF, 0 },
	{ "event", PP_KEY_EVENT, PP_SORT_SELF, 0 },
};

enum { NR_WORDS = sizeof(words) / sizeof(*words) };

static size_t find_word(const char *item, size_t size)
{
	size_t i = 0;

	while (i < NR_WORDS && (strlen(words[i].word) != size ||
				memcmp(words[i].word, item, size) != 0))
		i++;
	return i;
}

static bool has_key(const struct table *t, size_t n, enum pp_key key)
{
	for (size_t i = 0; i < n; i++)
		if (t->keys[i] == key)
			return true;
	return false;
}

enum cli_exit table_read(const struct cli_tool *tool, const char *list, struct table *t)
{
	size_t size, n = 0;
	const char *item;

	while (list && (item = cli_next_item(&list, &size))) {
		const size_t i = find_word(item, size);

		if (i == NR_WORDS)
			return cli_usage(tool, "--sort %.*s: is not self, total, event, comm, "
					 "pid, tid, cpu, cgroup, dso, sym or srcline",
					 (int)size, item);
		if (words[i].key == PP_KEY_NONE)
			t->sort = words[i].sort;
		else if (has_key(t, n, words[i].key))
			return cli_usage(tool, "--sort has %s twice", words[i].word);
		else
			t->keys[n++] = words[i].key;
	}
	return CLI_OK;
}

bool table_has_events(const struct table *t)
{
	return has_key(t, PP_NR_KEYS, PP_KEY_EVENT);
}

bool table_has_lines(const struct table *t)
{
	return has_key(t, PP_NR_KEYS, PP_KEY_LINE);
}

uint32_t table_groups(const struct table *t)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < PP_NR_KEYS && t->keys[i] != PP_KEY_NONE; i++)
		for (size_t k = 0; k < NR_WORDS; k++)
			if (words[k].key == t->keys[i])
				groups |= words[k].group;
	return groups;
}
