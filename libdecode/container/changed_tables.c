/* changed_tables.c - restores feature tables into which bytes were inserted, or from which some
 * were removed. The entries before the change are as they were, those after it are at another
 * place; each section begins where the one before ends, which shows where the change is. */
#include "container/changed_tables.h"

#include <string.h>

#include "container/byte_change.h"
#include "container/feature_contents.h"
#include "container/moved_features.h"

#define MOST 4096u	/* bytes that may have been inserted: each number is tried at each place */

struct table_search {
	const struct pd_moved_search *file;
	size_t n;			/* entries of perf's table */
	uint8_t raw[PD_FEATURE_TABLES_MAX + MOST];	/* the tables and what follows, as they
							 * are */
	struct pd_bytes now;
	size_t chained;			/* entries that lead from the first one */
	bool has_own;			/* the own table is directly after perf's */
	uint8_t tables[PD_FEATURE_TABLES_MAX];	/* as they may have been; removed bytes are zero */
	size_t size;
	bool lost[PD_FEATURE_BITS];
};

/* Returns how many entries lead from the first one, each from the end of the one before. */
static size_t count_chained(const struct table_search *s)
{
	const enum pd_swap swap = s->file->swap;
	uint64_t end = pd_load64(s->raw, swap);

	for (size_t i = 0; i < s->n; i++) {
		const struct pd_section section =
			pd_section_load(s->raw + i * PD_SECTION_SIZE, swap);

		if (section.offset != end)
			return i;
		end += section.size;
	}
	return s->n;
}

static uint64_t number_before(const struct table_search *s, const struct pd_byte_change *c,
			      size_t offset)
{
	return pd_byte_change_number(s->now, c, offset, s->file->swap);
}

static uint64_t own_magic(const struct table_search *s)
{
	uint8_t magic[sizeof(uint64_t)];

	memcpy(magic, PD_OWN_TABLE_MAGIC, sizeof(magic));
	return pd_load64(magic, s->file->swap);
}

/* Returns whether the last section ended with the file: most changes are ruled out by this. */
static bool ends_with_file(const struct table_search *s, const struct pd_byte_change *c)
{
	const size_t size = s->n * PD_SECTION_SIZE;
	uint64_t own = 0, last = size - PD_SECTION_SIZE;

	if (number_before(s, c, size) == own_magic(s))
		own = number_before(s, c, size + sizeof(own));
	else if (s->has_own)
		return false;
	if (own > PD_OWN_FEATURES_MAX || (s->has_own && !own))
		return false;
	if (own)
		last = size + PD_OWN_TABLE_HEAD + own * PD_OWN_ENTRY_SIZE - PD_SECTION_SIZE;
	return number_before(s, c, (size_t)last) + number_before(s, c, (size_t)last + 8) +
		       (uint64_t)c->by ==
	       s->file->file_size;
}

/* Fills in the entries of which bytes were removed, by those around them. If there are several, the
 * sections are not known, but their places together. Returns false without an entry after them,
 * which has to confirm this. */
static bool fill_in_entries(struct table_search *s, const struct pd_byte_change *c)
{
	const enum pd_swap swap = s->file->swap;
	const size_t first = c->at / PD_SECTION_SIZE,
		     last = (c->at + (size_t)-c->by - 1) / PD_SECTION_SIZE;
	uint8_t *const entry = s->tables + first * PD_SECTION_SIZE;
	uint64_t begin, end;

	if (!first || last + 1 >= s->n)
		return false;
	begin = pd_load64(entry - PD_SECTION_SIZE, swap) + pd_load64(entry - 8, swap);
	end = pd_load64(s->tables + (last + 1) * PD_SECTION_SIZE, swap);
	if (end < begin)
		return false;
	for (size_t i = first; i <= last; i++) {
		uint8_t *const p = s->tables + i * PD_SECTION_SIZE;

		pd_store(p, i == first ? begin : end, sizeof(begin), swap);
		pd_store(p + sizeof(begin), i == first ? end - begin : 0, sizeof(end), swap);
		s->lost[i] = first != last;
	}
	return true;
}

/* Returns whether the tables were as expected before the change. */
static bool explains_tables(struct table_search *s, const struct pd_byte_change *c)
{
	uint64_t end;

	memset(s->lost, 0, sizeof(s->lost));
	s->size = pd_byte_change_undo(s->now, c, 0, s->tables, sizeof(s->tables));
	if (s->size < s->n * PD_SECTION_SIZE || (c->by < 0 && !fill_in_entries(s, c)))
		return false;
	end = pd_moved_features_end(s->file, (struct pd_bytes){ s->tables, s->size });
	return end && end + (uint64_t)c->by == s->file->file_size;
}

/* Returns the size of both tables, as they are. */
static size_t size_now(const struct table_search *s)
{
	const size_t size = s->n * PD_SECTION_SIZE;
	const uint64_t own = s->has_own ? pd_load64(s->raw + size + 8, s->file->swap) : 0;

	return size + (s->has_own ? PD_OWN_TABLE_HEAD : 0) +
	       (own <= PD_OWN_FEATURES_MAX ? (size_t)own : 0) * PD_OWN_ENTRY_SIZE;
}

