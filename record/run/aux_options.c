/* aux_options.c - the options -S, --aux-sample and the second size of -m, and their defaults. */
#include "run/aux_options.h"

#include <string.h>
#include <unistd.h>

#include "base/sysctl.h"
#include "event/attr.h"
#include "event/event_aux.h"

/* 4 MiB hold some ms of a CPU's trace; unprivileged users can lock less memory. */
static size_t default_aux_bytes(void)
{
	return geteuid() == 0 || sysctl_read("perf_event_paranoid", 2) < 0 ? 4 << 20 : 128 << 10;
}

int aux_options_read(struct recording *r)
{
	const char *snapshot = r->options->snapshot;
	uint64_t bytes = 0;

	if (snapshot && *snapshot && strcmp(snapshot, "e") != 0 &&
	    ((!parse_number(snapshot, &bytes) && !parse_size(snapshot, &bytes)) || !bytes ||
	     bytes > SIZE_MAX / 2))
		return log_error(&r->log, CLI_USAGE,
				 "'-S' must be a size or e (the default), not '%s'",
				 snapshot);
	if (!events_have_aux(&r->events)) {
		if (snapshot || events_have_sample(&r->events, PERF_SAMPLE_AUX))
			return log_error(&r->log, CLI_USAGE, "'%s' needs an event with an AUX "
					 "area, such as intel_pt//",
					 snapshot ? "-S" : "--aux-sample");
		if (r->rings.aux_bytes)
			log_at(&r->log, LOG_WARNING, "no event has an AUX area: the second size of "
			       "'-m' has no effect");
		r->rings.aux_bytes = 0;
		return 0;
	}
	if (!r->rings.aux_bytes && bytes)
		for (r->rings.aux_bytes = (size_t)sysconf(_SC_PAGESIZE);
		     r->rings.aux_bytes < bytes;)
			r->rings.aux_bytes *= 2;
	if (!r->rings.aux_bytes)
		r->rings.aux_bytes = default_aux_bytes();
	if (!snapshot && !events_have_sample(&r->events, PERF_SAMPLE_AUX))
		event_aux_wakeup(&r->events, r->rings.aux_bytes / 4);
	return 0;
}
