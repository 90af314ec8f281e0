/* json_frame_table.c - the locations of samples, each once: see json_frame_table.h. */
#include "json/json_frame_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define SHOWN_FLAGS (PD_LOCATION_RETURN | PD_LOCATION_GUESSED | PD_LOCATION_REMAPPED | \
		     PD_LOCATION_STITCHED)
#define OF_DATA (1u << 7)	/* no flag of a location: what is there has another name */

struct pd_frame_key pd_frame_key_of(const struct pd_history *h, const struct pd_namer *namer,
				    int32_t pid, const struct pd_location *l)
{
	struct pd_frame_key key = { .image = l->image, .pid = -1,
				    .flags = l->flags & SHOWN_FLAGS };

	if (l->of == PD_LOCATION_OF_ADDR)
		key.flags |= OF_DATA;
	if (l->image == PD_NO_IMAGE) {
		key.offset = l->addr;
		key.why = l->why;
		return key;
	}
	key.offset = l->file_offset;
	if (!pd_image_kind_is_own_code(pd_history_image(h, l->image)->kind))
		return key;
	key.pid = pid;
	if (namer->since)
		key.since = namer->since(namer->ctx, pid, l);
	return key;
}

void pd_frame_key_write(struct pd_jsonw *w, const struct pd_frame_key *key)
{
	char text[96];
	int n = key->image == PD_NO_IMAGE ?
			snprintf(text, sizeof(text), "%s:%" PRIx64, pd_why_name(key->why),
				 key->offset) :
			snprintf(text, sizeof(text), "%" PRIu32 ":%" PRIx64, key->image,
				 key->offset);

	if (key->pid >= 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "@%" PRId32, key->pid);
	if (key->since)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "t%" PRIu64, key->since);
	snprintf(text + n, sizeof(text) - (size_t)n, "%s%s%s%s%s",
		 key->flags & PD_LOCATION_RETURN ? "r" : "",
		 key->flags & PD_LOCATION_GUESSED ? "g" : "",
		 key->flags & PD_LOCATION_REMAPPED ? "m" : "",
		 key->flags & PD_LOCATION_STITCHED ? "s" : "",
		 key->flags & OF_DATA ? "d" : "");
	pd_jsonw_string(w, text);
}

static int compare_keys(const struct pd_frame_key *a, const struct pd_frame_key *b)
{
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->since != b->since)
		return a->since < b->since ? -1 : 1;
	if (a->why != b->why)
		return a->why < b->why ? -1 : 1;
	return a->flags - b->flags;
}

static uint64_t hash_of(const struct pd_frame_table *t, const struct pd_frame_key *key)
{
	const uint64_t more = (uint64_t)key->image << 32 ^ (uint64_t)(uint32_t)key->pid << 16 ^
			      (uint64_t)key->why << 8 ^ key->flags;

	return pd_hash_mix(pd_hash_mix(t->seed, key->offset), more ^ key->since);
}

static struct pd_frame_entry *add_entry(struct pd_frame_table *t, const struct pd_frame_key *key,
					const struct pd_location *l, struct pd_frame_entry *first)
{
	struct pd_frame_entry *entry = pd_arena_alloc(&t->arena, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->key = *key;
	entry->location = *l;
	if (first) {
		entry->same_hash = first->same_hash;
		first->same_hash = entry;
	} else if (pd_map_add(&t->by_hash, hash_of(t, key), entry) < 0) {
		return NULL;
	}
	t->nr++;
	return entry;
}

/* Several maps of a file may hold the offset: the result must not depend on which was first. */
static void prefer_lower_map(struct pd_frame_entry *entry, const struct pd_location *l)
{
	if (l->start < entry->location.start ||
	    (l->start == entry->location.start && l->pgoff < entry->location.pgoff))
		entry->location = *l;
}

void pd_frame_table_add(struct pd_frame_table *t, const struct pd_frame_key *key,
			const struct pd_location *l, uint64_t frames)
{
	struct pd_frame_entry *first, *entry;

	if (!t->seed)
		t->seed = pd_hash_seed(t);
	entry = first = pd_map_find(&t->by_hash, hash_of(t, key));
	while (entry && compare_keys(&entry->key, key) != 0)
		entry = entry->same_hash;
	if (entry)
		prefer_lower_map(entry, l);
	else
		entry = add_entry(t, key, l, first);
	if (entry)
		entry->frames += frames;
	else
		t->is_cut = true;
}

static void add_chain(void *ctx, uint64_t hash, void *value)
{
	(void)hash;
	for (const struct pd_frame_entry *e = value; e; e = e->same_hash)
		pd_frame_table_add(ctx, &e->key, &e->location, e->frames);
}

void pd_frame_table_collect(struct pd_frame_table *t, struct pd_frame_table *from)
{
	pd_map_each(&from->by_hash, add_chain, t);
	t->is_cut |= from->is_cut;
	pd_frame_table_free(from);
}

struct listing {
	const struct pd_frame_entry **entries;
	size_t nr;
};

static void list_chain(void *ctx, uint64_t hash, void *value)
{
	struct listing *l = ctx;

	(void)hash;
	for (const struct pd_frame_entry *e = value; e; e = e->same_hash)
		l->entries[l->nr++] = e;
}

static int compare_entries(const void *a, const void *b)
{
	const struct pd_frame_entry *const *x = a, *const *y = b;

	return compare_keys(&(*x)->key, &(*y)->key);
}

const struct pd_frame_entry **pd_frame_table_sorted(const struct pd_frame_table *t)
{
	struct listing l = { .entries = t->nr ? calloc(t->nr, sizeof(*l.entries)) : NULL };

	if (!l.entries)
		return NULL;
	pd_map_each(&t->by_hash, list_chain, &l);
	qsort(l.entries, l.nr, sizeof(*l.entries), compare_entries);
	return l.entries;
}

void pd_frame_table_free(struct pd_frame_table *t)
{
	pd_map_free(&t->by_hash);
	pd_arena_free(&t->arena);
	t->nr = 0;
}
