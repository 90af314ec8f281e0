/* tracks.c - each sample of each thread in the order of time, for formats that show when. */
#include "samples/tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ITEM_BYTES = 4 * PP_VARINT_MOST,
	/* bits of the kind */
	BACKWARD = 4,		/* the item is before the last one */
	SAME_WEIGHT = 8,	/* it has no weight: that of the last sample */
	NEAR_ITEMS = 1 << 16,	/* that are put in order at once, at first */
};

/* --- memory --- */

static void free_items(struct pp_tracks *tracks, struct pp_track *t)
{
	tracks->room -= t->capacity;
	pp_track_free(tracks, t);
}

/* Moves the bytes of all tracks to the file. Returns 0, or -1 without one. */
static int move_items(struct pp_tracks *tracks)
{
	if (!tracks->spill)
		return -1;
	for (size_t i = 0; i < tracks->nr; i++) {
		struct pp_track *t = &tracks->items[i];

		if (!t->size)
			continue;
		if (pp_spill_add(tracks->spill, &t->blocks, t->bytes, t->size))
			return -1;
		free_items(tracks, t);
		t->bytes = NULL;
		t->size = t->capacity = 0;
	}
	return 0;
}

/* The same, when memory is short. Returns 0 if it freed enough to be worth another try. */
static int spill_items(struct pp_tracks *tracks)
{
	const uint64_t before = tracks->memory.used;

	if (move_items(tracks))
		return -1;
	return tracks->memory.used < before && before - tracks->memory.used >= before / 4 ? 0 : -1;
}

/* Without a file the items stay in memory, as long as there is some. */
static void spill_early(struct pp_tracks *tracks)
{
	if (move_items(tracks) == 0)
		return;
	tracks->enough = 0;
	if (tracks->spill)
		pp_spill_forget_error(tracks->spill);
}

/* --- tracks --- */

static bool is_same_track(const void *ctx, uint32_t id, const void *key)
{
	const struct pp_track *have = &((const struct pp_track *)ctx)[id], *want = key;

	return have->tid == want->tid && have->pid == want->pid && have->cpu == want->cpu &&
	       have->start == want->start && have->machine_pid == want->machine_pid;
}

/* Makes room for one more track, with that hash. Returns 0, or -1 without memory. */
static int add_track(struct pp_tracks *t, uint32_t hash)
{
	struct pp_track *items = pp_memory_grow(&t->memory, t->items, &t->capacity, t->nr + 1,
						sizeof(*items));

	if (!items)
		return -1;
	t->items = items;
	return t->nr < PP_NONE - 1 ?
		pp_index_add(&t->index, &t->memory, hash, (uint32_t)t->nr) : -1;
}

static struct pp_track *find_track(struct pp_tracks *t, const struct pp_track *key)
{
	const uint64_t task = (uint64_t)(uint32_t)key->pid << 32 | (uint32_t)key->tid,
		       place = (uint64_t)(uint32_t)key->machine_pid << 32 | (uint32_t)key->cpu,
		       mixed = pd_hash_mix(pp_index_hash(&t->index, key->start), task);
	const uint32_t hash = (uint32_t)pd_hash_mix(mixed, place);
	const uint32_t found = pp_index_find(&t->index, hash, t->items, key, is_same_track);

	if (found != PP_NONE)
		return &t->items[found];
	if (add_track(t, hash) && (spill_items(t) || add_track(t, hash)))
		return NULL;
	t->items[t->nr] = *key;
	return &t->items[t->nr++];
}

static struct pp_track *track_of(struct pp_tracks *t, const struct pd_task *task)
{
	return find_track(t, &(struct pp_track){
		.machine_pid = task->machine_pid,
		.pid = task->pid, .tid = task->tid, .start = task->start,
		.cpu = task->flags & PD_TASK_IDLE ? task->cpu : -1,
		.comm = PP_NONE, .process = PP_NONE, .process_start = PD_NO_TIME,
		.first = PD_NO_TIME,
	});
}

uint32_t pp_tracks_number(struct pp_tracks *t, const struct pd_task *task)
{
	const struct pp_track *track = track_of(t, task);

	return track ? (uint32_t)(track - t->items) : PP_NONE;
}

