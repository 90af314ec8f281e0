/* target.h - whom the counters watch: threads and cpus. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>

#include "base/log.h"
#include "base/options.h"
#include "base/parse.h"

enum target_kind {
	TARGET_COMMAND,		/* the command and what it starts */
	TARGET_THREADS,		/* -p, -t, -u */
	TARGET_SYSTEM,		/* -a, -C, -G */
};

struct target {
	enum target_kind kind;
	char *const *command;	/* what to run, NULL: nothing */
	struct int_list threads; /* TARGET_COMMAND: filled in when it is forked */
	struct int_list cpus; /* where a counter is opened; the one -1: wherever the thread runs */
	struct int_list side_cpus; /* with -C: all that are on; tasks exec and map on any of them */
	unsigned int nr_online;	/* cpus; 0: nobody asked */
	bool per_thread;
};

/* 0; or an exit status after saying what is wrong. */
int target_choose(struct target *t, const struct settings *o, char *const *command,
		  const struct logger *log);
void target_free(struct target *t);
/* Where some counter is opened: with -C also where there are only side-band records. */
const struct int_list *target_all_cpus(const struct target *t);

#endif
