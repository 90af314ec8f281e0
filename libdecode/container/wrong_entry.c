/* wrong_entry.c - corrects an entry of the feature tables of which one number is wrong. */
#include "container/wrong_entry.h"

#include <string.h>

#include "container/feature_contents.h"
#include "container/section_chain.h"

#define REST_MAX (1u << 20)	/* bytes that a size may be too small by: a file may have a hole */

struct entry_search {
	const struct pd_loader *l;
	struct pd_section_chain chain;
	struct pd_buf bytes;
};

/* Returns the end of the tables. */
static uint64_t end_of_tables(const struct pd_container *c, const struct pd_stated_sections *stated)
{
	size_t own = 0;

	while (own < stated->n && pd_feature_is_own(stated->list[stated->n - 1 - own].feature))
		own++;
	return c->data_end + (stated->n - own) * PD_SECTION_SIZE +
	       (own ? PD_OWN_TABLE_HEAD + own * PD_OWN_ENTRY_SIZE : 0);
}

static int look_at_form(struct entry_search *s, const struct pd_section *section,
			enum pd_feature_form *form)
{
	return pd_feature_look_at_form(s->l, section, &s->bytes, form);
}

/* Sets *fits to whether the first section is where it is stated, with any size. */
static int fits_as_stated(struct entry_search *s, bool *fits)
{
	struct pd_section first = s->chain.list[0];
	enum pd_feature_form form, other = PD_FORM_FITS_NOT;
	int err = look_at_form(s, &first, &form);

	first.size = s->chain.list[1].offset - first.offset;
	if (!err && first.offset >= s->chain.begin && first.offset < s->chain.list[1].offset)
		err = look_at_form(s, &first, &other);
	*fits = form == PD_FORM_FITS || other == PD_FORM_FITS;
	return err;
}

/* Sets *is_it to whether the first section is where the second one tells. It need not be at the end
 * of the tables: perf leaves room for features that it does not write in the end. */
static int find_first(struct entry_search *s, struct pd_chain_break *out, bool *is_it)
{
	struct pd_section_chain moved = s->chain;
	struct pd_section *first = &moved.list[0];
	struct pd_chain_break ignored;
	enum pd_feature_form form;
	bool fits;

	*is_it = false;
	if (moved.n < 2)
		return 0;
	first->offset = first[1].offset - first->size;
	if (first->offset < moved.begin || first->offset - moved.begin > PD_FEATURE_TABLES_MAX ||
	    first->offset == s->chain.list[0].offset || pd_section_chain_find(&moved, &ignored))
		return 0;
	if (fits_as_stated(s, &fits) || look_at_form(s, first, &form))
		return -1;
	*is_it = form == PD_FORM_FITS && !fits;
	*out = (struct pd_chain_break){ 0, PD_BREAK_OFFSET, first->offset };
	return 0;
}

/* Sets *is_it to whether bytes that are not zero are between the section and the next one. */
static int find_rest(struct entry_search *s, const struct pd_chain_break *found, bool *is_it)
{
	struct pd_section rest = s->chain.list[found->index];

	rest.offset += rest.size;
	rest.size = found->right - rest.size;
	if (pd_section_read(s->l->source, &rest, &s->bytes, s->l->e))
		return s->l->e->code == PD_E_IO ? -1 : 0;
	*is_it = !pd_all_zero(pd_buf_bytes(&s->bytes));
	return 0;
}

/* Sets *is_it to whether the section is as long as up to the next one. It is if it would overlap
 * that; if it is shorter, its fields must tell, or the bytes between. The file's end may be another
 * one for many reasons, so only fields tell there. */
static int confirm_size(struct entry_search *s, const struct pd_chain_break *found, bool *is_it)
{
	const struct pd_section *stated = &s->chain.list[found->index];
	const bool is_last = found->index + 1 == s->chain.n;
	struct pd_section other = *stated;
	enum pd_feature_form as_stated, form;

	*is_it = !is_last && stated->size > found->right;
	if (*is_it || found->right - stated->size > REST_MAX)
		return 0;
	other.size = found->right;
	if (look_at_form(s, stated, &as_stated) || look_at_form(s, &other, &form))
		return -1;
	*is_it = form == PD_FORM_FITS && as_stated == PD_FORM_FITS_NOT;
	return form == PD_FORM_NONE && !is_last ? find_rest(s, found, is_it) : 0;
}

static int find_wrong(struct entry_search *s, struct pd_chain_break *out, bool *found)
{
	bool fits;

	if (find_first(s, out, found))
		return -1;
	if (*found)
		return 0;
	*found = pd_section_chain_find(&s->chain, out);
	if (*found && !out->index && out->number == PD_BREAK_OFFSET) {
		if (fits_as_stated(s, &fits))
			return -1;
		if (fits)
			*out = (struct pd_chain_break){ 0, PD_BREAK_SIZE,
				s->chain.list[1].offset - s->chain.list[0].offset };
	}
	return *found && out->number == PD_BREAK_SIZE ? confirm_size(s, out, found) : 0;
}

static int replace_number(const struct entry_search *s, struct pd_stated_sections *stated,
			  const struct pd_chain_break *found)
{
	struct pd_section *section = &stated->list[found->index];
	struct pd_container *c = s->l->container;
	uint64_t *number = found->number == PD_BREAK_SIZE ? &section->size : &section->offset;

	s->l->report->error(s->l->report->ctx, &(struct pd_error){
		.code = PD_E_SIZE, .severity = PD_DAMAGED, .record = "feature_table",
		.field = section->name, .offset = c->data_end, .want = *number,
		.have = found->right,
		.text = found->number == PD_BREAK_SIZE ?
			"a section's size is wrong: it ends where the next one begins" :
			"a section's offset is wrong: it begins where the one before ends" });
	*number = found->right;
	c->info.complete = false;
	return pd_note_range(s->l, "kept", c->data_end, s->chain.begin - c->data_end);
}

int pd_wrong_entry_correct(const struct pd_loader *l, struct pd_stated_sections *stated)
{
	struct entry_search s = { .l = l, .bytes.budget = l->session->budget };
	struct pd_chain_break wrong;
	bool found;
	int err;

	if (stated->are_moved)
		return 0;
	s.chain.n = stated->n;
	s.chain.begin = end_of_tables(l->container, stated);
	s.chain.end = l->container->info.size;
	memcpy(s.chain.list, stated->list, stated->n * sizeof(*stated->list));
	err = find_wrong(&s, &wrong, &found);
	pd_buf_free(&s.bytes);
	return err || !found ? err : replace_number(&s, stated, &wrong);
}
