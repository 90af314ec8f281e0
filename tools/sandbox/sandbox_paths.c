/* sandbox_paths.c - allow access only to the granted paths, by Landlock. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/landlock.h"
#include "sandbox/sandbox_internal.h"

#define READ (ACCESS_READ_FILE | ACCESS_READ_DIR)
#define NAMELESS (ACCESS_READ_FILE | ACCESS_WRITE_FILE)
#define NAMED (NAMELESS | ACCESS_MAKE_REG | ACCESS_REMOVE_FILE)
#define WRITE (NAMED | ACCESS_READ_DIR)

/* Returns all rights that this kernel can restrict and that we know. */
static uint64_t supported_rights(void)
{
	const long version = syscall(CALL_CREATE_RULESET, NULL, 0, RULESET_VERSION);
	uint64_t all = ACCESS_REFER - 1;

	if (version < 1)
		return 0;
	if (version >= 2)
		all |= ACCESS_REFER;
	if (version >= 3)
		all |= ACCESS_TRUNCATE;
	if (version >= 5)
		all |= ACCESS_IOCTL_DEV;
	return all;
}

static int grant_access(int ruleset, const char *directory, uint64_t access)
{
	struct path_beneath_attr beneath = { .allowed_access = access };
	int error = 0;

	if (!directory)
		return 0;
	beneath.parent_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (beneath.parent_fd < 0)
		return errno;
	if (syscall(CALL_ADD_RULE, ruleset, RULE_PATH_BENEATH, &beneath, 0))
		error = errno;
	close(beneath.parent_fd);
	return error;
}

int sandbox_restrict_paths(const struct sandbox *s, const struct sandbox_temporary *t)
{
	/* Every Landlock knows this size. Rights that are newer stay, but there is no right to open
	 * any path. */
	const struct ruleset_attr attr = { .handled_access_fs = supported_rights() };
	const uint64_t tempfile = t->kind == SANDBOX_NAMED_FILE ? NAMED : NAMELESS;
	int ruleset, error;

	if (!attr.handled_access_fs)
		return errno;
	ruleset = (int)syscall(CALL_CREATE_RULESET, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return errno;
	error = grant_access(ruleset, s->read_beneath, READ);
	if (!error)
		error = grant_access(ruleset, s->write_beneath, WRITE);
	if (!error)
		error = grant_access(ruleset, t->directory, tempfile);
	if (!error && syscall(CALL_RESTRICT_SELF, ruleset, 0))
		error = errno;
	close(ruleset);
	return error;
}

/* Tries the directories in the order in which the library does. */
struct sandbox_temporary sandbox_find_temporary(void)
{
	const char *const directories[] = { secure_getenv("TMPDIR"), "/tmp", "/var/tmp",
		"/dev/shm" };

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		const char *directory = directories[i];
		int fd;

		if (!directory || !*directory)
			continue;
		fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
		if (fd >= 0) {
			close(fd);
			return (struct sandbox_temporary){ SANDBOX_NAMELESS_FILE, directory };
		}
		if ((errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) &&
		    access(directory, W_OK | X_OK) == 0)
			return (struct sandbox_temporary){ SANDBOX_NAMED_FILE, directory };
	}
	return (struct sandbox_temporary){ SANDBOX_NO_FILE, NULL };
}
