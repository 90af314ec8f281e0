/* read.c - reads feature PD_SYMBOLS, which anyone may have written: its names are shown, and decide
 * nothing else. */
#include "base/cursor.h"
#include "bundle/bundle.h"
#include "bundle/layout.h"

static bool take_text(struct pd_cursor *c, struct pd_bytes *out)
{
	uint64_t size;

	if (!pd_take_number(c, 4, &size) || size > pd_left(c))
		return false;
	*out = (struct pd_bytes){ c->at, (size_t)size };
	pd_take(c, (size_t)size);
	return true;
}

/* Takes a number of entries of at least `least` bytes. */
static bool take_count(struct pd_cursor *c, size_t least, size_t *out)
{
	uint64_t n;

	if (!pd_take_number(c, 4, &n) || n > pd_left(c) / least)
		return false;
	*out = (size_t)n;
	return true;
}

static bool take_function(struct pd_cursor *c, struct ps_bundle_function *f)
{
	uint64_t why;

	if (!pd_take_number(c, 8, &f->base) || !pd_take_number(c, 8, &f->extent) ||
	    !pd_take_number(c, 4, &why) || !take_text(c, &f->name))
		return false;
	f->why = (uint32_t)why;
	return true;
}

static bool take_functions(struct pd_cursor *c, struct ps_bundle_image *image,
			   struct pd_arena *arena)
{
	if (!take_count(c, PS_BUNDLE_FUNCTION_MIN, &image->nr_functions))
		return false;
	image->functions = pd_arena_alloc(arena, image->nr_functions * sizeof(*image->functions));
	if (!image->functions)
		return false;
	for (size_t i = 0; i < image->nr_functions; i++)
		if (!take_function(c, &image->functions[i]))
			return false;
	return true;
}

/* Takes n numbers of 8 bytes. Returns NULL if they are not there, or without memory. */
static uint64_t *take_numbers(struct pd_cursor *c, size_t n, struct pd_arena *arena)
{
	uint64_t *out = n <= pd_left(c) / 8 ? pd_arena_alloc(arena, n * sizeof(*out)) : NULL;

	for (size_t i = 0; out && i < n; i++)
		pd_take_number(c, 8, &out[i]);
	return out;
}

static bool take_hits(struct pd_cursor *c, struct ps_bundle_image *image, struct pd_arena *arena)
{
	uint64_t hit;

	image->hits = pd_arena_alloc(arena, image->nr * sizeof(*image->hits));
	for (size_t i = 0; image->hits && i < image->nr; i++) {
		if (!pd_take_number(c, 4, &hit) || hit >= image->nr_functions)
			return false;
		image->hits[i] = (uint32_t)hit;
	}
	return image->hits != NULL;
}

static bool take_addresses(struct pd_cursor *c, struct ps_bundle_image *image,
			   struct pd_arena *arena)
{
	uint64_t nr_times;

	if (!take_count(c, PS_BUNDLE_ADDRESS_MIN, &image->nr))
		return false;
	image->addresses = take_numbers(c, image->nr, arena);
	if (!image->addresses || !take_hits(c, image, arena) || !pd_take_number(c, 4, &nr_times))
		return false;
	if (!nr_times)
		return true;
	image->times = nr_times == image->nr ? take_numbers(c, image->nr, arena) : NULL;
	return image->times != NULL;
}

/* Takes texts that end with a NUL. */
static bool take_texts(struct pd_cursor *c, struct ps_bundle_texts *out, struct pd_arena *arena)
{
	if (!take_count(c, PS_BUNDLE_TEXT_MIN, &out->nr))
		return false;
	out->items = pd_arena_alloc(arena, out->nr * sizeof(*out->items));
	for (size_t i = 0; out->items && i < out->nr; i++) {
		const struct pd_bytes left = { c->at, pd_left(c) };
		const size_t n = pd_text_length(left);

		out->items[i] = (struct pd_bytes){ left.data, n };
		if (!pd_take(c, n + 1))
			return false;
	}
	return out->items != NULL;
}

