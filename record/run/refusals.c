/* refusals.c - the kernel ends the events of a process whose memory others may not read
 * (begin_new_exec() in fs/exec.c), also those of root. */
#include "run/refusals.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns whether the user or group of a process is not that of its caller. Sets its name. */
static bool has_other_rights(pid_t pid, char name[REFUSED_NAME])
{
	unsigned int real, effective;
	bool differs = false;
	char path[32], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && !differs && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Uid: %u %u", &real, &effective) == 2 ||
		    sscanf(line, "Gid: %u %u", &real, &effective) == 2)
			differs = real != effective;
		sscanf(line, "Name: %63[^\n]", name);
	}
	if (f)
		fclose(f);
	return differs;
}

/* Root may follow the link of any process. */
static bool is_hidden(pid_t pid)
{
	char path[32], target[1];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, target, sizeof(target)) < 0 && errno == EACCES;
}

/* One that started another program since is seen again. */
void refusals_look(struct refusals *f, pid_t pid)
{
	char name[REFUSED_NAME] = "";

	if ((!has_other_rights(pid, name) && !is_hidden(pid)) || !name[0] || pid == f->last)
		return;
	f->last = pid;
	if (!f->n++)
		snprintf(f->first, sizeof(f->first), "%s", name);
}

void refusals_log(const struct refusals *f, const struct logger *log)
{
	if (f->n == 1)
		log_at(log, LOG_WARNING, "the kernel did not let '%s' be recorded: it has other "
		       "rights than its caller (setuid), or its file can't be read; precord -a as "
		       "root records it, and sudo precord what sudo would start", f->first);
	if (f->n > 1)
		log_at(log, LOG_WARNING, "the kernel did not let %zu programs be recorded, first "
		       "'%s': they have other rights than their callers (setuid), or their files "
		       "can't be read; precord -a as root records them, and sudo precord what sudo "
		       "would start", f->n, f->first);
}