struct pp_track *pp_tracks_find(struct pp_tracks *t, const struct pp_track *other)
{
	return find_track(t, &(struct pp_track){
		.machine_pid = other->machine_pid, .pid = other->pid, .tid = other->tid,
		.start = other->start, .cpu = other->cpu,
		.comm = PP_NONE, .process = PP_NONE, .process_start = PD_NO_TIME,
		.first = PD_NO_TIME,
	});
}

/* Returns the string of a task's name, or PP_NONE without memory. In a virtual machine it says in
 * which: formats have no place for that. */
static uint32_t name_of(struct pp_strings *strings, struct pp_memory *m,
			const struct pd_task *task)
{
	const char *comm = task->comm ? task->comm : "";
	char text[64];

	if (!task->machine_pid)
		return pp_strings_add(strings, m, comm, strlen(comm));
	snprintf(text, sizeof(text), "%.40s@%" PRId32, comm, task->machine_pid);
	return pp_strings_add(strings, m, text, strlen(text));
}

/* A new name of the thread is perhaps one of the process. */
static int name_track(struct pp_track *t, struct pp_strings *strings, struct pp_memory *m,
		      const struct pd_history *h, const struct pd_task *task,
		      const struct pd_moment *at)
{
	struct pd_task process;
	uint32_t comm;

	comm = name_of(strings, m, task);
	if (comm == PP_NONE)
		return -1;
	t->named = task->comm;
	if (comm == t->comm)
		return 0;
	process = *task;
	t->comm = comm;
	if (task->pid > 0 && !task->machine_pid)
		pd_history_task(h, task->pid, task->pid, -1, at, &process);
	t->process = process.comm ? name_of(strings, m, &process) : comm;
	t->process_start = process.start;
	return t->process == PP_NONE ? -1 : 0;
}

/* --- writing --- */

static void put_item(struct pp_track *t, const struct pp_item *item)
{
	const bool is_sample = item->kind == PP_ITEM_SAMPLE;
	const bool is_before = item->time < t->last;
	const bool is_same = is_sample && item->weight == t->weight;
	uint8_t *to = t->bytes + t->size;

	*to++ = (uint8_t)(item->kind | (is_before ? BACKWARD : 0u) |
			  (is_same ? SAME_WEIGHT : 0u));
	to = pp_write_varint(to, is_before ? t->last - item->time : item->time - t->last);
	if (is_sample) {
		to = pp_write_varint(to, item->node);
		if (!is_same)
			to = pp_write_varint(to, item->weight);
		t->weight = item->weight;
		t->weights += item->weight;
		t->samples++;
	}
	t->nr_items++;
	t->is_unordered |= is_before;
	t->last = item->time;
	if (item->time && item->time < t->first)
		t->first = item->time;
	t->size = (size_t)(to - t->bytes);
}

static uint8_t *make_room(struct pp_tracks *tracks, struct pp_track *t)
{
	const size_t before = t->capacity;
	uint8_t *bytes = pp_memory_grow(&tracks->memory, t->bytes, &t->capacity,
					t->size + ITEM_BYTES, 1);

	tracks->room += t->capacity - before;
	return bytes;
}

int pp_track_add(struct pp_tracks *tracks, uint32_t track, const struct pp_item *item)
{
	struct pp_track *t = &tracks->items[track];
	uint8_t *bytes;

	if (tracks->enough && tracks->room > tracks->enough)
		spill_early(tracks);
	bytes = make_room(tracks, t);
	if (!bytes && spill_items(tracks) == 0)
		bytes = make_room(tracks, t);
	if (!bytes)
		return -1;
	t->bytes = bytes;
	put_item(t, item);
	tracks->has_switches |= item->kind != PP_ITEM_SAMPLE;
	return 0;
}

struct pp_track pp_track_empty(struct pp_tracks *tracks, struct pp_track *t)
{
	const struct pp_track before = *t;

	tracks->room -= t->capacity;
	t->blocks = (struct pp_block_list){ 0 };
	t->bytes = NULL;
	t->size = t->capacity = 0;
	t->samples = t->weights = t->nr_items = t->last = t->weight = 0;
	t->is_unordered = false;
	return before;
}

void pp_track_free(struct pp_tracks *t, struct pp_track *track)
{
	pp_memory_free(&t->memory, track->bytes, track->capacity, 1);
}

