/* groups.c - the frames above the stacks: control group, task and CPU of a sample. */
#include "profile/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t from_root[] = { PP_GROUP_CGROUP, PP_GROUP_COMM, PP_GROUP_PID, PP_GROUP_TID,
				      PP_GROUP_CPU };

uint32_t pp_group_at(uint32_t groups, size_t i)
{
	for (size_t k = 0; k < sizeof(from_root) / sizeof(*from_root); k++)
		if (groups & from_root[k] && !i--)
			return from_root[k];
	return 0;
}

/* Those of virtual machines are told apart by the machine's process. */
static void put_number(char text[PP_GROUP_TEXT], const char *word, int32_t n, int32_t machine_pid)
{
	if (machine_pid)
		snprintf(text, PP_GROUP_TEXT, "%s %d@%d", word, n, machine_pid);
	else
		snprintf(text, PP_GROUP_TEXT, "%s %d", word, n);
}

static const char *cgroup_of(const struct pd_history *h, const struct pd_record *sample,
			     char text[PP_GROUP_TEXT])
{
	const char *path;
	uint64_t id;

	if (!pd_record_get_number(sample, "cgroup", &id))
		return "[no cgroup]";
	path = pd_history_cgroup(h, id);
	if (!path)
		snprintf(text, PP_GROUP_TEXT, "cgroup %llu", (unsigned long long)id);
	return path ? path : text;
}

const char *pp_group_name(enum pp_group group, const struct pd_history *h, struct pd_reader *r,
			  const struct pd_fields *sample, const struct pd_task *task,
			  char text[PP_GROUP_TEXT])
{
	switch (group) {
	case PP_GROUP_CGROUP:
		return cgroup_of(h, pd_reader_record(r, sample), text);
	case PP_GROUP_COMM:
		if (task->comm)
			return task->comm;
		snprintf(text, PP_GROUP_TEXT, ":%d", task->tid);
		return text;
	case PP_GROUP_PID:
		put_number(text, "pid", task->pid, task->machine_pid);
		return text;
	case PP_GROUP_TID:
		put_number(text, "tid", task->tid, task->machine_pid);
		return text;
	case PP_GROUP_CPU:
		if (!(sample->has & PD_HAS_CPU))
			return "[no CPU]";
		snprintf(text, PP_GROUP_TEXT, "cpu %u", (unsigned int)sample->cpu);
		return text;
	}
	return "";
}

bool pp_group_number(enum pp_group group, struct pd_bytes *text, uint64_t *number)
{
	const size_t word = strlen("pid ");

	if (group == PP_GROUP_COMM || group == PP_GROUP_CGROUP)
		return false;
	if (text->size < word || *text->data == '[') {
		text->size = 0;
		return false;
	}
	*text = (struct pd_bytes){ text->data + word, text->size - word };
	if (memchr(text->data, '@', text->size))
		return false;
	*number = strtoull((const char *)text->data, NULL, 10);
	return true;
}
