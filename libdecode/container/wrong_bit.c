/* wrong_bit.c - corrects the feature bits of a header, one of which is wrong. The table has one
 * entry more then, or fewer, and each later section has the form of the feature beside the one it
 * is taken for. */
#include "container/wrong_bit.h"

#include <string.h>

#include "container/feature_contents.h"

#define NO_BIT PD_FEATURE_BITS

struct bit_search {
	const struct pd_loader *l;
	struct pd_section list[PD_FEATURE_BITS + 1];	/* the entries of the table */
	size_t n;
	uint32_t stated[PD_FEATURE_BITS];		/* the features by the bits */
	size_t nr_stated;
	struct pd_buf bytes;
	/* how many more sections fit a feature than do not: of those before the i-th one, their
	 * stated one; of those from it on, the one before, or after that */
	int before[PD_FEATURE_BITS + 2], after[PD_FEATURE_BITS + 2];
	uint32_t best;			/* bit */
	int most;
};

/* Returns whether the table has this many entries: the own table is after them, or their sections
 * follow each other up to the end of the file. */
static bool has_entries(const struct bit_search *s, struct pd_bytes tables, size_t n)
{
	const size_t at = n * PD_SECTION_SIZE;

	if (at > tables.size || !n)
		return false;
	if (at + PD_OWN_TABLE_HEAD <= tables.size &&
	    memcmp(tables.data + at, PD_OWN_TABLE_MAGIC, strlen(PD_OWN_TABLE_MAGIC)) == 0)
		return true;
	for (size_t i = 0; i < n; i++) {
		const uint64_t end = s->list[i].offset + s->list[i].size;

		if (end != (i + 1 < n ? s->list[i + 1].offset : s->l->container->info.size))
			return false;
	}
	return true;
}

/* Finds out how many entries the table has. Returns whether it is one more, or one fewer, than
 * bits are set. */
static bool count_entries(struct bit_search *s, struct pd_bytes tables)
{
	const size_t stated = s->nr_stated, most = tables.size / PD_SECTION_SIZE;

	for (size_t i = 0; i < most && i <= stated; i++)
		s->list[i] = pd_section_load(tables.data + i * PD_SECTION_SIZE,
					     s->l->session->swap);
	if (stated < 3 || stated == PD_FEATURE_BITS || has_entries(s, tables, stated))
		return false;
	s->n = has_entries(s, tables, stated + 1) ? stated + 1 : stated - 1;
	/* an entry that continues the chain is not one too many: the file is too short */
	return s->n > stated || (has_entries(s, tables, s->n) &&
				 s->list[s->n].offset != s->l->container->info.size);
}

/* Adds to *sum whether the section has the form of the feature. Returns 0, or -1 and *l->e. */
static int add_fit(struct bit_search *s, size_t section, uint32_t feature, int *sum)
{
	struct pd_section as = s->list[section];
	enum pd_feature_form form;

	as.feature = feature;
	if (pd_feature_look_at_form(s->l, &as, &s->bytes, &form))
		return -1;
	*sum += (form == PD_FORM_FITS) - (form == PD_FORM_FITS_NOT);
	return 0;
}

/* Compares each section with the feature that it is taken for, and with the one beside that. */
static int sum_fits(struct bit_search *s)
{
	const bool lacks_bit = s->n > s->nr_stated;

	for (size_t i = 0; i < s->n; i++) {
		s->before[i + 1] = s->before[i];
		if (i < s->nr_stated && add_fit(s, i, s->stated[i], &s->before[i + 1]))
			return -1;
	}
	for (size_t i = s->n; i-- > 0;) {
		s->after[i] = s->after[i + 1];
		if (lacks_bit && !i)
			break;
		if (add_fit(s, i, s->stated[lacks_bit ? i - 1 : i + 1], &s->after[i]))
			return -1;
	}
	return 0;
}