uint32_t pp_tracks_of(struct pp_tracks *t, struct pp_strings *strings, struct pp_memory *m,
		      const struct pd_history *h, const struct pd_task *task,
		      const struct pd_moment *at)
{
	struct pp_track *track = track_of(t, task);

	if (!track || (track->comm == PP_NONE && name_track(track, strings, m, h, task, at)))
		return PP_NONE;
	return (uint32_t)(track - t->items);
}

int pp_tracks_add(struct pp_tracks *t, uint32_t number, struct pp_strings *strings,
		  struct pp_memory *m, const struct pd_history *h, const struct pd_task *task,
		  const struct pd_moment *at, const struct pp_item *item)
{
	struct pp_track *track = &t->items[number];
	struct pp_item now = *item;

	if (!item->time || item->time >= PP_NO_TIME_FROM)
		now.time = track->last;
	if (now.time >= track->named_at) {
		if ((track->comm == PP_NONE || task->comm != track->named) &&
		    name_track(track, strings, m, h, task, at))
			return -1;
		track->named_at = now.time;
	}
	return pp_track_add(t, number, &now);
}

/* --- reading --- */

struct pp_track_reader pp_track_read(const struct pp_tracks *t, const struct pp_track *track)
{
	return (struct pp_track_reader){ .track = track, .spill = t->spill,
					 .place.next = track->blocks.first };
}

/* Makes sure that the next item is there as a whole. Returns false at the end. */
static bool find_item(struct pp_track_reader *r)
{
	const size_t rest = (size_t)(r->end - r->at);

	if (rest && (rest >= ITEM_BYTES || !r->place.left))
		return true;
	if (r->place.next || r->place.left) {
		const size_t size = pp_spill_read(r->spill, &r->place, rest, &r->at);

		r->end = r->at + size;
		return size > 0;
	}
	if (r->is_in_memory || !r->track->size)
		return false;
	r->is_in_memory = true;
	r->at = r->track->bytes;
	r->end = r->at + r->track->size;
	return true;
}

/* Moves *at past a number. */
static uint64_t get_number(const uint8_t **at, const uint8_t *end)
{
	uint64_t n = 0;

	for (unsigned int shift = 0; *at < end; shift += 7) {
		const uint8_t byte = *(*at)++;

		n |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			break;
	}
	return n;
}

bool pp_track_next(struct pp_track_reader *r, struct pp_item *item)
{
	const uint8_t *at, *end;
	unsigned int kind;
	uint64_t time;

	if (!find_item(r))
		return false;
	at = r->at;
	end = r->end;
	kind = *at++;
	time = get_number(&at, end);
	r->time = kind & BACKWARD ? r->time - time : r->time + time;
	item->time = r->time;
	item->kind = (enum pp_item_kind)(kind & (BACKWARD - 1));
	if (item->kind == PP_ITEM_SAMPLE) {
		item->node = (uint32_t)get_number(&at, end);
		r->weight = kind & SAME_WEIGHT ? r->weight : get_number(&at, end);
		item->weight = r->weight;
	}
	r->at = at;
	return true;
}

struct pd_error pp_tracks_error(const struct pp_tracks *t)
{
	return t->spill ? *pp_spill_error(t->spill) : (struct pd_error){ .code = PD_OK };
}

/* --- order --- */

/* Returns the end of the items in order that begin with the i-th. */
static size_t end_of_run(const struct pp_item *items, size_t i, size_t n)
{
	do
		i++;
	while (i < n && items[i - 1].time <= items[i].time);
	return i;
}

static void merge_runs(const struct pp_item *from, size_t i, size_t middle, size_t end,
		       struct pp_item *to)
{
	size_t k = middle;

	for (; i < middle && k < end; to++)
		*to = from[k].time < from[i].time ? from[k++] : from[i++];
	memcpy(to, from + i, (middle - i) * sizeof(*to));
	memcpy(to + (middle - i), from + k, (end - k) * sizeof(*to));
}

