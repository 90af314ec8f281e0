/* changed_sections.c - finds the features after one into which bytes were inserted, or from which
 * some were removed. They are all as far from where the table states them as the end of the file
 * is; their content tells which they are. */
#include "container/changed_sections.h"

#include "container/feature_contents.h"

/* Returns by how much the file is longer than the sections, modulo 2^64; 0 too if they do not
 * follow each other. */
static uint64_t find_distance(const struct pd_container *c, const struct pd_stated_sections *stated)
{
	uint64_t end = stated->n ? stated->list[0].offset : 0;

	if (end < c->data_end || end - c->data_end > PD_FEATURE_TABLES_MAX)
		return 0;
	for (size_t i = 0; i < stated->n; i++) {
		if (stated->list[i].offset != end || stated->list[i].size > INT64_MAX - end)
			return 0;
		end += stated->list[i].size;
	}
	return c->info.size - end;
}

/* Whether features can be read where they are stated, and at the distance. */
struct places {
	bool has_form[PD_FEATURE_BITS];	/* its bytes tell whether it is there */
	bool as_stated[PD_FEATURE_BITS], moved[PD_FEATURE_BITS];
	size_t n;
	bool is_longer;			/* the file, than stated */
};

/* Finds out where the features are. Returns 0, or -1 and *l->e. */
static int look_at_places(const struct pd_loader *l, const struct pd_stated_sections *stated,
			  uint64_t distance, struct places *p)
{
	struct pd_buf bytes = { .budget = l->session->budget };
	int err = 0;

	for (size_t i = 0; !err && i < stated->n; i++) {
		struct pd_section section = stated->list[i];

		p->has_form[i] = pd_feature_has_form(l->session, section.feature);
		err = pd_feature_is_filled(l, &section, &bytes, &p->as_stated[i]);
		section.offset += distance;
		if (!err)
			err = pd_feature_is_filled(l, &section, &bytes, &p->moved[i]);
	}
	pd_buf_free(&bytes);
	return err;
}

static size_t count_true(const bool *values, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += values[i];
	return n;
}

/* Returns how many features can be read if the change is in section i: those before it are where
 * they are stated, those after it are not. Bytes may have been inserted after its own. */
static size_t count_readable(const struct places *p, size_t i)
{
	return count_true(p->as_stated, 0, i + p->is_longer) +
	       count_true(p->moved, i + 1, p->n);
}

/* Adjacent sections, one of which is changed: the places of all others are known. */
struct changed {
	size_t first, n;	/* n is 0 if the change is before the first section */
};

/* Finds the sections, one of which is changed, by how many features can then be read. Returns false
 * unless there are more of them than without a change. */
static bool find_changed(const struct places *p, bool may_be_before, struct changed *out)
{
	size_t best = count_true(p->as_stated, 0, p->n);
	bool found = false;

	if (may_be_before && count_true(p->moved, 0, p->n) > best) {
		best = count_true(p->moved, 0, p->n);
		*out = (struct changed){ 0, 0 };
		found = true;
	}
	for (size_t i = 0; i + 1 < p->n; i++) {
		const size_t readable = count_readable(p, i);
		const bool is_it = p->has_form[i] && !p->as_stated[i] && !p->moved[i];

		if (readable > best || (found && readable == best && is_it))
			*out = (struct changed){ i, 1 };
		else if (found && readable == best && out->first + out->n == i && !p->has_form[i])
			out->n += !p->has_form[out->first] || p->as_stated[out->first];
		found |= readable > best;
		best = readable > best ? readable : best;
	}
	return found;
}

/* Moves the sections after the changed ones. The first one of these ends at the next one at
 * most. */
static void move_sections(struct pd_stated_sections *stated, const struct changed *changed,
			  uint64_t distance)
{
	struct pd_section *const s = &stated->list[changed->first];
	uint64_t room;

	for (size_t i = changed->first + changed->n; i < stated->n; i++)
		stated->list[i].offset += distance;
	if (!changed->n)
		return;
	room = s[1].offset > s->offset ? s[1].offset - s->offset : 0;
	if (s->size > room)
		s->size = room;
}

/* Leaves out those of the changed sections whose bytes do not tell how far they can be read. */
static void leave_out(struct pd_container *c, struct pd_stated_sections *stated,
		      const struct changed *changed, const struct places *p)
{
	for (size_t i = changed->first; i < changed->first + changed->n; i++) {
		const uint32_t feature = stated->list[i].feature;

		c->changed[feature] = !p->as_stated[i];
		stated->list[i].unread = c->left_out[feature] = !p->has_form[i];
	}
}

/* Returns whether bytes are between the tables and the first section, as for features that perf did
 * not write in the end. */
static bool has_spare_entries(const struct pd_container *c, const struct pd_stated_sections *stated)
{
	return stated->list[0].offset > c->data_end + stated->n * PD_SECTION_SIZE;
}

int pd_changed_sections_correct(const struct pd_loader *l, struct pd_stated_sections *stated)
{
	struct pd_container *c = l->container;
	const uint64_t distance = find_distance(c, stated);
	struct places places = { .n = stated->n, .is_longer = distance <= INT64_MAX };
	struct changed changed;
	struct pd_section s;

	if (!distance)
		return 0;
	if (look_at_places(l, stated, distance, &places))
		return -1;
	if (!find_changed(&places, has_spare_entries(c, stated), &changed))
		return 0;
	s = stated->list[changed.first];
	if (!changed.n)
		s = (struct pd_section){ .name = "feature_table", .offset = c->data_end,
					 .size = s.offset - c->data_end };
	pd_report_moved(l, s.name, s.offset, s.size, distance);
	if (pd_note_range(l, "kept", c->data_end, stated->list[0].offset - c->data_end))
		return -1;
	stated->are_moved = true;
	move_sections(stated, &changed, distance);
	leave_out(c, stated, &changed, &places);
	return 0;
}
