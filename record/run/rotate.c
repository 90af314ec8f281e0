/* rotate.c - end the current file and begin the next one with the same counters. */
#include "run/rotate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/drain.h"
#include "run/prologue.h"

/* As in perf, m is minutes and M is MiB, so a time is tried before a size. */
int rotate_read(struct recording *r)
{
	const char *when = r->options->switch_output;
	uint64_t ns = 0;

	r->rotates = when || r->options->rotate_triggers.count;
	if (r->options->switch_max_files && !r->rotates)
		log_at(&r->log, LOG_WARNING,
		       "'--switch-max-files' has no effect without '--switch-output'");
	if (!when || strcmp(when, "signal") == 0)
		return 0;
	if (parse_time(when, &ns) ? !ns : !parse_size(when, &r->rotate_size) || !r->rotate_size)
		return log_error(&r->log, CLI_USAGE,
				 "'--switch-output' must be signal, a size (10M) or "
				 "a time (30s, 5m), not '%s'",
				 when);
	if (ns && timers_add(&r->timers, ns, ns, TIMER_ROTATE))
		return log_error(&r->log, CLI_OUTPUT, "out of memory");
	return 0;
}

static int set_error(struct recording *r)
{
	if (r->file.error.code == PD_OK)
		r->file.error = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL,
						   .have = (uint64_t)errno };
	return -1;
}

int rotate_file(struct recording *r)
{
	struct datafile *f = &r->file;

	if (drain_snapshot(r) || epilogue_write(r, &r->lost))
		return -1;
	r->samples += f->totals.samples;
	r->bytes += pd_writer_size(f->writer);
	if (datafile_close(f, &r->log) || datafile_stamp(f, &r->log))
		return set_error(r);
	log_footer(&r->log, "Dump %s", f->path);
	datafile_keep(f, r->options->switch_max_files);
	if (datafile_open(f, &r->log))
		return set_error(r);
	return prologue_write(r);
}
