/* search.c - opens the candidates for a file until one is the right one. */
#include <unistd.h>

#include "session/session.h"

bool ps_session_search(struct ps_search *search)
{
	struct ps_session *s = search->session;
	struct ps_candidate candidate;

	for (size_t i = 0; ps_candidate_at(&s->places, &search->what, i, &candidate); i++) {
		const int fd = s->options.open(s->options.ctx, candidate.path, candidate.place);
		bool done;

		if (fd < 0)
			continue;
		done = search->use(search, fd, &candidate);
		close(fd);
		if (done)
			return true;
	}
	return false;
}