/* Sorts by time: each CPU's items are in order already. Returns where the result is. */
static struct pp_item *sort_items(struct pp_item *items, struct pp_item *other, size_t n)
{
	while (end_of_run(items, 0, n) < n) {
		struct pp_item *sorted = other;

		for (size_t i = 0, end; i < n; i = end) {
			const size_t middle = end_of_run(items, i, n);

			end = middle < n ? end_of_run(items, middle, n) : n;
			merge_runs(items, i, middle, end, other + i);
		}
		other = items;
		items = sorted;
	}
	return items;
}

/* Returns memory for items, if need be after those of all tracks went to the file: their bytes are
 * written again while the old ones are there. */
static struct pp_item *take_memory(struct pp_tracks *t, size_t nr)
{
	struct pp_item *items;

	if (t->memory.used + nr * sizeof(*items) > t->memory.limit / 2)
		spill_early(t);
	items = pp_memory_zeroed(&t->memory, nr, sizeof(*items));
	return items || spill_items(t) ? items :
					 pp_memory_zeroed(&t->memory, nr, sizeof(*items));
}

/* Writes the items of a track again, those in order that are less than half a window from their
 * places. No two change places that are in order. Returns 0, or -1 without memory. */
static int order_near(struct pp_tracks *t, struct pp_track *track, struct pp_item *items,
		      size_t window)
{
	const uint32_t number = (uint32_t)(track - t->items);
	struct pp_track before = pp_track_empty(t, track);
	struct pp_track_reader r = pp_track_read(t, &before);
	struct pp_item item = { 0 };
	size_t kept = 0, n, ready;
	int ret = 0;

	do {
		struct pp_item *sorted;

		for (n = kept; n < window && pp_track_next(&r, &item); n++)
			items[n] = item;
		sorted = sort_items(items, items + window, n);
		ready = n < window ? n : (n + 1) / 2;
		kept = n - ready;
		for (size_t i = 0; i < ready && !ret; i++)
			ret = pp_track_add(t, number, &sorted[i]);
		memmove(items, sorted + ready, kept * sizeof(*items));
	} while (kept && !ret);
	pp_track_free(t, &before);
	return ret;
}

/* Returns how many items are put in order at once: that many, all, or as many as there are in half
 * of the memory. The other half is for the bytes. */
static size_t choose_window(const struct pp_tracks *t, uint64_t nr, size_t wanted)
{
	const uint64_t most = t->memory.limit / 4 / sizeof(struct pp_item);
	const uint64_t window = nr < wanted ? nr + 1 : wanted;

	return (size_t)(window < most ? window : most);
}

/* In larger and larger windows: most items are near their places. Windows of one size, when they
 * can't be larger, bring half a window of items to their places each time, those at the end. */
static int order_items(struct pp_tracks *t, struct pp_track *track)
{
	const uint64_t nr = track->nr_items;
	size_t near = NEAR_ITEMS;
	int ret = 0;

	while (track->is_unordered && !ret) {
		const size_t window = choose_window(t, nr, near);
		struct pp_item *items = window > 1 ? take_memory(t, 2 * window) : NULL;

		ret = items ? order_near(t, track, items, window) : -1;
		pp_memory_free(&t->memory, items, 2 * window, sizeof(*items));
		near = near < SIZE_MAX / 8 ? near * 8 : near;
	}
	return track->nr_items < nr ? -1 : ret;	/* the file could not be read */
}

/* Those that begin at the same time are told apart by their numbers. */
static int compare_tracks(const void *a, const void *b)
{
	const struct pp_track *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

int pp_tracks_order(struct pp_tracks *t)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->items[i].is_unordered && order_items(t, &t->items[i]))
			return -1;
	if (t->nr)
		qsort(t->items, t->nr, sizeof(*t->items), compare_tracks);
	pp_index_free(&t->index, &t->memory);
	return 0;
}

uint64_t pp_tracks_first(const struct pp_tracks *t)
{
	uint64_t first = PD_NO_TIME;

	for (size_t i = 0; i < t->nr; i++)
		if (t->items[i].first < first)
			first = t->items[i].first;
	return first == PD_NO_TIME ? 0 : first;
}

void pp_tracks_free(struct pp_tracks *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free_items(t, &t->items[i]);
	pp_spill_free(t->spill);
	pp_memory_free(&t->memory, t->items, t->capacity, sizeof(*t->items));
	pp_index_free(&t->index, &t->memory);
	*t = (struct pp_tracks){ 0 };
}
