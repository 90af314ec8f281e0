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

static bool take_image(struct pd_cursor *c, struct ps_bundle_image *image, struct pd_arena *arena)
{
	uint64_t pid;

	if (!pd_take_number(c, 4, &pid) || !pd_take_number(c, 8, &image->ino) ||
	    !take_text(c, &image->path) || !take_text(c, &image->build_id))
		return false;
	image->pid = (int32_t)pid;
	return take_functions(c, image, arena) && take_addresses(c, image, arena);
}

struct ps_bundle_image *ps_bundle_read(struct pd_bytes section, struct pd_arena *arena, size_t *n)
{
	struct pd_cursor c = pd_cursor(section, PD_SWAP_NO);
	struct ps_bundle_image *images;
	uint64_t version, cut;
	size_t count;

	*n = 0;
	if (section.size < 4)
		return NULL;
	if (pd_load32(section.data, PD_SWAP_NO) != PS_BUNDLE_VERSION)
		c.swap = PD_SWAP_YES;
	if (!pd_take_number(&c, 4, &version) || version != PS_BUNDLE_VERSION ||
	    !pd_take_number(&c, 4, &cut) || !take_count(&c, PS_BUNDLE_IMAGE_MIN, &count))
		return NULL;
	images = pd_arena_alloc(arena, count * sizeof(*images));
	while (images && *n < count && take_image(&c, &images[*n], arena))
		++*n;
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

const struct ps_bundle_function *ps_bundle_find(const struct ps_bundle_image *image,
						uint64_t address, uint64_t time)
{
	const size_t n = number_until(image, address, time);

	return n && image->addresses[n - 1] == address ? &image->functions[image->hits[n - 1]] :
							 NULL;
}
