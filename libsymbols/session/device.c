/* device.c - names out of a recording of simpleperf, which found them on the device. */
#include <stdlib.h>

#include "session/image_path.h"

/* Assigns a file to the image of its path, if there is only one. */
static void assign_file(struct ps_session *s, const struct ps_image_path *images, size_t n,
			struct ps_simpleperf_file *f)
{
	const struct ps_image_path wanted = { .path = f->path };
	const struct ps_image_path *found = bsearch(&wanted, images, n, sizeof(*images),
						    ps_compare_paths);

	if (!found || (found > images && !ps_compare_paths(found - 1, &wanted)) ||
	    (found + 1 < images + n && !ps_compare_paths(found + 1, &wanted)))
		return;
	s->device[found->image->index] = f;
}

void ps_session_read_device(struct ps_session *s, struct pd_bytes section,
			    enum ps_simpleperf_form form)
{
	struct ps_image_path *images;
	size_t n;

	pd_buf_append(&s->device_text, section.data, section.size);
	s->device_files = ps_simpleperf_read(pd_buf_bytes(&s->device_text), form, &s->arena,
					     &s->nr_device_files);
	images = ps_image_paths(s, &n);
	s->device = pd_budget_alloc(&s->budget, s->nr_images * sizeof(*s->device));
	for (size_t i = 0; images && s->device && i < s->nr_device_files; i++)
		assign_file(s, images, n, &s->device_files[i]);
	ps_free_image_paths(s, images);
}

void ps_session_free_device(struct ps_session *s)
{
	ps_simpleperf_free(s->device_files, s->nr_device_files);
	pd_budget_free(&s->budget, s->device, s->nr_images * sizeof(*s->device));
	pd_buf_free(&s->device_text);
}

/* Finds where a location is in the addresses of the symbols. `offset` is that in the file. */
static bool find_address(const struct ps_simpleperf_file *f, const struct pd_location *l,
			 uint64_t offset, uint64_t *out)
{
	switch (f->kind) {
	case PS_SIMPLEPERF_KERNEL:
		*out = ps_lookup_of(l, l->addr);
		return true;
	case PS_SIMPLEPERF_MODULE:
	case PS_SIMPLEPERF_ELF:
		*out = offset - f->min_offset + f->min_vaddr;
		return f->min_offset != PS_NO_MIN_OFFSET;
	case PS_SIMPLEPERF_DEX:
		*out = offset;
		return true;
	default:
		return false;
	}
}

bool ps_session_device(struct ps_session *s, const struct pd_location *l, struct ps_known *out)
{
	const struct ps_simpleperf_file *f = s->device ? s->device[l->image] : NULL;
	const unsigned int kind = pd_history_image(s->options.history, l->image)->kind;
	const uint64_t offset = ps_lookup_of(l, l->file_offset);
	struct ps_symbol symbol;
	uint64_t address;

	if (!f || l->flags & PD_LOCATION_DATA || l->of == PD_LOCATION_OF_ADDR ||
	    !find_address(f, l, offset, &address) ||
	    !ps_symtab_find(&f->symbols, address, &symbol))
		return false;
	*out = (struct ps_known){
		.is_in_file = kind != PD_IMAGE_KERNEL && kind != PD_IMAGE_MODULE,
		.source = PS_FROM_SIMPLEPERF,
	};
	ps_session_symbol(s, &symbol, out);
	out->base = symbol.start - address +
		    (out->is_in_file ? offset : ps_lookup_of(l, l->addr));
	return true;
}
