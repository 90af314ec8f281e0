/* collect.c - makes feature PD_SYMBOLS of what a session found. */
#include <string.h>

#include "image/sort.h"
#include "session/collect.h"

static struct ps_collected *collected_of(struct ps_session *s, int32_t pid,
					 const struct pd_location *l, uint64_t *address)
{
	struct ps_process_code *code;

	*address = ps_address_in_bundle(l, l->addr);
	switch (pd_history_image(s->options.history, l->image)->kind) {
	case PD_IMAGE_FILE:
	case PD_IMAGE_DELETED:
	case PD_IMAGE_MEMFD:
	case PD_IMAGE_VDSO:
		*address = ps_address_in_bundle(l, l->file_offset);
		return &s->collected[l->image];
	case PD_IMAGE_KERNEL:
	case PD_IMAGE_MODULE:
		return &s->collected[l->image];
	case PD_IMAGE_ANONYMOUS:
	case PD_IMAGE_HEAP:
	case PD_IMAGE_STACK:
		code = ps_session_process(s, pid);
		return code ? &code->collected : NULL;
	default:
		return NULL;
	}
}

/* Whether a file was found: only then other machines need what it has there. */
static bool is_of_file(const struct ps_known *found)
{
	return found->why == PD_WHY_FOUND || found->why == PD_WHY_NO_SYMBOL ||
	       found->why == PD_WHY_NO_SYMBOLS || found->why == PD_WHY_JIT_REUSED;
}

static void keep_hit(struct ps_session *s, struct ps_collected *c, uint64_t address,
		     const struct ps_known *found)
{
	struct ps_hit *hit, *same;

	c->seen.budget = &s->budget;
	same = pd_map_find(&c->seen, address);
	for (hit = same; hit; hit = hit->same)
		if (hit->found.from == found->from)
			return;
	hit = pd_arena_alloc(&s->arena, sizeof(*hit));
	if (!hit || (!same && pd_map_add(&c->seen, address, hit) < 0))
		return;
	*hit = (struct ps_hit){ .next = c->first, .address = address, .found = *found };
	if (same) {
		hit->same = same->same;
		same->same = hit;
	}
	c->first = hit;
	c->nr++;
}

void ps_session_collect(struct ps_session *s, int32_t pid, const struct pd_location *l,
			const struct ps_known *found)
{
	struct ps_collected *c;
	uint64_t address;

	if (!s->collected || l->flags & PD_LOCATION_DATA || !is_of_file(found))
		return;
	c = collected_of(s, pid, l, &address);
	if (c)
		keep_hit(s, c, address, found);
}

void ps_session_collect_variable(struct ps_session *s, int32_t pid, const struct pd_location *l,
				 const struct ps_known *found, uint64_t size)
{
	const struct ps_known none = { .why = PD_WHY_NO_SYMBOL };
	struct ps_collected *c = NULL;
	struct ps_hit *after;
	uint64_t start;

	if (s->collected)
		c = collected_of(s, pid, l, &start);
	if (!c)
		return;
	start -= (found->is_in_file ? l->file_offset : l->addr) - found->base;
	after = pd_map_find(&c->seen, start);
	if (after && !after->found.nr_functions)
		after->found = *found;		/* where another variable ended */
	keep_hit(s, c, start, found);
	keep_hit(s, c, start + size, &none);
}

/* --- the section --- */

/* Returns the name of the function whose code it is, into which others may be inlined. */
static const char *name_of(const struct ps_known *found)
{
	return found->nr_functions ? found->functions[found->nr_functions - 1].linkage_name : "";
}

/* Names that are the same are at one place. */
static bool is_same_function(const struct ps_known *a, const struct ps_known *b)
{
	return a->base == b->base && name_of(a) == name_of(b) && a->why == b->why &&
	       a->has_extent == b->has_extent;
}

static void set_function(struct ps_bundle_function *f, const struct ps_known *found)
{
	const char *name = name_of(found);

	*f = (struct ps_bundle_function){
		.base = found->base, .extent = found->has_extent ? found->start : PS_NO_EXTENT,
		.name = { (const uint8_t *)name, strlen(name) }, .why = found->why,
	};
}

