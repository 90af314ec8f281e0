/* event_probe_left.c - find and remove probes in tracefs whose recorder was killed.
 *
 * The name of a probe's group identifies its recorder. Probes of other PID namespaces are left
 * alone, because their processes can't be seen. The kernel does not remove probes that are in use.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read_text.h"
#include "base/tracefs.h"
#include "event/event_kinds.h"

#define LIMIT (16u << 20)	/* bytes of a list of probes */

/* Identifies a process even after its pid is used again. */
struct owner {
	uintmax_t pid_namespace;	/* its inode */
	int pid;
	unsigned long long start;	/* clock ticks since boot */
};

static bool read_owner(int pid, struct owner *o)
{
	char path[32], text[1024], *end;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_text(AT_FDCWD, path, text, sizeof(text)) <= 0 || stat("/proc/self/ns/pid", &st))
		return false;
	/* The comm may contain ") ". The start time is the 19th number after the state. */
	end = strrchr(text, ')');
	*o = (struct owner){ st.st_ino, pid, 0 };
	return end && sscanf(end + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
			     " %*s %*s %*s %*s %llu", &o->start) == 1;
}

bool probe_group(char *name, size_t size)
{
	struct owner o;

	if (!read_owner((int)getpid(), &o))
		return false;
	snprintf(name, size, "precord_%jx_%d_%llx", o.pid_namespace, o.pid, o.start);
	return true;
}

static bool is_left_behind(const char *group, const struct owner *self)
{
	struct owner o, now;

	if (sscanf(group, "precord_%jx_%d_%llx/", &o.pid_namespace, &o.pid, &o.start) != 3 ||
	    o.pid_namespace != self->pid_namespace)
		return false;
	return !read_owner(o.pid, &now) || now.start != o.start;
}

/* Lines are "p:GROUP/EVENT ADDRESS ARGUMENTS" or "r8:GROUP/EVENT ...". */
static void check_line(char *line, const struct owner *self, struct probes_left *left, int list)
{
	char *name = strchr(line, ':'), command[256];

	if (!name || !is_left_behind(name + 1, self))
		return;
	left->n++;
	if (list < 0)
		return;
	snprintf(command, sizeof(command), "-:%.*s", (int)strcspn(name + 1, " "), name + 1);
	left->removed += write(list, command, strlen(command)) > 0;
}

static void check_list(int tracefs, const char *file, const struct owner *self,
		       enum probes_action action, struct probes_left *left)
{
	size_t size;
	char *text = read_text_all(tracefs, file, LIMIT, &size), *rest = text, *line;
	int list = -1;

	if (text && action == PROBES_REMOVE)
		list = openat(tracefs, file, O_WRONLY | O_APPEND | O_CLOEXEC);
	while (text && (line = strsep(&rest, "\n")))
		check_line(line, self, left, list);
	if (list >= 0)
		close(list);
	free(text);
}

struct probes_left probes_left(enum probes_action action)
{
	struct probes_left left = { 0 };
	int tracefs = tracefs_open();
	struct owner self;

	if (tracefs >= 0 && read_owner((int)getpid(), &self)) {
		check_list(tracefs, "uprobe_events", &self, action, &left);
		check_list(tracefs, "kprobe_events", &self, action, &left);
	}
	if (tracefs >= 0)
		close(tracefs);
	return left;
}
