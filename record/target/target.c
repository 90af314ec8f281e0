/* target.c - find the processes, users and cpus that the options name. */
#include "target/target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc_task.h"
#include "base/read_text.h"

enum {
	MAX_CPUS = 1 << 16,
	COMMAND_LINE = 4096,	/* bytes that are read */
};

static bool read_online_cpus(struct int_list *cpus)
{
	char text[4096];

	if (read_text(AT_FDCWD, "/sys/devices/system/cpu/online", text, sizeof(text)) > 0 &&
	    int_list_parse(cpus, text, MAX_CPUS))
		return true;
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
		if (int_list_add(cpus, (int)i))
			return false;
	return cpus->n > 0;
}

/* Adds all threads of a process. False: it has ended. */
static bool add_threads_of(struct int_list *threads, pid_t pid)
{
	char path[64];
	struct dirent *d;
	size_t before = threads->n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]) &&
		    int_list_add(threads, atoi(d->d_name)))
			break;
	closedir(dir);
	return threads->n > before;
}

/* Whether to record the process of a directory in /proc. */
typedef bool (*process_test)(int proc, const char *pid, const void *criterion);

static bool is_owned_by(int proc, const char *pid, const void *criterion)
{
	struct stat st;

	return fstatat(proc, pid, &st, 0) == 0 && st.st_uid == *(const uid_t *)criterion;
}

/* Stores the arguments with blanks between them. False: it has none; kernel threads don't. */
static bool read_command_line(int proc, const char *pid, char text[COMMAND_LINE])
{
	char path[300];
	ssize_t size = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/cmdline", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		size = read(fd, text, COMMAND_LINE - 1);
		close(fd);
	}
	if (size <= 0)
		return false;
	for (ssize_t i = 0; i < size - 1; i++)
		if (!text[i])
			text[i] = ' ';
	text[size] = '\0';
	return true;
}

/* Ancestors such as timeout(1), a shell or sudo have the expression in their own command lines. */
static bool is_ancestor(int proc, pid_t pid)
{
	struct task t = { 0 };
	pid_t ancestor = getppid();

	while (ancestor > 0 && ancestor != pid && task_read(&t, proc, ancestor, 0, 0))
		ancestor = t.ppid;
	task_release(&t);
	return ancestor == pid;
}

static bool has_command_line(int proc, const char *pid, const void *criterion)
{
	char text[COMMAND_LINE];

	return read_command_line(proc, pid, text) && regexec(criterion, text, 0, NULL, 0) == 0 &&
	       !is_ancestor(proc, atoi(pid));
}

static void log_chosen(int proc, const char *pid, const struct logger *log)
{
	char text[COMMAND_LINE];

	if (log->level >= LOG_DETAIL)
		log_at(log, LOG_DETAIL, "process %s: %s", pid,
		       read_command_line(proc, pid, text) ? text : "(no command line)");
}

/* Adds the threads of all processes that pass the test, except this one. Returns how many. */
static size_t add_matching(struct int_list *threads, process_test test, const void *criterion,
			   const struct logger *log)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	size_t before = threads->n;

	if (!dir)
		return 0;
	while ((d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]) && atoi(d->d_name) != getpid() &&
		    test(dirfd(dir), d->d_name, criterion) &&
		    add_threads_of(threads, atoi(d->d_name)))
			log_chosen(dirfd(dir), d->d_name, log);
	closedir(dir);
	return threads->n - before;
}

static int add_by_pattern(struct target *t, const char *pattern, const struct logger *log)
{
	regex_t regex;
	size_t found;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return log_error(log, CLI_USAGE,
				 "'-p %s' is neither a process id nor a regular expression",
				 pattern);
	found = add_matching(&t->threads, has_command_line, &regex, log);
	regfree(&regex);
	if (!found)
		return log_error(log, CLI_INPUT, "no command line of a process matches '%s'",
				 pattern);
	return 0;
}

/* -1, or a number that is too large, would match command lines that happen to contain it. */
static bool is_like_number(const char *item)
{
	const char *digits = item + (*item == '-');

	return *digits && !digits[strspn(digits, "0123456789")];
}

static int add_process(struct target *t, const char *item, const struct logger *log)
{
	uint64_t pid = UINT64_MAX;

	/* The regular expression of no characters matches every process. */
	if (!*item)
		return log_error(log, CLI_USAGE, "'-p' needs a process id, not an empty one");
	if (!parse_number(item, &pid) && !is_like_number(item))
		return add_by_pattern(t, item, log);
	if (pid > INT32_MAX || !add_threads_of(&t->threads, (pid_t)pid))
		return log_error(log, CLI_INPUT, "there is no process %s", item);
	return 0;
}

