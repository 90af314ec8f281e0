/* inlined.c - looks up the inlined functions and lines at the addresses of a bundle: after all
 * names, because debug information takes longer. */
#include "session/collect.h"

static void look_up(struct ps_session *s, struct ps_loaded *l, struct ps_hit *hit)
{
	struct ps_known found = { .from = hit->found.from, .is_in_file = hit->found.is_in_file };

	ps_session_functions(s, l, hit->found.elf_address, &found);
	found.base = found.start - (hit->found.start - hit->found.base);
	if (found.nr_functions)
		hit->found = found;
}

static bool look_up_image(struct ps_session *s, uint32_t index, bool (*is_over)(void *ctx),
			  void *ctx)
{
	struct ps_loaded *l = &s->images[index];

	if (!s->collected[index].nr || l->why != PD_WHY_FOUND || !l->binary.image.elf)
		return true;
	if (is_over(ctx))
		return false;
	ps_session_load_debug(s, index);
	for (struct ps_hit *hit = s->collected[index].first; l->has_debug && hit; hit = hit->next) {
		if (is_over(ctx))
			return false;
		if (hit->found.elf_address)
			look_up(s, l, hit);
	}
	return true;
}

static bool look_up_all(struct ps_session *s, bool (*is_over)(void *ctx), void *ctx)
{
	const struct pd_image *image;
	uint32_t kernel = PD_NO_IMAGE;

	for (uint32_t i = 0; i < s->nr_images; i++) {
		image = pd_history_image(s->options.history, i);
		if (image->kind == PD_IMAGE_KERNEL)
			kernel = i;
		else if (!look_up_image(s, i, is_over, ctx))
			return false;
	}
	/* the largest, and the least needed */
	return kernel == PD_NO_IMAGE || look_up_image(s, kernel, is_over, ctx);
}

bool ps_collect_inlined(struct ps_session *s, enum ps_depth depth, bool (*is_over)(void *ctx),
			void *ctx)
{
	bool is_whole = true;

	if (!s || !is_over || depth > PS_LINES)
		return false;
	pthread_mutex_lock(&s->lock);
	if (s->collected && s->options.depth == PS_NAMES) {
		s->options.depth = depth;
		is_whole = look_up_all(s, is_over, ctx);
		s->options.depth = PS_NAMES;
	}
	pthread_mutex_unlock(&s->lock);
	return is_whole;
}
