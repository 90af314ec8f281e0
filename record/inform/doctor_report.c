/* doctor_report.c - the rights of this process, and the lines of the report. */
#include "inform/doctor_report.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_text.h"
#include "base/sysctl.h"

enum { CAP_SYS_ADMIN = 21 };	/* linux/capability.h */

void doctor_examine_process(struct doctor *d)
{
	char status[8192], *at;

	d->paranoid = sysctl_read("perf_event_paranoid", 2);
	if (read_text(AT_FDCWD, "/proc/self/status", status, sizeof(status)) <= 0)
		return;
	at = strstr(status, "\nCapEff:");
	if (at)
		d->capable = strtoull(at + strlen("\nCapEff:"), NULL, 16) >> CAP_SYS_ADMIN & 1;
	at = strstr(status, "\nSeccomp:");
	if (at)
		d->seccomp = strtoul(at + strlen("\nSeccomp:"), NULL, 10) == 2;
	doctor_test_rights(d);
}

__attribute__((format(printf, 3, 0)))
static void print_line(const struct doctor *d, const char *state, const char *format, va_list args)
{
	fprintf(d->out, "%-5s ", state);
	vfprintf(d->out, format, args);
	fputc('\n', d->out);
}

void doctor_ok(struct doctor *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(d, "ok", format, args);
	va_end(args);
}

void doctor_note(struct doctor *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(d, "note", format, args);
	va_end(args);
}

void doctor_bad(struct doctor *d, const char *remedy, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(d, "no", format, args);
	va_end(args);
	if (remedy)
		fprintf(d->out, "      try: %s\n", remedy);
	d->bad++;
}

void doctor_report_rights(struct doctor *d)
{
	if (d->perfmon && d->bpf && d->ipc_lock)
		doctor_ok(d, "all capabilities: CAP_PERFMON, CAP_SYS_ADMIN, CAP_IPC_LOCK");
	else
		doctor_note(d, "CAP_PERFMON: %s, CAP_SYS_ADMIN (to see BPF programs): %s, "
			    "CAP_IPC_LOCK: %s", d->perfmon ? "yes" : "no", d->bpf ? "yes" : "no",
			    d->ipc_lock ? "yes" : "no");
	if (d->capable && !d->perfmon && !d->seccomp)
		doctor_note(d, "root of a user namespace has no rights here: try outside the "
			    "namespace");
	if (d->seccomp)
		doctor_note(d,
			    "a seccomp filter is active, as in a container: it may forbid system "
			    "calls");
}
