/* doctor_report.h - the rights of this process, and the lines of the report. */
#ifndef RECORD_DOCTOR_REPORT_H
#define RECORD_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define DOCTOR_USUAL_RATE 4000		/* samples per second, the default */
#define DOCTOR_USUAL_PERCENT 25		/* of the cpu time, the kernel's default */
#define DOCTOR_USUAL_BUFFER 512		/* KiB for each cpu, the default */

struct doctor {
	FILE *out;
	int bad;			/* checks that failed */
	long paranoid;			/* kernel.perf_event_paranoid */
	bool capable;			/* CAP_SYS_ADMIN, in its user namespace */
	bool perfmon, ipc_lock, bpf, probes;	/* rights that the kernel grants */
	bool seccomp;			/* a filter is active */
};

/* Fills in all members but the first two. */
void doctor_examine_process(struct doctor *d);
/* Fills in the rights that the kernel grants. */
void doctor_test_rights(struct doctor *d);

void doctor_ok(struct doctor *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void doctor_note(struct doctor *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* remedy: a command, or NULL. */
void doctor_bad(struct doctor *d, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void doctor_report_rights(struct doctor *d);

#endif
