/* json_internal.h - what the parts of the team share: json_workers.c, json_workers_in.c, json_workers_out.c. */
#ifndef PD_JSON_JSON_INTERNAL_H
#define PD_JSON_JSON_INTERNAL_H

#include "base/thread.h"
#include "json/json_block.h"
#include "json/json_workers.h"

enum pd_json_place_state { PD_JSON_FREE, PD_JSON_FILLED, PD_JSON_TAKEN, PD_JSON_DONE };

/* A place in the ring. */
struct pd_json_place {
	enum pd_json_place_state state;
	struct pd_json_block *block;
};

/* A thread's own sink, without a file around it. */
struct pd_json_worker {
	struct pd_json_team *team;
	struct pd_json j;
	struct pd_read_ahead ahead;	/* what it reads, or has read, while another leads */
	const struct pd_source *source;	/* of that; NULL: there is no window */
	bool claims, reading;		/* those bytes are its own to bring; it is at it */
	pthread_t thread;
	bool started;
	pthread_cond_t wake;		/* there may be something to do */
	bool waits;			/* for that */
	char apart[128];		/* from the next one's, in the cache */
};

struct pd_json_team {
	struct pd_json *main;
	pthread_mutex_t lock;
	pthread_cond_t done;		/* something is: for the caller's thread, and those whose text is to go out */
	unsigned int changes;		/* of which there may be something to do for somebody */
	struct pd_json_place *ring;
	struct pd_json_sheet *sheets;	/* as many */
	struct pd_json_worker *workers;	/* the first is the caller's thread */
	size_t nr_places, nr_workers;
	/* Whose it is that leads, or the caller's when nobody may: */
	size_t filling;			/* index in the ring */
	int status;			/* what ended the reading when not 0 */
	bool any;			/* something was added */
	bool reporting;			/* the caller's thread says what was wrong in a block */
	uint64_t run_until;		/* ns of the monotonic clock, when the caller is to have a turn */
	/* Under the lock: */
	size_t oldest;			/* index in the ring */
	uint64_t wanted_at, claimed;	/* offsets of the file; up to `claimed` somebody reads, or has read */
	bool wants;			/* bytes from wanted_at on, which the reader has not */
	bool open;			/* whoever has time may lead: read runs */
	bool leading;			/* somebody does, and has the reader and `filling` to himself */
	bool quit;
	bool putting;			/* a thread hands blocks to the output */
	char last;			/* that went out */
	int failed;			/* what the output returned when not 0: nothing more goes out */
};

/* A record was added to the block being filled. */
static inline void pd_json_team_note_first(struct pd_json_team *t)
{
	if (!t->any)
		t->ring[t->filling].block->first = t->any = true;
}

/* That block is full. Who has no time to write it leaves it to another. */
static inline void pd_json_team_go_on(struct pd_json_team *t, enum pd_json_place_state state)
{
	const size_t next = (t->filling + 1) % t->nr_places;

	pd_json_block_empty(t->ring[next].block);
	t->ring[t->filling].state = state;
	t->filling = next;
}

/* The result of filling a block: ENDED is for pd_reader_next(), or for bytes that are wanted; FAILED has a status, or
 * could not read. */
enum pd_json_filled { PD_JSON_MORE, PD_JSON_FULL, PD_JSON_ENDED, PD_JSON_FAILED };

/* Is it a thread's own to bring what is wanted? */
static inline bool pd_json_worker_has_wanted(const struct pd_json_team *t, const struct pd_json_worker *w)
{
	return w->claims && w->ahead.at == t->wanted_at;
}

/* There may be something to do: for whoever has what is wanted, else for any. With the lock held. */
void pd_json_team_changed(struct pd_json_team *t);

/* --- json_workers_in.c --- */

/* Reads what comes next into a block. By who leads, or by the caller's thread when nobody may. */
enum pd_json_filled pd_json_team_fill(struct pd_json_team *t, struct pd_json_block *b);

/* The rest with the lock held, which it is afterwards. */

/* By the caller's thread, before others may read. */
void pd_json_team_open(struct pd_json_team *t);

/* Reads a block, for its reader to write: *p, NULL while that has to wait; or reads ahead. False: there is nothing to read now. */
bool pd_json_team_read(struct pd_json_team *t, struct pd_json_worker *w, struct pd_json_place **p);

/* By the caller's thread, when others may not lead any more: nobody reads ahead either, or has windows to. */
void pd_json_team_stop_reading(struct pd_json_team *t);

/* --- json_workers_out.c; all called and left with the lock held --- */

/* Hands out what is done, in order, unless another thread is at it. Only the caller's has a say in what was wrong. */
void pd_json_team_put(struct pd_json_team *t, const struct pd_json_worker *w);

/* Writes the place's block, which is taken. */
void pd_json_team_write(struct pd_json_team *t, struct pd_json_worker *w, struct pd_json_place *p);

/* The caller's writer learns what went out beside it: 0, or what the output returned. */
int pd_json_team_catch_up(struct pd_json_team *t);

#endif
