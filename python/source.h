/* source.h - a recording that is open in Python, and the passes over it. */
#ifndef PDPY_SOURCE_H
#define PDPY_SOURCE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "pd/columns.h"

enum { PDPY_MOST_ERRORS = 10000 };

/* An error that was reported. */
struct pdpy_reported {
	struct pd_error e;
	char text[512];
};

struct pdpy_errors {
	struct pdpy_reported *items;
	size_t count;
};

/* Conditions for the records. */
struct pdpy_filter {
	struct pd_range *types, *pids, *tids, *cpus;
	size_t nr_types, nr_pids, nr_tids, nr_cpus;
	char **comms, **events;
	size_t nr_comms, nr_events;
	struct pd_range time;
	bool is_given, has_time;
};

/* Shared by the object of Python and by passes, which may outlive it. */
struct pdpy_source {
	atomic_uint users;
	int fd;			/* -1: */
	char *path;		/* a directory, or NULL: */
	Py_buffer bytes;
	bool has_bytes;
	off_t start;		/* of fd */
	uint64_t memory;
	bool is_strict;
	struct pdpy_filter filter;
	struct pd_history *history;	/* NULL: not learned */
	struct pdpy_errors errors;	/* of the pass that learned */
	struct pdpy_errors payloads;	/* of payloads, which other passes read; each once */
	pthread_mutex_t lock;		/* of `payloads` */
};

/* A reader, and the descriptor that it has for itself: passes in other threads move theirs. */
struct pdpy_reader {
	struct pd_reader *reader;	/* NULL: it can't be opened */
	int fd;				/* -1: none */
};

/* A pass. */
struct pdpy_pass {
	struct pdpy_source *source;
	struct pdpy_reader in;
	struct pd_filter *filter;	/* NULL: none */
	struct pc_columns *columns;	/* NULL: none; gets the errors */
	struct pd_sink *sink;		/* the same */
	char *file_id, *path;		/* for its rows */
};

/* Frees the source when nobody uses it. Any thread may call it, with or without the GIL. */
void pdpy_source_release(struct pdpy_source *s);


/* Runs handlers of signals, such as Ctrl-C's, some times a second, in the main thread. Called
 * without the GIL. Returns whether one raised an exception, which is then that of the thread. */
bool pdpy_is_interrupted(void);
/* The same as a pc_options.on_read, which ends the pass with EINTR. */
int pdpy_look_for_signals(void *ctx, const struct pd_reader *r);
/* After an interruption in a stream, whose consumer raises an exception of its own: Ctrl-C's is
 * raised once more, when Python's code goes on. Called without the GIL. */
void pdpy_defer_interrupt(void);

/* Learns the history and the errors, once. Returns 0, or -1 and *e: not readable, or damaged and
 * strict; or -1 and an exception: interrupted. Must be called without other calls on the source. */
int pdpy_source_learn(struct pdpy_source *s, struct pd_error *e);

/* Returns a copy of the errors of payloads, as far as there is memory; the caller frees the
 * items. */
struct pdpy_errors pdpy_source_payloads(struct pdpy_source *s);

/* Output of a pass; both NULL: records. */
struct pdpy_use {
	const struct pc_options *columns;	/* the texts are copied */
	/* Returns the sink of a pass, which has its filter by then, or NULL without memory. */
	struct pd_sink *(*make_sink)(struct pdpy_pass *p, void *ctx);
	void *ctx;
};

/* Begins a pass. Returns NULL and *e. */
struct pdpy_pass *pdpy_pass_new(struct pdpy_source *s, struct pdpy_use use, struct pd_error *e);
/* `pass` is a struct pdpy_pass. */
void pdpy_pass_free(void *pass);

#endif
