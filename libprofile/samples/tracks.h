/* tracks.h - each sample of each thread in the order of time, for formats that show when. */
#ifndef PP_TRACKS_H
#define PP_TRACKS_H

#include "store/index.h"
#include "pd/fields.h"
#include "pd/history.h"
#include "store/spill.h"
#include "store/strings.h"

/* Samples of perf record --off-cpu have times from here on, which are none. */
#define PP_NO_TIME_FROM (~0ull << 32)

enum pp_item_kind {
	PP_ITEM_SAMPLE,
	PP_ITEM_RUNS,		/* the kernel switched to the thread */
	PP_ITEM_PREEMPTED,	/* and away from it while it could run */
	PP_ITEM_BLOCKED,	/* and away from it because it waits */
};

struct pp_item {
	enum pp_item_kind kind;
	uint64_t time;		/* ns; once they are in order, never less than that before. 0: no
				 * item up to this one has a time */
	uint64_t weight;	/* of SAMPLE, as node */
	uint32_t node;		/* in the tree of addresses */
};

/* A thread, or the idle task of a CPU. */
struct pp_track {
	int32_t machine_pid;	/* of the virtual machine, 0: the host */
	int32_t pid, tid, cpu;	/* cpu is -1 but for idle tasks */
	uint32_t comm, process;	/* strings: the last names of the thread and of its process */
	const char *named;	/* the history's text of `comm`, to see that it is the same */
	uint64_t named_at;	/* time of the item that the names are of */
	uint64_t start;		/* of the thread, as struct pd_task has it */
	uint64_t process_start;
	uint64_t first;		/* earliest time of an item; PD_NO_TIME: none has one */
	uint64_t last;		/* of the last one that was added */
	uint64_t weight;	/* of the last sample */
	bool is_unordered;	/* an item was added after a later one */
	uint64_t samples, weights;	/* how many there are, and their sum */
	/* the items, as numbers of 7 bits a byte: those in the file, then those in memory */
	struct pp_block_list blocks;
	uint64_t nr_items;
	uint8_t *bytes;
	size_t size, capacity;
};

/* Must be zero-initialized, but for the limit of the memory. */
struct pp_tracks {
	struct pp_memory memory;
	struct pp_spill *spill;	/* for items that there is no memory for; NULL: there is no file */
	uint64_t room;		/* bytes that the items of the tracks have in memory */
	uint64_t enough;	/* of them: with more the items go to the file; 0: when they must */
	struct pp_track *items;
	size_t nr, capacity;
	struct pp_index index;
	bool has_switches;
};

/* Returns the number of a thread's track, added if it is new; PP_NONE without memory. */
uint32_t pp_tracks_number(struct pp_tracks *t, const struct pd_task *task);

/* Adds an item to a track: that of a record's thread, `task` at the moment `at`. An item without a
 * time, 0, has that of the item before it in the recording. Returns 0, or -1 without memory. */
int pp_tracks_add(struct pp_tracks *t, uint32_t number, struct pp_strings *strings,
		  struct pp_memory *m, const struct pd_history *h, const struct pd_task *task,
		  const struct pd_moment *at, const struct pp_item *item);

/* Returns the track of the thread of another one, added if it is new; NULL without memory. */
struct pp_track *pp_tracks_find(struct pp_tracks *t, const struct pp_track *other);

/* Puts the items of each track in the order of their times, and the tracks in that of their first
 * items. Must be called after the last item is added. Returns 0, or -1 without memory. */
int pp_tracks_order(struct pp_tracks *t);

/* Returns the number of a task's track, which may be new, or PP_NONE without memory. Numbers change
 * when the tracks are put in order. */
uint32_t pp_tracks_of(struct pp_tracks *t, struct pp_strings *strings, struct pp_memory *m,
		      const struct pd_history *h, const struct pd_task *task,
		      const struct pd_moment *at);

/* Adds an item to a track. Returns 0, or -1 without memory. */
int pp_track_add(struct pp_tracks *t, uint32_t track, const struct pp_item *item);

/* Removes the items of a track. Returns it as it was; its memory, which no longer counts as room
 * that the file can make, must be given back with pp_track_free(). */
struct pp_track pp_track_empty(struct pp_tracks *t, struct pp_track *track);
void pp_track_free(struct pp_tracks *t, struct pp_track *track);

/* A track that is being read. Only one of all tracks is at a time. */
struct pp_track_reader {
	const struct pp_track *track;
	struct pp_spill *spill;
	struct pp_spill_place place;
	bool is_in_memory;
	const uint8_t *at, *end;	/* of the bytes that are there */
	uint64_t time;			/* of the last item */
	uint64_t weight;		/* of the last sample */
};

struct pp_track_reader pp_track_read(const struct pp_tracks *t, const struct pp_track *track);

/* Reads the next item; `node` and `weight` are set for samples only. Returns false after the last,
 * or when the file can't be read: pp_tracks_error() tells. */
bool pp_track_next(struct pp_track_reader *r, struct pp_item *item);

/* Returns the error of the file, PD_OK if there was none. */
struct pd_error pp_tracks_error(const struct pp_tracks *t);

/* Returns the earliest time of all tracks, or 0. */
uint64_t pp_tracks_first(const struct pp_tracks *t);

void pp_tracks_free(struct pp_tracks *t);

#endif