/* Takes a number from 1 to `most`, or 0. */
static bool take_index(struct pd_cursor *c, size_t most, uint32_t *out)
{
	uint64_t v;

	if (!pd_take_number(c, 4, &v) || v > most)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool take_calls(struct pd_cursor *c, struct ps_bundle_image *image, struct pd_arena *arena)
{
	if (!take_count(c, PS_BUNDLE_CALL_MIN, &image->nr_calls))
		return false;
	image->calls = pd_arena_alloc(arena, image->nr_calls * sizeof(*image->calls));
	for (size_t i = 0; image->calls && i < image->nr_calls; i++) {
		struct ps_bundle_call *call = &image->calls[i];

		if (!take_index(c, image->names.nr, &call->name) ||
		    !take_index(c, image->files.nr, &call->file) ||
		    !take_index(c, UINT32_MAX, &call->line) || !take_index(c, i, &call->caller))
			return false;
	}
	return image->calls != NULL;
}

/* Takes a number for each address, from 0 to `most`. Returns NULL if one is not, or without
 * memory. */
static uint32_t *take_by_address(struct pd_cursor *c, size_t n, size_t most,
				 struct pd_arena *arena)
{
	uint32_t *out = n <= pd_left(c) / 4 ? pd_arena_alloc(arena, n * sizeof(*out)) : NULL;

	for (size_t i = 0; out && i < n; i++)
		if (!take_index(c, most, &out[i]))
			return NULL;
	return out;
}

static bool take_inlined(struct pd_cursor *c, struct ps_bundle_image *image,
			 struct pd_arena *arena)
{
	uint64_t nr;

	if (!pd_take_number(c, 4, &nr) || (nr && nr != image->nr))
		return false;
	if (!nr)
		return true;
	image->inlined = take_by_address(c, image->nr, image->nr_calls, arena);
	return image->inlined != NULL;
}

static bool take_lines(struct pd_cursor *c, struct ps_bundle_image *image, struct pd_arena *arena)
{
	uint64_t nr;

	if (!pd_take_number(c, 4, &nr) || (nr && nr != image->nr))
		return false;
	if (!nr)
		return true;
	image->lines = take_by_address(c, image->nr, UINT32_MAX, arena);
	if (image->lines)
		image->line_files = take_by_address(c, image->nr, image->files.nr, arena);
	return image->line_files != NULL;
}

/* Takes what version 1 does not have. */
static bool take_places(struct pd_cursor *c, struct ps_bundle_image *image, struct pd_arena *arena)
{
	return take_texts(c, &image->names, arena) && take_texts(c, &image->files, arena) &&
	       take_calls(c, image, arena) && take_inlined(c, image, arena) &&
	       take_lines(c, image, arena);
}

/* Takes what only version 3 has. */
static bool take_rows(struct pd_cursor *c, struct ps_bundle_image *image, struct pd_arena *arena)
{
	uint64_t row;

	if (!take_count(c, PS_BUNDLE_ROW_MIN, &image->nr_rows))
		return false;
	image->rows = pd_arena_alloc(arena, image->nr_rows * sizeof(*image->rows));
	for (size_t i = 0; image->rows && i < image->nr_rows; i++)
		if (!take_text(c, &image->rows[i]))
			return false;
	if (!image->rows || !take_count(c, PS_BUNDLE_UNWOUND_MIN, &image->nr_unwound))
		return false;
	image->unwound = take_numbers(c, image->nr_unwound, arena);
	image->unwound_rows = pd_arena_alloc(arena, image->nr_unwound * sizeof(uint32_t));
	if (!image->unwound || !image->unwound_rows)
		return false;
	for (size_t i = 0; i < image->nr_unwound; i++) {
		if (!pd_take_number(c, 4, &row) || row >= image->nr_rows)
			return false;
		image->unwound_rows[i] = (uint32_t)row;
	}
	return true;
}

static bool take_image(struct pd_cursor *c, uint64_t version, struct ps_bundle_image *image,
		       struct pd_arena *arena)
{
	uint64_t pid;

	if (!pd_take_number(c, 4, &pid) || !pd_take_number(c, 8, &image->ino) ||
	    !take_text(c, &image->path) || !take_text(c, &image->build_id))
		return false;
	image->pid = (int32_t)pid;
	return take_functions(c, image, arena) && take_addresses(c, image, arena) &&
	       (version < PS_BUNDLE_PLACES || take_places(c, image, arena)) &&
	       (version < PS_BUNDLE_VERSION || take_rows(c, image, arena));
}

struct ps_bundle_images ps_bundle_read(struct pd_bytes section, struct pd_arena *arena)
{
	struct pd_cursor c = pd_cursor(section, PD_SWAP_NO);
	struct ps_bundle_images images = { NULL, 0, false };
	uint64_t version, cut;
	size_t count;

	if (section.size < 4)
		return images;
	if (pd_load32(section.data, PD_SWAP_NO) >= PS_BUNDLE_OTHER_ORDER)
		c.swap = PD_SWAP_YES;
	if (!pd_take_number(&c, 4, &version) || version < PS_BUNDLE_OLDEST ||
	    version > PS_BUNDLE_VERSION ||
	    !pd_take_number(&c, 4, &cut) || !take_count(&c, PS_BUNDLE_IMAGE_MIN, &count))
		return images;
	images.items = pd_arena_alloc(arena, count * sizeof(*images.items));
	while (images.items && images.nr < count &&
	       take_image(&c, version, &images.items[images.nr], arena))
		images.nr++;
	images.is_whole = images.nr == count && pd_left(&c) == 0;
	images.has_inlined = images.is_whole && cut == PS_BUNDLE_WHOLE;
	return images;
}

/* Returns the number of entries up to this address and time. */
static size_t number_until(const struct ps_bundle_image *image, uint64_t address, uint64_t time)
{
	size_t low = 0, n = image->nr;

	while (n) {
		const size_t half = n / 2, i = low + half;

		if (image->addresses[i] < address ||
		    (image->addresses[i] == address &&
		     (!image->times || image->times[i] <= time))) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

bool ps_bundle_find(const struct ps_bundle_image *image, uint64_t address, uint64_t time,
		    struct ps_bundle_hit *out)
{
	const size_t n = number_until(image, address, time);

	if (!n || image->addresses[n - 1] != address)
		return false;
	*out = (struct ps_bundle_hit){ &image->functions[image->hits[n - 1]], n - 1 };
	return true;
}

bool ps_bundle_find_last(const struct ps_bundle_image *image, uint64_t address,
			 struct ps_bundle_hit *out)
{
	const size_t n = number_until(image, address, UINT64_MAX);

	if (!n)
		return false;
	*out = (struct ps_bundle_hit){ &image->functions[image->hits[n - 1]], n - 1 };
	return true;
}