static void propose(struct bit_search *s, uint32_t bit, int fits)
{
	if (fits == s->most)
		s->best = NO_BIT;
	if (fits <= s->most)
		return;
	s->best = bit;
	s->most = fits;
}

/* Finds the bit whose feature's form the section at its place has. Bits whose features are not
 * known are not proposed. */
static int find_missing(struct bit_search *s)
{
	size_t place = 0;

	for (uint32_t bit = 0; bit < PD_FEATURE_BITS; bit++) {
		int fits = s->before[place] + s->after[place + 1];

		if (place < s->nr_stated && s->stated[place] == bit) {
			place++;
			continue;
		}
		if (!pd_feature_desc(bit) || pd_feature_is_own(bit))
			continue;
		if (add_fit(s, place, bit, &fits))
			return -1;
		propose(s, bit, fits);
	}
	return 0;
}

/* Finds the bit without which more sections have the form of their features. Those of an unknown
 * last one have it as they are. */
static void find_excess(struct bit_search *s)
{
	const uint32_t last = s->stated[s->n];
	const int as_stated = s->most;

	for (size_t i = 0; i < s->n; i++)
		propose(s, s->stated[i], s->before[i] + s->after[i]);
	if (s->most == as_stated && !pd_feature_desc(last))
		s->best = last;
}

/* Finds the wrong bit, if one is more likely than others. Returns 0, or -1 and *l->e. */
static int find_bit(struct bit_search *s)
{
	if (sum_fits(s))
		return -1;
	s->most = s->before[s->n];
	if (s->n > s->nr_stated)
		return find_missing(s);
	find_excess(s);
	return 0;
}

static void list_stated(struct bit_search *s, const bool bits[PD_FEATURE_BITS])
{
	for (uint32_t bit = 0; bit < PD_FEATURE_BITS; bit++)
		if (bits[bit])
			s->stated[s->nr_stated++] = bit;
}

static void report_bits(const struct bit_search *s, const char *field, const char *text)
{
	s->l->container->info.complete = false;
	s->l->report->error(s->l->report->ctx, &(struct pd_error){
		.code = PD_E_SIZE, .severity = PD_DAMAGED, .record = "header", .field = field,
		.offset = PD_FILE_HEADER_V1, .want = s->nr_stated, .have = s->n, .text = text });
}

/* Changes the bit and keeps the bytes of the header and of the table as they are. */
static int change_bit(const struct bit_search *s, bool bits[PD_FEATURE_BITS], size_t *n)
{
	const struct pd_feature_desc *d = pd_feature_desc(s->best);

	report_bits(s, d ? d->field->name : "adds_features", bits[s->best] ?
		    "a bit of adds_features is set for a feature that is not there" :
		    "a bit of adds_features is not set for a feature that is there");
	bits[s->best] = !bits[s->best];
	*n = s->n;
	if (pd_note_range(s->l, "kept", 0, PD_FILE_HEADER_SIZE))
		return -1;
	return pd_note_range(s->l, "kept", s->l->container->data_end, *n * PD_SECTION_SIZE);
}

int pd_wrong_bit_correct(const struct pd_loader *l, bool bits[PD_FEATURE_BITS], size_t *n)
{
	const struct pd_section tables = { .name = "feature_table",
		.offset = l->container->data_end,
		.size = (*n + 1) * PD_SECTION_SIZE + PD_OWN_TABLE_HEAD };
	struct bit_search s = { .l = l, .best = NO_BIT, .bytes.budget = l->session->budget };
	bool is_wrong;
	int err;

	list_stated(&s, bits);
	err = pd_section_read_needed(l, &tables, &s.bytes);
	is_wrong = !err && count_entries(&s, pd_buf_bytes(&s.bytes));
	if (is_wrong)
		err = find_bit(&s);
	pd_buf_free(&s.bytes);
	if (err || !is_wrong)
		return err;
	if (s.best != NO_BIT)
		return change_bit(&s, bits, n);
	report_bits(&s, "adds_features", "its bits are not those of the sections that are there");
	return 0;
}
