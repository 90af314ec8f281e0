/* main.c - precord: evaluate the options, record, report. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/priority.h"
#include "base/sysctl.h"
#include "event/attr.h"
#include "event/event_select.h"
#include "event/explain.h"
#include "event/off_cpu.h"
#include "event/regs.h"
#include "inform/doctor.h"
#include "inform/list.h"
#include "inform/print_attr.h"
#include "run/aux_options.h"
#include "run/kcore.h"
#include "run/loop.h"
#include "run/metadata.h"
#include "run/prologue.h"
#include "run/readers.h"
#include "run/recording.h"
#include "run/report.h"
#include "run/rotate.h"

#define CPU_PERCENT "perf_cpu_time_max_percent"

static char **copy_argv(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	for (int i = 0; copy && i < argc; i++)
		copy[i] = argv[i];
	return copy;
}

/* Runs options that print instead of recording. Returns an exit status, or -1 if there is none. */
static int print_information(const struct settings *o, char *const *operands,
			     const struct logger *log)
{
	bool registers = (o->user_regs && strcmp(o->user_regs, "?") == 0) ||
			 (o->intr_regs && strcmp(o->intr_regs, "?") == 0);
	const char *glob = o->list_names ? o->list_names : o->list;

	if (glob && operands[0])
		glob = operands[0];
	if (glob && !list_events(stdout, glob, o->list_names ? LIST_NAMES : LIST_GROUPED))
		return explain_empty_list(glob, log);
	if (glob)
		return CLI_OK;
	if (o->doctor)
		return doctor_run(stdout, o->clean ? DOCTOR_CLEAN : DOCTOR_CHECK);
	if (o->clean)
		return cli_usage(&record_tool, "'--clean' needs --doctor");
	if (!registers)
		return -1;
	regs_list(stdout);
	return CLI_OK;
}

/* Checks the options that no other part reads. */
static int read_limits(struct recording *r)
{
	const struct settings *o = r->options;
	unsigned int what;

	if (o->max_size && !parse_size(o->max_size, &r->max_size))
		return log_error(&r->log, CLI_USAGE,
				 "'--max-size' must be a size such as 100M, not '%s'",
				 o->max_size);
	if (o->synth && !metadata_parse_synth(o->synth, &what))
		return log_error(&r->log, CLI_USAGE,
				 "'--synth' must be no, all, task, mmap or cgroup, not '%s'",
				 o->synth);
	if (o->aio || o->affinity)
		log_at(&r->log, LOG_WARNING, "'--%s' has no effect", o->aio ? "aio" : "affinity");
	if (o->realtime != NOT_GIVEN && (o->realtime < 1 || o->realtime > 99))
		return log_error(&r->log, CLI_USAGE, "'-r' must be a priority from 1 to 99");
	if (o->cpu_percent != NOT_GIVEN && o->cpu_percent > 100)
		return log_error(&r->log, CLI_USAGE, "'--cpu-percent' must be at most 100");
	return 0;
}

/* Chooses what is recorded, of which target, into buffers of which size. */
static int choose_events(struct recording *r)
{
	const struct settings *o = r->options;
	int err = 0;

	r->events.inherited = attrs_are_inherited(o, &r->target);
	if (o->off_cpu && !o->events.count)
		err = off_cpu_add_clock(&r->events);
	if (!err)
		err = events_select(&r->events, o, r->argv);
	if (!err && o->off_cpu)
		err = off_cpu_add(&r->events);
	if (!err)
		err = rings_size(&r->rings, o, &r->log);
	if (!err)
		err = attrs_configure(&r->events, o, &r->target, r->rings.bytes);
	return err;
}

/* Chooses when to record and when to end, and which files and threads. */
static int choose_course(struct recording *r)
{
	const struct settings *o = r->options;
	int err = timers_read(&r->timers, o, &r->log);

	if (!err)
		err = read_limits(r);
	if (!err)
		err = rotate_read(r);
	if (!err)
		err = rotate_trigger_read(&r->trigger, o, &r->target, &r->log);
	if (!err)
		err = readers_choose(r);
	return err;
}

static int choose_output(struct recording *r)
{
	const struct settings *o = r->options;
	int err = datafile_choose(&r->file, o, &r->log);

	/* A stream can't be read again for the build ids of the files that samples hit. */
	if (!err && r->file.mode == PD_MODE_PIPE && o->buildid)
		attrs_add_build_ids(&r->events);
	if (!err && o->control)
		err = control_open(&r->control, o->control, &r->log);
	return err;
}

