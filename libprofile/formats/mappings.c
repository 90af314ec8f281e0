/* mappings.c - the code of a profile for formats with addresses: where images are mapped, and the
 * locations in them. */
#include "formats/mappings.h"

int pp_mappings_start(struct pp_mappings *m, const struct pp_profile *p)
{
	m->p = p;
	m->locations = pp_memory_zeroed(m->memory, p->frames.nr, sizeof(*m->locations));
	m->of_frame = pp_memory_zeroed(m->memory, p->frames.nr, sizeof(*m->of_frame));
	return m->locations && m->of_frame ? 0 : -1;
}

void pp_mappings_end(struct pp_mappings *m)
{
	pp_memory_free(m->memory, m->locations, m->p->frames.nr, sizeof(*m->locations));
	pp_memory_free(m->memory, m->of_frame, m->p->frames.nr, sizeof(*m->of_frame));
	pp_memory_free(m->memory, m->items, m->capacity, sizeof(*m->items));
	pp_index_free(&m->index, m->memory);
	*m = (struct pp_mappings){ .memory = m->memory, .nr_locations = m->nr_locations,
				   .failed = m->failed };
}

static bool is_same_mapping(const void *ctx, uint32_t id, const void *key)
{
	const struct pp_mapping *have = &((const struct pp_mapping *)ctx)[id], *want = key;

	return have->image == want->image && have->pgoff == want->pgoff &&
	       (have->start == want->start || want->named->kind != PP_KIND_JIT);
}

static uint32_t find_mapping(struct pp_mappings *m, const struct pp_frame *f,
			     const struct pp_named *named)
{
	const struct pp_mapping key = { .image = f->at.image, .start = f->at.start,
					.len = f->at.len, .pgoff = f->at.pgoff, .named = named };
	const uint64_t mixed = pd_hash_mix(pp_index_hash(&m->index, key.pgoff), key.image);
	const uint32_t hash = (uint32_t)pd_hash_mix(mixed, named->kind == PP_KIND_JIT ?
						    key.start : 0);
	const uint32_t found = pp_index_find(&m->index, hash, m->items, &key, is_same_mapping);
	struct pp_mapping *items;

	if (key.image == PD_NO_IMAGE || found != PP_NONE)
		return found;
	items = pp_memory_grow(m->memory, m->items, &m->capacity, m->nr + 1, sizeof(*items));
	if (items)
		m->items = items;
	if (!items || pp_index_add(&m->index, m->memory, hash, (uint32_t)m->nr)) {
		m->failed = -1;
		return PP_NONE;
	}
	m->items[m->nr] = key;
	return (uint32_t)m->nr++;
}

/* Returns the outermost function of a frame if it stands for code, or NULL. */
static const struct pp_named *code_of(const struct pp_profile *p, uint32_t frame)
{
	const uint32_t step = p->first_step[frame];
	const struct pp_named *f;

	if (step == p->first_step[frame + 1])
		return NULL;
	f = &p->functions[p->steps[step].function];
	return pp_is_in_stack(f->kind) ? f : NULL;
}

uint32_t pp_location_of(struct pp_mappings *m, uint32_t frame)
{
	const struct pp_profile *p = m->p;
	const struct pp_named *named = m->locations[frame] ? NULL : code_of(p, frame);

	if (!named)
		return m->locations[frame];
	m->locations[frame] = ++m->nr_locations;
	m->of_frame[frame] = find_mapping(m, &p->frames.items[frame], named);
	if (m->of_frame[frame] != PP_NONE) {
		struct pp_mapping *at = &m->items[m->of_frame[frame]];

		at->is_program |= named->kind == PP_KIND_PROGRAM;
		at->has_names |= named->why == PD_WHY_FOUND && p->options.namer;
	}
	return m->locations[frame];
}

uint64_t pp_location_address(const struct pp_mappings *m, uint32_t frame)
{
	const struct pp_frame *f = &m->p->frames.items[frame];
	const struct pp_mapping *at = &m->items[m->of_frame[frame]];

	return f->kind == PP_KIND_JIT ? f->at.addr : f->at.file_offset - at->pgoff + at->start;
}
