/* stream_copy.c - copies a stream to a temporary file, so that it can be read twice. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/tempfile.h"
#include "pd/pd.h"

#define CHUNK ((size_t)1 << 20)

/* Returns 0, or -1 and *e. */
static int copy_all(int fd, struct pd_tempfile *to, void *chunk, struct pd_error *e)
{
	for (;;) {
		const ssize_t n = read(fd, chunk, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			*e = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL,
						.have = (uint64_t)errno };
		if (n <= 0)
			return n < 0 ? -1 : 0;
		if (pd_tempfile_append(to, chunk, (size_t)n, e))
			return -1;
	}
}

int pd_stream_copy(int fd, struct pd_error *e)
{
	struct pd_error unused;
	struct pd_tempfile to;
	void *chunk;
	int ret;

	e = pd_error_or(e, &unused);
	if (pd_tempfile_open(&to, UINT64_MAX, e))
		return -1;
	chunk = malloc(CHUNK);
	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	ret = chunk ? copy_all(fd, &to, chunk, e) : -1;
	free(chunk);
	if (ret)
		pd_tempfile_close(&to);
	return to.fd;
}
