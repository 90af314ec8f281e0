/* recording.h - all of one run: what main() sets up and the loop works on. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "base/options.h"
#include "bpf/synth_bpf.h"
#include "capture/counter.h"
#include "capture/rings.h"
#include "event/event.h"
#include "output/datafile.h"
#include "run/background_synth.h"
#include "run/control.h"
#include "run/interrupt.h"
#include "run/rotate_trigger.h"
#include "run/timers.h"
#include "target/child.h"
#include "target/cpu_groups.h"
#include "target/target.h"

struct readers;

struct recording {
	const struct settings *options;
	struct logger log;
	char *const *argv;		/* the whole command line */
	struct event_list events;
	struct target target;
	struct child child;
	struct counters counters;
	struct rings rings;
	struct rotate_trigger trigger;
	struct cpu_groups groups;	/* --threads: who reads what; else none */
	struct readers *readers;	/* NULL: none run */
	struct timers timers;
	struct control control;
	struct datafile file;
	struct background background;
	struct bpf_progs *bpf;		/* NULL: not asked for */
	struct child_signals signals;	/* as they were */
	struct interrupt interrupt;
	uint64_t samples, bytes;	/* of the files that were switched from */
	uint64_t lost;			/* samples */
	uint64_t woken;			/* times that a buffer had something */
	uint64_t max_size, rotate_size;	/* bytes of output; 0: none */
	bool switches;			/* --switch-output, --switch-output-event */
	bool interrupted;		/* by a signal, `signal` */
	bool stopped;			/* the command, as the recording ended before it */
	int signal;
};

#endif
