/* strangers.c - /proc/PID tells a process's user and its number in its own namespace, while it
 * runs. */
#include "run/strangers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/process_path.h"

static bool find_namespace(pid_t pid, struct stat *out)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat(path, out) == 0;
}

static bool find_user(pid_t pid, uid_t *out)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return false;
	*out = st.st_uid;
	return true;
}

void strangers_start(struct strangers *s)
{
	struct stat own;

	if (!find_namespace(getpid(), &own))
		return;
	s->own_ns_dev = own.st_dev;
	s->own_ns_ino = own.st_ino;
	s->of = calloc(HELD_PROCESSES_MOST, sizeof(*s->of));
}

static struct held_process *find_stranger(struct strangers *s, pid_t pid)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->of[i].pid == pid)
			return &s->of[i];
	return NULL;
}

static struct held_process *find_place(struct strangers *s, pid_t pid)
{
	struct held_process *known = find_stranger(s, pid);

	if (known)
		return known;
	if (s->n < HELD_PROCESSES_MOST)
		return &s->of[s->n++];
	s->oldest = (s->oldest + 1) % HELD_PROCESSES_MOST;
	return &s->of[s->oldest];
}

static void remove_stranger(struct strangers *s, size_t i)
{
	s->of[i] = s->of[--s->n];
}

static bool is_in_own_namespace(const struct strangers *s, const struct stat *ns)
{
	return ns->st_dev == s->own_ns_dev && ns->st_ino == s->own_ns_ino;
}

/* A program may be another user's than the one that the process ran before. */
void strangers_add(struct strangers *s, pid_t pid, int root)
{
	struct held_process found = { .pid = pid, .inner_pid = pid, .root = root };
	struct held_process *known;
	struct stat ns;

	if (!s->of || !find_user(pid, &found.user) || !find_namespace(pid, &ns))
		return;
	if (!is_in_own_namespace(s, &ns))
		found.inner_pid = process_inner_pid(pid);
	known = find_stranger(s, pid);
	if (found.inner_pid != pid || root >= 0 || found.user != geteuid())
		*find_place(s, pid) = found;
	else if (known)
		remove_stranger(s, (size_t)(known - s->of));
}

void strangers_fork(struct strangers *s, pid_t parent, pid_t child)
{
	const struct held_process *known = s->n ? find_stranger(s, parent) : NULL;

	if (known && parent != child)
		strangers_add(s, child, known->root);
}

const struct held_process *strangers_find(const struct strangers *s, pid_t pid)
{
	return find_stranger((struct strangers *)s, pid);
}

pid_t strangers_running_in(const struct strangers *s, int root)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->of[i].root == root && held_is_running(s->of[i].pid))
			return s->of[i].pid;
	return -1;
}

void strangers_forget_root(struct strangers *s, int root)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->of[i].root == root)
			remove_stranger(s, i);
}

void strangers_close(struct strangers *s)
{
	free(s->of);
	*s = (struct strangers){ 0 };
}