/* Finds the change at one of the places that are possible. */
static bool find_change(struct table_search *s, int64_t by, struct pd_byte_change *out)
{
	const size_t size = s->n * PD_SECTION_SIZE, last = size - PD_SECTION_SIZE;
	const size_t to = s->chained < s->n ? (s->chained + 1) * PD_SECTION_SIZE :
			  by > 0 ? size_now(s) : size;
	const size_t first = s->chained > 1 ? (s->chained - 1) * PD_SECTION_SIZE : 0;
	const size_t removed = by < 0 ? (size_t)-by : 0;
	/* where the last section ends does not depend on the place before its entry */
	const bool ends_alike = ends_with_file(s, &(struct pd_byte_change){ 0, by });

	*out = (struct pd_byte_change){ first, by };
	if (!ends_alike && last >= first + removed)
		out->at = last - removed + 1;
	for (; out->at < to; out->at++) {
		const bool is_before = out->at + removed <= last;

		if ((is_before || ends_with_file(s, out)) && explains_tables(s, out))
			return true;
	}
	return false;
}

/* Finds a change between the tables: the own one is then elsewhere. */
static bool find_own_table(struct table_search *s, struct pd_byte_change *out)
{
	const size_t size = s->n * PD_SECTION_SIZE;

	*out = (struct pd_byte_change){ .at = size };
	if (pd_load64(s->raw, s->file->swap) == s->file->data_end + size)
		return false;
	for (size_t at = size; at + PD_OWN_TABLE_HEAD <= s->now.size && at <= size + MOST; at++) {
		out->by = (int64_t)(at - size);
		if (memcmp(s->raw + at, PD_OWN_TABLE_MAGIC, strlen(PD_OWN_TABLE_MAGIC)) == 0)
			return out->by && ends_with_file(s, out) && explains_tables(s, out);
	}
	return false;
}

/* Finds the change in the tables at file->data_end, if there is one. */
static bool find_any_change(struct table_search *s, struct pd_byte_change *out)
{
	struct pd_error ignored;
	const size_t size = s->n * PD_SECTION_SIZE;
	const int64_t got = pd_source_pread(s->file->source, s->file->data_end, s->raw,
					    sizeof(s->raw), &ignored);
	size_t most;

	s->now = (struct pd_bytes){ s->raw, got < 0 ? 0 : (size_t)got };
	if (!size || s->now.size < size)
		return false;
	s->has_own = s->now.size >= size + PD_OWN_TABLE_HEAD &&
		     pd_load64(s->raw + size, s->file->swap) == own_magic(s);
	if (pd_moved_features_end(s->file, (struct pd_bytes){ s->raw, s->now.size }))
		return find_own_table(s, out);
	s->chained = count_chained(s);
	most = s->now.size - size < MOST ? s->now.size - size : MOST;
	for (size_t by = 1; by <= most || by < size; by++)
		if ((by <= most && find_change(s, (int64_t)by, out)) ||
		    (by < size && find_change(s, -(int64_t)by, out)))
			return true;
	return false;
}

bool pd_changed_tables_are_at(const struct pd_moved_search *file)
{
	struct table_search s = { .file = file, .n = file->nr_features };
	struct pd_byte_change ignored;

	return find_any_change(&s, &ignored);
}

/* Sets *confirmed to whether more features can be read at the distance than where the tables, as
 * they were, state them. Returns 0, or -1 and *l->e. */
static int confirm_change(const struct pd_loader *l, const bool bits[PD_FEATURE_BITS],
			  const struct table_search *s, uint64_t distance, bool *confirmed)
{
	struct pd_buf bytes = { .budget = l->session->budget };
	size_t entry = 0, as_stated = 0, moved = 0;
	bool is_filled;
	int err = 0;

	for (uint32_t bit = 0; !err && bit < PD_FEATURE_BITS; bit++) {
		struct pd_section section;

		if (!bits[bit])
			continue;
		section = pd_section_load(s->tables + entry++ * PD_SECTION_SIZE, s->file->swap);
		section.feature = bit;
		err = pd_feature_is_filled(l, &section, &bytes, &is_filled);
		as_stated += !err && is_filled;
		section.offset += distance;
		if (!err)
			err = pd_feature_is_filled(l, &section, &bytes, &is_filled);
		moved += !err && is_filled;
	}
	pd_buf_free(&bytes);
	*confirmed = moved > as_stated;
	return err;
}

int pd_changed_tables_restore(const struct pd_loader *l, const bool bits[PD_FEATURE_BITS],
			      size_t n, struct pd_restored_tables *out)
{
	struct pd_container *c = l->container;
	const struct pd_moved_search file = {
		.source = l->source, .swap = l->session->swap, .file_size = c->info.size,
		.data_end = c->data_end, .nr_features = n };
	struct table_search s = { .file = &file, .n = n };
	struct pd_byte_change change;
	bool confirmed;

	if (!find_any_change(&s, &change))
		return 0;
	if (confirm_change(l, bits, &s, (uint64_t)change.by, &confirmed))
		return -1;
	if (!confirmed)
		return 0;
	memcpy(out->lost, s.lost, sizeof(s.lost));
	pd_buf_append(&out->bytes, s.tables, s.size);
	if (out->bytes.failed)
		return pd_load_no_memory(l);
	c->features_moved = (uint64_t)change.by;
	pd_report_moved(l, "feature_table", c->data_end + change.at, n * PD_SECTION_SIZE,
			c->features_moved);
	return pd_note_range(l, "kept", c->data_end,
			     pd_load64(s.tables, file.swap) + c->features_moved - c->data_end);
}
