/* doctor_report.h - what the doctor knows of this process, and how it speaks. */
#ifndef RECORD_DOCTOR_REPORT_H
#define RECORD_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define DOCTOR_USUAL_RATE 4000		/* samples a second that precord takes unasked */
#define DOCTOR_USUAL_BUFFER 512		/* KiB for each cpu */

struct doctor {
	FILE *out;
	int bad;			/* checks that failed */
	long paranoid;			/* kernel.perf_event_paranoid */
	bool capable;			/* CAP_SYS_ADMIN, in some user namespace */
	bool perfmon, ipc_lock, bpf, probes;	/* what the kernel grants */
	bool seccomp;			/* a filter is on */
};

/* Fills in all but the first two. */
void doctor_look(struct doctor *d);
/* Its part that the kernel is asked for. */
void doctor_ask_rights(struct doctor *d);

void doctor_ok(struct doctor *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void doctor_note(struct doctor *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* mend: a command, NULL when there is none. */
void doctor_bad(struct doctor *d, const char *mend, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void doctor_capabilities(struct doctor *d);

#endif
