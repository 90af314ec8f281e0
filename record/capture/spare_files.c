/* spare_files.c - descriptors that counters leave to the rest of a recording. */
#include "capture/spare_files.h"

#include <errno.h>

int spare_files_hold(struct rlimit *stored)
{
	struct rlimit lower;

	if (getrlimit(RLIMIT_NOFILE, stored))
		return -1;
	lower = *stored;
	if (lower.rlim_cur < SPARE_FILES) {
		errno = EMFILE;
		return -1;
	}
	lower.rlim_cur -= SPARE_FILES;
	return setrlimit(RLIMIT_NOFILE, &lower);
}

void spare_files_give_back(const struct rlimit *stored)
{
	const int error = errno;

	setrlimit(RLIMIT_NOFILE, stored);
	errno = error;
}
