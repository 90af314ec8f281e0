/* spare_files.c - descriptors that counters leave to the rest of a recording. */
#include "capture/spare_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int spare_files_hold(struct spare_files *s)
{
	for (s->n = 0; s->n < SPARE_FILES; s->n++) {
		s->fds[s->n] = open("/", O_PATH | O_CLOEXEC);
		if (s->fds[s->n] < 0)
			return -1;
	}
	return 0;
}

void spare_files_give_back(struct spare_files *s)
{
	const int error = errno;

	while (s->n)
		close(s->fds[--s->n]);
	errno = error;
}
