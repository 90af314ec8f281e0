/* fuzz_bundle.c - a section of feature PD_SYMBOLS: within the budget, each address finds one of the
 * functions of its image, each inlined function has a name, a file and an end of its callers, each
 * row of call frame information stays within its operations, and what was read is the same after it
 * is written and read again. */
#include "bundle/bundle.h"

#include <string.h>

#include "harness.h"
#include "unwind/rows.h"

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

static void check_location(const struct ps_row *row, const struct ps_location *l)
{
	FUZZ_ASSERT(l->first + l->count <= row->nr_ops && l->reg < PS_MAX_REGISTERS,
		    "a location outside of its row");
}

static void check_row(struct pd_bytes bytes, const struct ps_arch *arch)
{
	static struct ps_row row, again;
	uint8_t written[PS_ROW_BYTES_MAX];
	size_t n;

	if (ps_row_decode(bytes, arch, &row) != PS_END_NONE)
		return;
	check_location(&row, &row.cfa);
	for (unsigned int i = 0; i < arch->nr_registers; i++)
		check_location(&row, &row.at[i]);
	n = ps_row_encode(&row, PS_END_NONE, arch, written);
	FUZZ_ASSERT(!n || (ps_row_decode((struct pd_bytes){ written, n }, arch, &again) ==
			   PS_END_NONE && again.signal == row.signal),
		    "what is written can't be read");
}

static void check_rows(const struct ps_bundle_image *image)
{
	for (size_t i = 0; i < image->nr_rows && i < 64; i++) {
		check_row(image->rows[i], ps_arch_find(EM_X86_64, PS_ABI_64));
		check_row(image->rows[i], ps_arch_find(EM_AARCH64, PS_ABI_64));
	}
	for (size_t i = 0; i < image->nr_unwound; i++)
		FUZZ_ASSERT(image->unwound_rows[i] < image->nr_rows, "no row");
}

static void check_image(const struct ps_bundle_image *image)
{
	check_calls(image);
	check_rows(image);
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