/* Returns the hits in the order of addresses and times, or NULL without memory. */
static const struct ps_hit **sort_hits(struct ps_session *s, const struct ps_collected *c)
{
	const struct ps_hit **hits = pd_arena_alloc(&s->arena, c->nr * sizeof(struct ps_hit *));
	const struct ps_hit **sorted = pd_arena_alloc(&s->arena, c->nr * sizeof(struct ps_hit *));
	struct ps_key *keys = pd_arena_alloc(&s->arena, c->nr * sizeof(*keys));
	const struct ps_hit *hit = c->first;

	if (!hits || !sorted || !keys)
		return NULL;
	for (size_t i = 0; i < c->nr; i++, hit = hit->next) {
		hits[i] = hit;
		keys[i] = (struct ps_key){ hit->found.from, (uint32_t)i };
	}
	if (ps_sort_keys(keys, c->nr, &s->budget))
		return NULL;
	for (size_t i = 0; i < c->nr; i++)
		keys[i].key = hits[keys[i].index]->address;
	if (ps_sort_keys(keys, c->nr, &s->budget))
		return NULL;
	for (size_t i = 0; i < c->nr; i++)
		sorted[i] = hits[keys[i].index];
	return sorted;
}

/* Fills in the addresses and functions. Returns whether there was memory. */
static bool set_hits(struct ps_session *s, const struct ps_collected *c,
		     struct ps_bundle_image *image)
{
	const struct ps_hit **hits = sort_hits(s, c);

	image->functions = pd_arena_alloc(&s->arena, c->nr * sizeof(*image->functions));
	image->addresses = pd_arena_alloc(&s->arena, c->nr * sizeof(*image->addresses));
	image->hits = pd_arena_alloc(&s->arena, c->nr * sizeof(*image->hits));
	image->times = pd_arena_alloc(&s->arena, c->nr * sizeof(*image->times));
	if (!hits || !image->functions || !image->addresses || !image->hits || !image->times)
		return false;
	for (image->nr = 0; image->nr < c->nr; image->nr++) {
		const size_t i = image->nr;

		if (!i || !is_same_function(&hits[i - 1]->found, &hits[i]->found))
			set_function(&image->functions[image->nr_functions++], &hits[i]->found);
		image->addresses[i] = hits[i]->address;
		image->hits[i] = (uint32_t)image->nr_functions - 1;
		image->times[i] = hits[i]->found.from;
	}
	ps_session_set_calls(s, hits, image);
	return true;
}

static void add_image(struct ps_session *s, uint32_t index, struct ps_bundle_image *image)
{
	const struct pd_image *of = pd_history_image(s->options.history, index);

	if (!set_hits(s, &s->collected[index], image)) {
		*image = (struct ps_bundle_image){ .pid = -1 };
		return;
	}
	image->pid = -1;
	image->times = NULL;
	ps_session_set_rows(s, &s->images[index], image);
	image->ino = of->has_inode ? of->ino : 0;
	image->path = (struct pd_bytes){ (const uint8_t *)of->path, strlen(of->path) };
	if (of->build_id_source == PD_BUILD_ID_OF_MAP)
		image->build_id = of->build_id;
}

static struct ps_bundle_image *make_images(struct ps_session *s, size_t *n)
{
	struct ps_bundle_image *images;
	size_t most = s->nr_images;

	for (const struct ps_process_code *p = s->first_process; p; p = p->next)
		most++;
	*n = 0;
	images = pd_arena_alloc(&s->arena, most * sizeof(*images));
	for (size_t i = 0; images && i < s->nr_images; i++)
		if (s->collected[i].nr)
			add_image(s, (uint32_t)i, &images[(*n)++]);
	for (struct ps_process_code *p = s->first_process; images && p; p = p->next)
		if (p->collected.nr && set_hits(s, &p->collected, &images[*n])) {
			ps_session_set_jit_rows(s, ps_session_jit_asked(s, p), &images[*n]);
			images[(*n)++].pid = p->pid;
		}
	return images;
}

struct pd_bytes ps_bundle(struct ps_session *s, enum ps_bundle_is is)
{
	struct pd_bytes made = { NULL, 0 };
	struct ps_bundle_image *images;
	size_t n;

	if (!s)
		return made;
	pthread_mutex_lock(&s->lock);
	images = s->collected ? make_images(s, &n) : NULL;
	if (images && n) {
		pd_buf_free(&s->made);
		s->made.budget = &s->budget;
		ps_bundle_write(&s->made, images, n, is);
		if (!s->made.failed)
			made = pd_buf_bytes(&s->made);
	}
	pthread_mutex_unlock(&s->lock);
	return made;
}

void ps_session_free_bundle(struct ps_session *s)
{
	for (size_t i = 0; s->collected && i < s->nr_images; i++)
		pd_map_free(&s->collected[i].seen);
	for (struct ps_process_code *p = s->first_process; p; p = p->next)
		pd_map_free(&p->collected.seen);
	pd_budget_free(&s->budget, s->collected, s->nr_images * sizeof(*s->collected));
	pd_budget_free(&s->budget, s->given, s->nr_images * sizeof(struct ps_bundle_image *));
	pd_map_free(&s->given_code);
	pd_map_free(&s->given_chains);
	pd_buf_free(&s->bundle);
	pd_buf_free(&s->made);
}
