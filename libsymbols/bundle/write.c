/* write.c - writes feature PD_SYMBOLS. */
#include "bundle/bundle.h"
#include "bundle/layout.h"

static void append_u32(struct pd_buf *out, size_t n)
{
	const uint32_t v = (uint32_t)n;

	pd_buf_append(out, &v, sizeof(v));
}

static void append_u64(struct pd_buf *out, uint64_t v)
{
	pd_buf_append(out, &v, sizeof(v));
}

static void append_text(struct pd_buf *out, struct pd_bytes text)
{
	append_u32(out, text.size);
	pd_buf_append(out, text.data, text.size);
}

static void append_function(struct pd_buf *out, const struct ps_bundle_function *f)
{
	append_u64(out, f->base);
	append_u64(out, f->extent);
	append_u32(out, f->why);
	append_text(out, f->name);
}

static void append_texts(struct pd_buf *out, const struct ps_bundle_texts *texts)
{
	append_u32(out, texts->nr);
	for (size_t i = 0; i < texts->nr; i++) {
		pd_buf_append(out, texts->items[i].data, texts->items[i].size);
		pd_buf_append(out, "", 1);
	}
}

static void append_numbers(struct pd_buf *out, const uint32_t *by_address, size_t n)
{
	if (by_address)
		pd_buf_append(out, by_address, n * sizeof(*by_address));
}

static void append_calls(struct pd_buf *out, const struct ps_bundle_image *image)
{
	append_texts(out, &image->names);
	append_texts(out, &image->files);
	append_u32(out, image->nr_calls);
	for (size_t i = 0; i < image->nr_calls; i++) {
		append_u32(out, image->calls[i].name);
		append_u32(out, image->calls[i].file);
		append_u32(out, image->calls[i].line);
		append_u32(out, image->calls[i].caller);
	}
	append_u32(out, image->inlined ? image->nr : 0);
	append_numbers(out, image->inlined, image->nr);
	append_u32(out, image->lines ? image->nr : 0);
	append_numbers(out, image->lines, image->nr);
	append_numbers(out, image->line_files, image->nr);
}

static void append_rows(struct pd_buf *out, const struct ps_bundle_image *image)
{
	append_u32(out, image->nr_rows);
	for (size_t i = 0; i < image->nr_rows; i++)
		append_text(out, image->rows[i]);
	append_u32(out, image->nr_unwound);
	if (!image->nr_unwound)
		return;
	pd_buf_append(out, image->unwound, image->nr_unwound * sizeof(*image->unwound));
	pd_buf_append(out, image->unwound_rows, image->nr_unwound * sizeof(*image->unwound_rows));
}

static void append_image(struct pd_buf *out, const struct ps_bundle_image *image, bool has_rows)
{
	append_u32(out, (uint32_t)image->pid);
	append_u64(out, image->ino);
	append_text(out, image->path);
	append_text(out, image->build_id);
	append_u32(out, image->nr_functions);
	for (size_t i = 0; i < image->nr_functions; i++)
		append_function(out, &image->functions[i]);
	append_u32(out, image->nr);
	pd_buf_append(out, image->addresses, image->nr * sizeof(*image->addresses));
	pd_buf_append(out, image->hits, image->nr * sizeof(*image->hits));
	append_u32(out, image->times ? image->nr : 0);
	if (image->times)
		pd_buf_append(out, image->times, image->nr * sizeof(*image->times));
	append_calls(out, image);
	if (has_rows)
		append_rows(out, image);
}

static bool has_any_rows(const struct ps_bundle_image *images, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (images[i].nr_unwound)
			return true;
	return false;
}

void ps_bundle_write(struct pd_buf *out, const struct ps_bundle_image *images, size_t n,
		     enum ps_bundle_is is)
{
	const bool has_rows = has_any_rows(images, n);

	append_u32(out, has_rows ? PS_BUNDLE_VERSION : PS_BUNDLE_PLACES);
	append_u32(out, is);
	append_u32(out, n);
	for (size_t i = 0; i < n; i++)
		append_image(out, &images[i], has_rows);
}
