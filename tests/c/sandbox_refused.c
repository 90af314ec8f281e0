/* Runs a command where the kernel, a container or the file systems have no such thing:
 * sandbox_refused landlock|seccomp|tmpfile COMMAND... */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef __NR_landlock_create_ruleset	/* before 5.13; the same for all machines */
#define __NR_landlock_create_ruleset 444
#endif

int main(int argc, char **argv)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 3 || !f)
		return 101;
	if (strcmp(argv[1], "landlock") == 0) {
		seccomp_rule_add(f, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(landlock_create_ruleset),
				 0);
	} else if (strcmp(argv[1], "tmpfile") == 0) {
		const uint64_t flag = O_TMPFILE & ~O_DIRECTORY;

		seccomp_rule_add(f, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(openat), 1,
				 SCMP_A2(SCMP_CMP_MASKED_EQ, flag, flag));
	} else {
		seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(seccomp), 0);
		seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
				 SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
	}
	if (seccomp_load(f))
		return 102;
	execv(argv[2], argv + 2);
	return 103;
}
