/* sandbox.c - decide on the sandbox and run work in it. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sandbox_internal.h"

/* Sanitizers need more than reading does: threads that trace, files at exit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
		   __has_feature(memory_sanitizer))
#else
#define SANITIZED 0
#endif

enum { WORD_AUTO, WORD_ALWAYS, WORD_NEVER, NO_WORD };

const char *const sandbox_words[] = { "auto", "always", "never", NULL };

static unsigned int parse_word(const char *text)
{
	unsigned int word = WORD_AUTO;

	while (text && word < NO_WORD && strcmp(sandbox_words[word], text) != 0)
		word++;
	return word;
}

enum cli_exit sandbox_check(const struct cli_tool *tool, const char *word)
{
	if (parse_word(word) == NO_WORD)
		return cli_usage(tool, "'--sandbox' must be one of auto|always|never, not '%s'",
				 word);
	return CLI_OK;
}

static bool is_wanted(const struct sandbox *s)
{
	const unsigned int word = parse_word(s->word);

	return word == WORD_AUTO ? !SANITIZED : word == WORD_ALWAYS;
}

/* Returns CLI_OK if the tool may go on without it. */
static enum cli_exit report_unavailable(const struct sandbox *s, const char *what, int error)
{
	const bool required = parse_word(s->word) == WORD_ALWAYS;

	if (required)
		cli_error(s->tool, "--sandbox: %s is not available here: %s", what,
			  strerror(error));
	else if (s->verbose)
		cli_error(s->tool, "the sandbox works without %s: %s", what, strerror(error));
	return required ? CLI_USAGE : CLI_OK;
}

/* Such a file is read in place. */
static bool is_current_format(int fd)
{
	const off_t at = lseek(fd, 0, SEEK_CUR);
	char magic[8];

	return at >= 0 && pread(fd, magic, sizeof(magic), at) == sizeof(magic) &&
	       (memcmp(magic, "PERFILE2", sizeof(magic)) == 0 ||
		memcmp(magic, "2ELIFREP", sizeof(magic)) == 0);
}

/* Checks the main file of a directory; the library needs no temporary files for the others. */
static bool is_current_directory(const char *path)
{
	static const char *const names[] = { "data", "header" };
	const int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int fd = -1;
	bool plain;

	for (size_t i = 0; i < 2 && dir >= 0 && fd < 0; i++)
		if (fstatat(dir, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			fd = openat(dir, names[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
				    O_NOFOLLOW);
	plain = fd >= 0 && is_current_format(fd);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return plain;
}

static bool needs_tempfile(const struct sandbox *s)
{
	if (s->tempfile != SANDBOX_TEMPFILE_UNLESS_PLAIN)
		return s->tempfile == SANDBOX_TEMPFILE_ALWAYS;
	return s->read_beneath ? !is_current_directory(s->read_beneath) :
		!is_current_format(s->input);
}

static enum cli_exit enter_sandbox(const struct sandbox *s)
{
	struct sandbox_temporary t = { SANDBOX_NO_FILE, NULL };
	enum cli_exit status = CLI_OK;
	int error;

	if (SANITIZED) {
		cli_error(s->tool, "--sandbox: not available in a build with sanitizers");
		return CLI_USAGE;
	}
	if (needs_tempfile(s))
		t = sandbox_find_temporary();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return report_unavailable(s, "no_new_privs", errno);
	error = sandbox_restrict_rights(s, &t);
	if (error)
		status = report_unavailable(s, "fewer capabilities and limits", error);
	error = status == CLI_OK ? sandbox_restrict_paths(s, &t) : 0;
	if (error)
		status = report_unavailable(s, "Landlock", error);
	error = status == CLI_OK ? sandbox_restrict_calls(s, &t) : 0;
	return error ? report_unavailable(s, "seccomp", error) : status;
}

static enum cli_exit await_child(const struct sandbox *s, void *ctx, pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno == EINTR)
			continue;
		cli_error(s->tool, "cannot wait for the process in the sandbox: %s",
			  strerror(errno));
		return CLI_OUTPUT;
	}
	if (!WIFSIGNALED(status))
		return (enum cli_exit)WEXITSTATUS(status);
	if (s->undo)
		s->undo(ctx);
	cli_die_of(WTERMSIG(status));
}

static enum cli_exit run_in_process(const struct sandbox *s, enum cli_exit (*work)(void *ctx),
				    void *ctx)
{
	enum cli_exit status = enter_sandbox(s);

	return status == CLI_OK ? work(ctx) : status;
}

static enum cli_exit run_in_child(const struct sandbox *s, enum cli_exit (*work)(void *ctx),
				  void *ctx)
{
	const pid_t parent = getpid();
	pid_t child;

	signal(SIGCHLD, SIG_DFL);	/* if ignored, waitpid() would find no status */
	child = fork();
	if (child < 0) {
		const enum cli_exit status = report_unavailable(s, "a separate process", errno);

		return status == CLI_OK ? work(ctx) : status;
	}
	if (child)
		return await_child(s, ctx, child);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(CLI_OUTPUT);
	exit(cli_finish(s->tool, run_in_process(s, work, ctx)));
}

enum cli_exit sandbox_run(const struct sandbox *s, enum sandbox_place place,
			  enum cli_exit (*work)(void *ctx), void *ctx)
{
	if (!is_wanted(s))
		return work(ctx);
	return place == SANDBOX_IN_CHILD ? run_in_child(s, work, ctx) :
		run_in_process(s, work, ctx);
}
