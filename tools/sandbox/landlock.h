/* landlock.h - the parts of linux/landlock.h (Linux 5.13) that the tools need, for older headers.
 *
 * The names differ from the kernel's, so that both headers can be included.
 */
#ifndef PD_TOOLS_LANDLOCK_H
#define PD_TOOLS_LANDLOCK_H

#include <asm/unistd.h>
#include <stdint.h>

/* New system calls have consecutive numbers on every architecture; pidfd_open(2) is in Linux
 * 5.3. */
enum {
	CALL_CREATE_RULESET = __NR_pidfd_open + 10,
	CALL_ADD_RULE,
	CALL_RESTRICT_SELF,
};

enum {
	RULESET_VERSION = 1,	/* LANDLOCK_CREATE_RULESET_VERSION, a flag */
	RULE_PATH_BENEATH = 1,	/* LANDLOCK_RULE_PATH_BENEATH */
};

/* LANDLOCK_ACCESS_FS_* */
enum {
	ACCESS_WRITE_FILE = 1 << 1,
	ACCESS_READ_FILE = 1 << 2,
	ACCESS_READ_DIR = 1 << 3,
	ACCESS_REMOVE_FILE = 1 << 5,
	ACCESS_MAKE_REG = 1 << 8,
	ACCESS_REFER = 1 << 13,		/* version 2, Linux 5.19 */
	ACCESS_TRUNCATE = 1 << 14,	/* version 3, Linux 6.2 */
	ACCESS_IOCTL_DEV = 1 << 15,	/* version 5, Linux 6.10 */
};

/* struct landlock_ruleset_attr of version 1 */
struct ruleset_attr {
	uint64_t handled_access_fs;
};

/* struct landlock_path_beneath_attr */
struct path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

#endif
