/* doctor_report.c - what the doctor knows of this process, and how it speaks. */
#include "doctor_report.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostinfo_read.h"
#include "sysctl.h"

/* linux/capability.h; the last two may be younger than the headers */
enum { CAP_IPC_LOCK = 14, CAP_SYS_ADMIN = 21, CAP_PERFMON = 38, CAP_BPF = 39 };

static bool has(const struct doctor *d, int capability)
{
	return d->capabilities >> capability & 1;
}

void doctor_look(struct doctor *d)
{
	char status[8192], *at;

	d->paranoid = sysctl_read("perf_event_paranoid", 2);
	if (host_read(AT_FDCWD, "/proc/self/status", status, sizeof(status)) <= 0)
		return;
	at = strstr(status, "\nCapEff:");
	if (at)
		d->capabilities = strtoull(at + strlen("\nCapEff:"), NULL, 16);
	at = strstr(status, "\nSeccomp:");
	if (at)
		d->seccomp = strtoul(at + strlen("\nSeccomp:"), NULL, 10) == 2;
	d->perfmon = has(d, CAP_PERFMON) || has(d, CAP_SYS_ADMIN);
	d->bpf = has(d, CAP_BPF) || has(d, CAP_SYS_ADMIN);
	d->ipc_lock = has(d, CAP_IPC_LOCK);
}

__attribute__((format(printf, 3, 0)))
static void speak(const struct doctor *d, const char *state, const char *format, va_list args)
{
	fprintf(d->out, "%-5s ", state);
	vfprintf(d->out, format, args);
	fputc('\n', d->out);
}

void doctor_ok(struct doctor *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	speak(d, "ok", format, args);
	va_end(args);
}

void doctor_note(struct doctor *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	speak(d, "note", format, args);
	va_end(args);
}

void doctor_bad(struct doctor *d, const char *mend, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	speak(d, "no", format, args);
	va_end(args);
	if (mend)
		fprintf(d->out, "      mend it: %s\n", mend);
	d->bad++;
}

void doctor_capabilities(struct doctor *d)
{
	if (d->perfmon && d->bpf && d->ipc_lock)
		doctor_ok(d, "capabilities for everything: %s", geteuid() == 0 ? "you are root" :
			  "CAP_PERFMON, CAP_BPF, CAP_IPC_LOCK");
	else
		doctor_note(d, "you have %sCAP_PERFMON, %sCAP_BPF, %sCAP_IPC_LOCK",
			    d->perfmon ? "" : "no ", d->bpf ? "" : "no ", d->ipc_lock ? "" : "no ");
	if (d->seccomp)
		doctor_note(d, "a seccomp filter is on, as in a container: it may forbid system "
			    "calls");
}
