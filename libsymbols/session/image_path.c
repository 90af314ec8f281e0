/* image_path.c - sorts the images of a history by their paths. */
#include "session/image_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

int ps_compare_paths(const void *a, const void *b)
{
	const struct ps_image_path *x = a, *y = b;

	return pd_compare_bytes(x->path, y->path);
}

int ps_compare_image_paths(const void *a, const void *b)
{
	const struct ps_image_path *x = a, *y = b;
	const int order = ps_compare_paths(a, b);

	if (order)
		return order;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

struct ps_image_path *ps_image_paths(struct ps_session *s, size_t *n)
{
	struct ps_image_path *out = pd_budget_alloc(&s->budget, s->nr_images * sizeof(*out));
	const struct pd_image *image;

	*n = 0;
	for (size_t i = 0; out && i < s->nr_images; i++) {
		image = pd_history_image(s->options.history, i);
		if (image->is_guest)
			continue;
		out[*n].path = (struct pd_bytes){ (const uint8_t *)image->path,
						  strlen(image->path) };
		out[*n].ino = image->has_inode ? image->ino : 0;
		out[(*n)++].image = image;
	}
	if (out)
		qsort(out, *n, sizeof(*out), ps_compare_image_paths);
	return out;
}

void ps_free_image_paths(struct ps_session *s, struct ps_image_path *paths)
{
	pd_budget_free(&s->budget, paths, s->nr_images * sizeof(*paths));
}
