/* given.c - names out of the recording itself: feature PD_SYMBOLS. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "session/image_path.h"

static bool is_of(const struct pd_image *image, const struct ps_bundle_image *given)
{
	const struct pd_bytes none = { NULL, 0 };

	return pd_same_bytes(given->build_id, image->build_id_source == PD_BUILD_ID_OF_MAP ?
						      image->build_id : none);
}

static void assign_names(struct ps_session *s, const struct ps_image_path *images, size_t n,
			 struct ps_bundle_image *given)
{
	const struct ps_image_path wanted = { .path = given->path, .ino = given->ino };
	const struct ps_image_path *found;

	if (given->pid >= 0) {
		pd_map_add(&s->given_code, (uint64_t)given->pid + 1, given);
		return;
	}
	found = bsearch(&wanted, images, n, sizeof(*images), ps_compare_image_paths);
	if (found && is_of(found->image, given) && !s->given[found->image->index])
		s->given[found->image->index] = given;
}

void ps_session_read_bundle(struct ps_session *s, struct pd_bytes section)
{
	struct ps_bundle_images given;
	struct ps_image_path *images;
	size_t n;

	if (!section.size)
		return;
	pd_buf_append(&s->bundle, section.data, section.size);
	given = ps_bundle_read(pd_buf_bytes(&s->bundle), &s->arena);
	s->given_is_whole = given.is_whole;
	s->given_has_inlined = given.has_inlined;
	images = ps_image_paths(s, &n);
	s->given = pd_budget_alloc(&s->budget, s->nr_images * sizeof(struct ps_bundle_image *));
	for (size_t i = 0; given.items && images && s->given && i < given.nr; i++)
		assign_names(s, images, n, &given.items[i]);
	ps_free_image_paths(s, images);
}

bool ps_session_is_inlined_given(const struct ps_session *s, uint32_t image)
{
	const struct ps_bundle_image *given = s->given ? s->given[image] : NULL;

	return given && given->nr_calls && s->given_has_inlined &&
	       s->options.depth == PS_INLINES && !s->places.nr_debug_dirs && !s->places.sysroot;
}

static const struct ps_bundle_image *given_at(const struct ps_session *s, int32_t pid,
					      const struct pd_location *l, uint64_t *address)
{
	const struct pd_image *image = pd_history_image(s->options.history, l->image);

	*address = ps_address_in_bundle(l, l->addr);
	switch (image->kind) {
	case PD_IMAGE_FILE:
	case PD_IMAGE_DELETED:
	case PD_IMAGE_MEMFD:
	case PD_IMAGE_VDSO:
		*address = ps_address_in_bundle(l, l->file_offset);
		return s->given[l->image];
	case PD_IMAGE_KERNEL:
	case PD_IMAGE_MODULE:
		return s->given[l->image];
	case PD_IMAGE_ANONYMOUS:
	case PD_IMAGE_HEAP:
	case PD_IMAGE_STACK:
		return pd_map_find(&s->given_code, (uint64_t)(uint32_t)pid + 1);
	default:
		return NULL;
	}
}

/* Returns the call, or NULL; at most PS_CHAIN_MAX are looked at. */
static const struct ps_bundle_call *call_at(const struct ps_bundle_image *image, uint32_t number,
					    size_t steps)
{
	return number && steps + 1 < PS_CHAIN_MAX ? &image->calls[number - 1] : NULL;
}

/* Inlined functions without a name are left out. */
static size_t count_functions(const struct ps_bundle_image *image, uint32_t innermost)
{
	const struct ps_bundle_call *call = call_at(image, innermost, 0);
	size_t n = 1;

	for (size_t steps = 1; call; call = call_at(image, call->caller, steps++))
		n += call->name != 0;
	return n;
}

static bool set_name(struct ps_session *s, const struct ps_bundle_image *image, uint32_t number,
		     struct pd_function *f)
{
	const struct pd_function *named = ps_session_name(s, image->names.items[number - 1]);

	f->symbol = named ? named->symbol : NULL;
	f->linkage_name = named ? named->linkage_name : NULL;
	return named != NULL;
}

static void set_place(struct ps_session *s, const struct ps_bundle_image *image, uint32_t file,
		      uint32_t line, struct pd_function *f)
{
	if (file && s->options.depth >= PS_LINES)
		f->file = ps_session_source_path(s, (const char *)
						    image->files.items[file - 1].data);
	f->line = line;
}