static int add_thread(struct target *t, const char *item, const struct logger *log)
{
	char path[64];
	uint64_t tid;

	if (!parse_number(item, &tid) || tid > INT32_MAX)
		return log_error(log, CLI_USAGE, "'-t %s' is not a thread id", item);
	snprintf(path, sizeof(path), "/proc/%llu", (unsigned long long)tid);
	if (access(path, F_OK))
		return log_error(log, CLI_INPUT, "there is no thread %s", item);
	return int_list_add(&t->threads, (int)tid)
		       ? log_error(log, CLI_OUTPUT, "out of memory")
		       : 0;
}

static int add_list(struct target *t, const struct cli_list *list, const struct logger *log,
		    int (*add)(struct target *, const char *, const struct logger *))
{
	for (size_t i = 0; i < list->count; i++) {
		const char *rest = list->items[i];
		size_t size;

		for (const char *item; (item = cli_next_item(&rest, &size));) {
			char text[4096];
			int err;

			snprintf(text, sizeof(text), "%.*s", (int)size, item);
			err = add(t, text, log);
			if (err)
				return err;
		}
	}
	return 0;
}

static int add_user(struct target *t, const char *name, const struct logger *log)
{
	struct passwd *user = getpwnam(name);
	uint64_t number;
	uid_t uid;

	if (user)
		uid = user->pw_uid;
	else if (parse_number(name, &number))
		uid = (uid_t)number;
	else
		return log_error(log, CLI_USAGE, "there is no user '%s'", name);
	if (!add_matching(&t->threads, is_owned_by, &uid, log))
		return log_error(log, CLI_INPUT, "user %s has no processes", name);
	return 0;
}

static int choose_threads(struct target *t, const struct settings *o, const struct logger *log)
{
	int err = add_list(t, &o->pids, log, add_process);

	if (!err)
		err = add_list(t, &o->tids, log, add_thread);
	if (!err && o->uid)
		err = add_user(t, o->uid, log);
	int_list_sort(&t->threads);
	return err;
}

/* Offline cpus can't be recorded. */
static int check_cpus(const struct int_list *cpus, const struct int_list *online,
		      const struct logger *log)
{
	for (size_t i = 0; i < cpus->n; i++)
		if (!int_list_has(online, cpus->items[i]))
			return log_error(log, CLI_INPUT, "CPU %d does not exist or is offline; the "
					 "last online CPU is %d", cpus->items[i],
					 online->items[online->n - 1]);
	return 0;
}

static int choose_cpus(struct target *t, const struct settings *o, const struct logger *log)
{
	if (o->cpus) {
		if (!int_list_parse(&t->cpus, o->cpus, MAX_CPUS))
			return log_error(log, CLI_USAGE, "'-C %s' is not a list of CPUs", o->cpus);
		return read_online_cpus(&t->side_cpus) ? check_cpus(&t->cpus, &t->side_cpus, log) :
							 0;
	}
	if (t->per_thread ? int_list_add(&t->cpus, -1) : !read_online_cpus(&t->cpus))
		return log_error(log, CLI_OUTPUT, "out of memory");
	t->nr_online = t->per_thread ? 0 : (unsigned int)t->cpus.n;
	return 0;
}

int target_choose(struct target *t, const struct settings *o, char *const *command,
		  const struct logger *log)
{
	bool threads = o->pids.count || o->tids.count || o->uid;
	bool system = !threads && (o->all_cpus || o->cgroups.count || o->cpus);
	int err = 0;

	t->command = command[0] ? command : NULL;
	t->kind = system ? TARGET_SYSTEM : threads ? TARGET_THREADS : TARGET_COMMAND;
	t->per_thread = o->per_thread;
	if (threads && o->cgroups.count)
		return log_error(log, CLI_USAGE,
				 "-G records all processes of a cgroup: it excludes -p, -t and -u");
	if (threads && o->all_cpus)
		log_at(log, LOG_WARNING,
		       "-p, -t and -u replace -a: other processes are not recorded");
	if (system && o->per_thread)
		return log_error(log, CLI_USAGE, "--per-thread needs a command, -p, -t or -u");
	if (o->per_thread && o->cpus)
		return log_error(log, CLI_USAGE, "--per-thread and -C exclude each other");
	if (t->kind == TARGET_THREADS)
		err = choose_threads(t, o, log);
	if (!err)
		err = choose_cpus(t, o, log);
	if (!err && (t->threads.lacks_memory || t->cpus.lacks_memory || t->side_cpus.lacks_memory))
		err = log_error(log, CLI_OUTPUT, "out of memory");
	return err;
}

void target_free(struct target *t)
{
	int_list_free(&t->threads);
	int_list_free(&t->cpus);
	int_list_free(&t->side_cpus);
}

const struct int_list *target_all_cpus(const struct target *t)
{
	return t->side_cpus.n ? &t->side_cpus : &t->cpus;
}
