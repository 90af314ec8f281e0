/* aux_options.c - -S, the second size of -m, and what both are where nothing was said. */
#include "run/aux_options.h"

#include <string.h>
#include <unistd.h>

#include "base/sysctl.h"
#include "event/attr.h"
#include "event/event_aux.h"

/* What one cpu traces in some ms; others than root may not lock as much. */
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
				 "'-S' must be a size or e (which it always does), not '%s'",
				 snapshot);
	if (!events_have_aux(&r->events)) {
		if (snapshot || events_have_sample(&r->events, PERF_SAMPLE_AUX))
			return log_error(&r->log, CLI_USAGE, "'%s' needs an event with an AUX "
					 "area, such as intel_pt//",
					 snapshot ? "-S" : "--aux-sample");
		if (r->rings.aux_bytes)
			log_at(&r->log, LOG_WARNING, "no event has an AUX area: the second size of "
			       "'-m' counts for nothing");
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