/* Evaluates all options; finds what is wrong before anything is changed. */
static int prepare_recording(struct recording *r, char *const *command)
{
	const struct settings *o = r->options;
	bool records = !o->print_attr && !o->dry_run;
	int err = target_choose(&r->target, o, command, &r->log);

	if (!err && records && r->target.kind == TARGET_COMMAND && !command[0])
		err = cli_usage(r->log.tool,
				"nothing to record: name a command, or -a, -p, -t, -u");
	if (!err)
		err = choose_events(r);
	if (!err && records)
		err = aux_options_read(r);
	if (!err)
		err = choose_course(r);
	if (!err && records)
		err = choose_output(r);
	return err;
}

static void block_signals(struct recording *r)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &r->signals.mask);
	/* A stream without a reader and a file at its size limit become errors of write(2). */
	r->signals.on_pipe = signal(SIGPIPE, SIG_IGN);
	r->signals.on_size = signal(SIGXFSZ, SIG_IGN);
}

static int fork_command(struct recording *r)
{
	char *const *command = r->target.command;
	int err;

	if (!command)
		return 0;
	err = child_fork(&r->child, command, r->file.fd == STDOUT_FILENO ?
			 CHILD_STDOUT_TO_STDERR : CHILD_STDOUT, &r->signals, &r->log);
	if (!err && r->target.kind == TARGET_COMMAND &&
	    int_list_add(&r->target.threads, r->child.pid))
		err = log_error(&r->log, CLI_OUTPUT, "out of memory");
	return err;
}

/* --exclude-perf excludes the recorder's first thread only, so that thread must write. */
static enum pd_write_by choose_writer_thread(const struct recording *r)
{
	if (r->options->exclude_self)
		return PD_WRITE_BY_CALLER;
	return rings_are_small(&r->rings) ? PD_WRITE_BY_THREAD : PD_WRITE_BY_EITHER;
}

static int record(struct recording *r)
{
	int err = fork_command(r);

	if (!err)
		priority_set(r->options, &r->log);
	if (!err)
		err = counters_open(&r->counters, &r->events, &r->target);
	/* Before the ring buffers, which can be smaller if the limit for locked memory is
	 * reached. */
	if (!err)
		err = rotate_trigger_open(&r->trigger, r->options, &r->target);
	if (!err)
		err = rings_map(&r->rings, &r->counters, &r->events, r->options);
	r->file.by = choose_writer_thread(r);
	/* which files copied stacks lead into is not known yet */
	if (r->file.which == BUILDID_HIT && events_have_sample(&r->events, PERF_SAMPLE_STACK_USER))
		r->file.which = BUILDID_ALL;
	if (!err)
		err = datafile_open(&r->file, &r->log);
	if (!err && r->options->kcore)
		kcore_save(&r->file, &r->log);
	if (!err && r->options->bpf_event)
		r->bpf = bpf_progs_read();
	if (!err && prologue_write(r))
		err = datafile_failed(&r->file, &r->log);
	return err ? err : loop_run(r);
}

static void log_totals(struct recording *r)
{
	uint64_t bytes = r->bytes + r->file.parts + pd_writer_size(r->file.writer);
	uint64_t samples = r->samples + r->file.totals.samples;
	const struct logger *log = &r->log;
	char times[40] = "";

	/* The wording is perf's. */
	log_footer(log, "Woken up %llu times to write data", (unsigned long long)r->woken);
	log_footer(log, "Captured and wrote %.3f MB %s (%llu samples)", (double)bytes / 1048576,
		   *r->file.path ? r->file.path : "-", (unsigned long long)samples);
	if (!r->lost && r->file.totals.lost_records)
		log_footer(log, "Lost samples %llu times; this kernel does not count them",
			   (unsigned long long)r->file.totals.lost_records);
	if (!r->lost)
		return;
	/* The kernel writes a LOST record before the next sample that fits; at the end none may. */
	if (r->file.totals.lost_records)
		snprintf(times, sizeof(times), " (%llu times)",
			 (unsigned long long)r->file.totals.lost_records);
	log_footer(log, "Lost %llu of %llu samples%s: try a larger buffer, -m %zuK",
		   (unsigned long long)r->lost, (unsigned long long)(r->lost + samples), times,
		   r->rings.bytes / 256);
}

/* The last file of --switch-output gets the time in its name, as the others. */
static int name_last_file(struct recording *r)
{
	if (!r->rotates && !r->options->timestamp_filename)
		return 0;
	if (r->file.failed && !r->file.readable) {
		datafile_remove(&r->file);
		return 0;
	}
	if (datafile_stamp(&r->file, &r->log))
		return CLI_OUTPUT;
	datafile_keep(&r->file, r->rotates ? r->options->switch_max_files : 0);
	if (r->file.failed)
		log_footer(&r->log, "Dump %s", r->file.path);
	return 0;
}

/* CLI_OUTPUT is for a recording that lacks something: here there is none, nor did a command run. */
static int status_before_start(int err)
{
	return err == CLI_OUTPUT ? CLI_INPUT : err;
}

