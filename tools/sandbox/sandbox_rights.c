/* sandbox_rights.c - give up capabilities, and lower the limits of resources. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sandbox_internal.h"

#define PRIVATE_MEMORY (8ull << 30)

/* For files of others, which root may open late. */
#define FILE_CAPABILITIES (1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER)

static int keep_capabilities(uint32_t kept)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return errno;
	data[0].effective &= kept;
	data[0].permitted &= kept;
	data[0].inheritable = 0;
	data[1] = (struct __user_cap_data_struct){ 0 };
	return syscall(SYS_capset, &header, data) ? errno : 0;
}

static int lower_limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return errno;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) ? errno : 0;
}

/* Best effort: there may be no /proc. */
static void be_ended_first(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0;
	close(fd);
}

static int set_reader_limits(void)
{
	int error = lower_limit(RLIMIT_CORE, 0);

	error = error ?: lower_limit(RLIMIT_FSIZE, 0);
	error = error ?: lower_limit(RLIMIT_DATA, (rlim_t)PRIVATE_MEMORY);
	be_ended_first();
	return error;
}

int sandbox_restrict_rights(const struct sandbox *s, const struct sandbox_temporary *t)
{
	const bool opens_late = s->read_beneath || s->write_beneath || t->kind != SANDBOX_NO_FILE;
	const int error = s->limits == SANDBOX_READER_LIMITS ? set_reader_limits() : 0;

	return error ?: keep_capabilities(opens_late ? FILE_CAPABILITIES : 0);
}
