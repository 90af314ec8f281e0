/* recording.h - the state of one recording: main() sets it up, the loop works on it. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "base/options.h"
#include "base/sysctl.h"
#include "bpf/synth_bpf.h"
#include "capture/counter.h"
#include "capture/rings.h"
#include "event/event.h"
#include "output/datafile.h"
#include "run/background_synth.h"
#include "run/control.h"
#include "run/interrupt.h"
#include "run/mounts.h"
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
	struct cpu_groups groups;	/* --threads: which thread reads which CPUs */
	struct readers *readers;	/* NULL: no threads run */
	struct timers timers;
	struct control control;
	struct datafile file;
	struct background background;
	struct bpf_progs *bpf;		/* NULL: not requested */
	struct child_signals signals;	/* dispositions before the recording */
	struct interrupt interrupt;
	struct mounts mounts;
	struct sysctl_change cpu_percent;
	int64_t began;			/* s since 1970 */
	uint64_t samples, bytes;	/* of the files before the current one */
	uint64_t lost;			/* samples */
	uint64_t woken;			/* wakeups for records */
	uint64_t max_size, rotate_size;	/* bytes of output; 0: no limit */
	bool rotates;			/* --switch-output, --switch-output-event */
	bool runs;			/* the counters were started */
	bool interrupted;		/* by a signal */
	bool stopped;			/* the recording ended first and the command was stopped */
	bool is_complete;		/* the file is whole */
};

#endif