static int exit_status(const struct recording *r, int err)
{
	bool lost = r->lost || r->file.totals.lost_records;
	int status = 0;

	if (err)
		return r->runs ? err : status_before_start(err);
	/* The status of a command that the recorder ended is no failure. */
	if (r->child.pid && r->child.ended && !r->stopped)
		status = child_exit_status(&r->child);
	return status ? status : lost && r->options->strict_loss ? CLI_ERRORS : 0;
}

/* Does without the main thread, which does not answer, what must not be left out. */
static void give_up(void *recording)
{
	struct recording *r = recording;

	child_terminate(&r->child);
	sysctl_restore(&r->cpu_percent);
}

/* The kernel lowers the rate of sampling if that takes more CPU time. */
static void limit_cpu_time(struct recording *r)
{
	const struct settings *o = r->options;

	if (o->cpu_percent != NOT_GIVEN &&
	    !sysctl_set(&r->cpu_percent, CPU_PERCENT, (long)o->cpu_percent))
		log_at(&r->log, LOG_WARNING, "kernel." CPU_PERCENT " can't be set: %s",
		       strerror(errno));
}

/* Ends the command and the file of a recording that ended with `err`. Returns its status. */
static int finish_recording(struct recording *r, int err)
{
	const bool has_file = r->file.writer != NULL;

	if (has_file && (!err || r->file.failed) && name_last_file(r))
		err = CLI_OUTPUT;
	r->stopped = r->child.pid && !child_poll(&r->child) && !r->interrupted;
	child_finish(&r->child, &r->interrupt.hurry);
	mounts_close(&r->mounts);
	if (has_file && !r->file.failed)
		log_totals(r);
	if (has_file && datafile_close(&r->file, &r->log) && !err)
		err = CLI_OUTPUT;
	if (r->file.symbols.failed && !err)
		err = CLI_OUTPUT;
	r->is_complete = has_file && err != CLI_OUTPUT;
	return err;
}

static int run_recorder(struct recording *r, char *const *command)
{
	const struct settings *o = r->options;
	int err = prepare_recording(r, command);

	if (err || o->dry_run)
		return status_before_start(err);
	if (o->print_attr)
		return print_attrs(&r->events);
	block_signals(r);
	limit_cpu_time(r);
	r->interrupt.give_up = give_up;
	r->interrupt.ctx = r;
	interrupt_start(&r->interrupt, &r->log);
	err = finish_recording(r, record(r));
	sysctl_restore(&r->cpu_percent);
	return exit_status(r, err);
}

/* Returns the status of the recording, or if that is 0 the status of the report. */
static int record_and_report(struct recording *r, struct settings *o, char *const *command)
{
	int status = report_prepare(o, command[0], &r->log), report = 0;

	if (status)
		return status;
	status = run_recorder(r, command);
	if ((o->flamegraph || o->top) && r->is_complete)
		report = report_run(o, r->file.path, &r->signals, &r->log);
	return status ? status : report;
}

int main(int argc, char **argv)
{
	char **all = copy_argv(argc, argv);
	struct settings o = settings_default;
	char **command = cli_parse(&record_tool, argc, argv, &o);
	struct recording r = {
		.options = &o, .argv = all, .child = CHILD_NONE, .timers = TIMER_EMPTY,
		.control = CONTROL_ABSENT, .mounts = MOUNTS_NONE, .file = DATAFILE_CLOSED,
		.trigger = ROTATE_TRIGGER_NONE,
		.log = { &record_tool, o.quiet ? LOG_ERROR : o.verbose ? LOG_DETAIL : LOG_WARNING },
	};
	int status = all ? print_information(&o, command, &r.log) :
			   log_error(&r.log, CLI_OUTPUT, "out of memory");

	r.events.log = &r.log;
	if (status < 0)
		status = record_and_report(&r, &o, command);
	interrupt_stop(&r.interrupt);
	rotate_trigger_close(&r.trigger);
	rings_unmap(&r.rings);
	cpu_groups_free(&r.groups);
	counters_close(&r.counters);
	events_free(&r.events);
	target_free(&r.target);
	timers_free(&r.timers);
	control_close(&r.control);
	if (datafile_is_unread(&r.file))
		cli_die_of(SIGPIPE);
	datafile_free(&r.file);
	bpf_progs_free(r.bpf);
	cli_list_free(&o.events);
	cli_list_free(&o.filters);
	cli_list_free(&o.cgroups);
	cli_list_free(&o.pids);
	cli_list_free(&o.tids);
	cli_list_free(&o.branches);
	cli_list_free(&o.rotate_triggers);
	free(all);
	return cli_finish(&record_tool, (enum cli_exit)status);
}