/* Returns the n functions at an address, the last of which is `outermost`; NULL without memory. */
static struct pd_function *make_chain(struct ps_session *s, const struct ps_bundle_image *image,
				      size_t at, size_t n, const struct pd_function *outermost)
{
	struct pd_function *chain = pd_arena_alloc(&s->arena, n * sizeof(*chain));
	const struct ps_bundle_call *call =
		call_at(image, ps_bundle_number(image->inlined, at), 0);
	size_t i = 0;

	if (!chain)
		return NULL;
	if (s->options.depth >= PS_LINES)
		set_place(s, image, ps_bundle_number(image->line_files, at),
			  ps_bundle_number(image->lines, at), &chain[0]);
	for (size_t steps = 1; call; call = call_at(image, call->caller, steps++)) {
		if (call->name && !set_name(s, image, call->name, &chain[i++]))
			return NULL;
		set_place(s, image, call->file, call->line, &chain[i]);
	}
	chain[n - 1].symbol = outermost->symbol;
	chain[n - 1].linkage_name = outermost->linkage_name;
	return chain;
}

/* In place of the functions at an address that have too much text. */
static const struct pd_function too_long;

/* Adds inlined functions and the line. Those of the kernel are asked for again and again. */
static void add_places(struct ps_session *s, const struct ps_bundle_image *image, size_t at,
		       struct ps_known *out)
{
	const uint64_t key = (uintptr_t)&image->hits[at];
	const size_t n = count_functions(image, ps_bundle_number(image->inlined, at));
	const struct pd_function *chain = pd_map_find(&s->given_chains, key);

	if (n == 1 && !ps_bundle_number(image->lines, at))
		return;
	if (!chain) {
		chain = make_chain(s, image, at, n, out->functions);
		if (!chain)
			return;
		if (!ps_session_is_short(chain, n))
			chain = &too_long;
		pd_map_add(&s->given_chains, key, (void *)(uintptr_t)chain);
	}
	if (chain == &too_long)
		return;
	out->functions = chain;
	out->nr_functions = n;
}

/* The chain led to an address in data. */
static bool is_lost_code(const struct pd_location *l)
{
	return l->flags & PD_LOCATION_DATA && l->of != PD_LOCATION_OF_ADDR;
}

/* A variable has only its beginning and its end there. */
static bool find_hit(const struct ps_bundle_image *image, const struct pd_location *l,
		     uint64_t address, struct ps_bundle_hit *out)
{
	if (l->of != PD_LOCATION_OF_ADDR)
		return ps_bundle_find(image, address, l->time, out);
	return ps_bundle_find_last(image, address, out) &&
	       image->addresses[out->at] & PS_OF_DATA;
}

bool ps_session_given_since(struct ps_session *s, int32_t pid, const struct pd_location *l,
			    uint64_t *since)
{
	const struct ps_bundle_image *image;
	struct ps_bundle_hit hit;
	uint64_t address;

	if (!s->given || is_lost_code(l))
		return false;
	image = given_at(s, pid, l, &address);
	if (!image || !image->times || !ps_bundle_find(image, address, PD_NO_TIME, &hit))
		return false;
	*since = 1;		/* before all that is there */
	if (!find_hit(image, l, address, &hit))
		return true;
	*since = image->times[hit.at];
	if (hit.at && image->addresses[hit.at - 1] == address)
		return true;
	if (hit.at + 1 == image->nr || image->addresses[hit.at + 1] != address)
		*since = 0;
	else if (!*since)
		*since = 1;
	return true;
}

static bool find_in_bundle(struct ps_session *s, int32_t pid, const struct pd_location *l,
			   struct ps_known *out)
{
	const struct ps_bundle_image *image;
	const struct ps_bundle_function *f;
	struct ps_bundle_hit hit;
	struct ps_symbol symbol;
	uint64_t address;

	if (!s->given || is_lost_code(l))
		return false;
	image = given_at(s, pid, l, &address);
	if (!image || !find_hit(image, l, address, &hit))
		return false;
	f = hit.function;
	*out = (struct ps_known){ .why = (uint8_t)f->why, .base = f->base, .start = f->extent,
				  .has_extent = !f->name.size && f->extent != PS_NO_EXTENT,
				  .is_in_file = address == ps_address_in_bundle(l, l->file_offset),
				  .source = PS_FROM_BUNDLE };
	if (f->name.size) {
		symbol = (struct ps_symbol){ .start = f->base, .name = (const char *)f->name.data,
					     .name_size = (uint32_t)f->name.size };
		ps_session_symbol(s, &symbol, out);
	} else if (f->why == PD_WHY_FOUND || f->why > PD_WHY_JIT_REUSED) {
		out->why = PD_WHY_NO_SYMBOL;
	}
	if (out->nr_functions && s->options.depth >= PS_INLINES)
		add_places(s, image, hit.at, out);
	return true;
}

bool ps_session_given(struct ps_session *s, int32_t pid, const struct pd_location *l,
		      struct ps_known *out)
{
	return find_in_bundle(s, pid, l, out) || ps_session_device(s, l, out);
}

void ps_session_mark_given(struct ps_session *s, const struct pd_location *l,
			   const struct ps_known *given)
{
	s->images[l->image].is_given = true;
	s->images[l->image].sources |= 1u << given->source;
}
