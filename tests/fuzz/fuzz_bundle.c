/* fuzz_bundle.c - a section of feature PD_SYMBOLS: within the budget, each address finds one of the
 * functions of its image, each inlined function has a name, a file and an end of its callers, and
 * what was read is the same after it is written and read again. */
#include "bundle/bundle.h"

#include <string.h>

#include "harness.h"

static void check_text(const struct ps_bundle_texts *texts, uint32_t number)
{
	FUZZ_ASSERT(number <= texts->nr, "a text from nowhere");
	FUZZ_ASSERT(!number || texts->items[number - 1].data[texts->items[number - 1].size] == 0,
		    "a text without an end");
}

static void check_address(const struct ps_bundle_image *image, uint64_t address, uint64_t time)
{
	struct ps_bundle_hit hit;

	if (!ps_bundle_find(image, address, time, &hit))
		return;
	FUZZ_ASSERT(hit.function >= image->functions &&
		    hit.function < image->functions + image->nr_functions,
		    "a function from nowhere");
	FUZZ_ASSERT(ps_bundle_number(image->inlined, hit.at) <= image->nr_calls,
		    "a call from nowhere");
	check_text(&image->files, ps_bundle_number(image->line_files, hit.at));
}

static void check_calls(const struct ps_bundle_image *image)
{
	for (size_t i = 0; i < image->nr_calls; i++) {
		check_text(&image->names, image->calls[i].name);
		check_text(&image->files, image->calls[i].file);
		FUZZ_ASSERT(image->calls[i].caller <= i, "callers without an end");
	}
}

static void check_image(const struct ps_bundle_image *image)
{
	check_calls(image);
	for (size_t i = 0; i < image->nr && i < 64; i++) {
		const uint64_t time = image->times ? image->times[i] : 0;

		FUZZ_ASSERT(image->hits[i] < image->nr_functions, "a hit of no function");
		check_address(image, image->addresses[i], time);
		check_address(image, image->addresses[i] - 1, UINT64_MAX);
		check_address(image, image->addresses[i] + 1, 0);
	}
}

static void check_written(const struct ps_bundle_image *images, size_t n)
{
	struct pd_budget budget = { .limit = 4 * FUZZ_MEMORY };
	struct pd_arena arena = { .budget = &budget };
	struct pd_buf first = { .budget = &budget }, second = { .budget = &budget };
	struct ps_bundle_images again;

	ps_bundle_write(&first, images, n, PS_BUNDLE_WHOLE);
	FUZZ_ASSERT(!first.failed, "it grows when it is written");
	again = ps_bundle_read((struct pd_bytes){ first.data, first.size }, &arena);
	FUZZ_ASSERT(again.nr == n && again.is_whole, "%zu images of %zu are read again",
		    again.nr, n);
	ps_bundle_write(&second, again.items, again.nr, PS_BUNDLE_WHOLE);
	FUZZ_ASSERT(first.size == second.size && memcmp(first.data, second.data, first.size) == 0,
		    "it changes when it is written");
	pd_buf_free(&first);
	pd_buf_free(&second);
	pd_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t from = fuzz_cpu_time();
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct pd_arena arena = { .budget = &budget };
	struct ps_bundle_images images;

	images = ps_bundle_read((struct pd_bytes){ data, size }, &arena);
	for (size_t i = 0; i < images.nr; i++)
		check_image(&images.items[i]);
	if (images.nr)
		check_written(images.items, images.nr);
	pd_arena_free(&arena);
	FUZZ_ASSERT(budget.used == 0, "%llu bytes stay charged", (unsigned long long)budget.used);
	fuzz_check_time(from, size);
	return 0;
}
