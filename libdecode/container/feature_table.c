/* feature_table.c - finds the sections of features. */
#include "container/feature_table.h"

#include <string.h>

#include "container/changed_sections.h"
#include "container/changed_tables.h"
#include "container/wrong_bit.h"
#include "container/wrong_entry.h"

#define OWN_TABLE "own_feature_table"

/* The entries of both tables, by feature. */
struct entries {
	bool given[PD_FEATURE_BITS];
	struct pd_section sections[PD_FEATURE_BITS];
};

static const char *feature_name(struct pd_session *s, uint32_t bit)
{
	const struct pd_feature_desc *d = pd_feature_desc(bit);
	char name[16] = "FEATURE_";
	size_t n = 8;

	if (d)
		return d->field->name;
	if (bit >= 100)
		name[n++] = (char)('0' + bit / 100);
	if (bit >= 10)
		name[n++] = (char)('0' + bit / 10 % 10);
	name[n++] = (char)('0' + bit % 10);
	return pd_arena_text(&s->arena, name, n);
}

/* Loads the section of an entry, which is not where the entry states if features have moved. */
static struct pd_section load_entry(const struct pd_container *c, const uint8_t *entry)
{
	struct pd_section section = pd_section_load(entry, c->swap);

	section.offset += c->features_moved;
	return section;
}

/* The bytes from the end of the records on, which begin with the tables. */
struct tables {
	struct pd_bytes bytes;
	const struct pd_restored_tables *restored;
};

/* Notes a table that was read. Keeps its bytes if its offsets are not those of its sections, so
 * that the file can be rebuilt. Returns 0, or -1 and *l->e. */
static int note_table(const struct pd_loader *l, const struct tables *t, const char *name,
		      uint64_t offset, uint64_t size)
{
	if (t->restored->bytes.size)	/* all of it is kept */
		return 0;
	if (l->container->features_moved && pd_note_range(l, "kept", offset, size))
		return -1;
	return pd_note_range(l, name, offset, size);
}

/* Takes the entries of perf's table, which has one for each bit that is set. Returns their
 * number. */
static size_t take_entries(const struct pd_container *c, const bool bits[PD_FEATURE_BITS],
			   const struct tables *t, struct entries *entries)
{
	size_t entry = 0;

	for (uint32_t bit = 0; bit < PD_FEATURE_BITS; bit++) {
		if (!bits[bit])
			continue;
		if ((entry + 1) * PD_SECTION_SIZE > t->bytes.size)
			break;
		entries->sections[bit] = load_entry(c, t->bytes.data + entry * PD_SECTION_SIZE);
		entries->given[bit] = !t->restored->lost[entry++];
	}
	return entry;
}

static int load_table(const struct pd_loader *l, const bool bits[PD_FEATURE_BITS], size_t n,
		      const struct tables *t, struct entries *entries)
{
	const struct pd_container *c = l->container;
	const struct pd_section table = { .name = "feature_table", .offset = c->data_end,
		.size = n * PD_SECTION_SIZE };
	size_t taken;

	if (pd_add_section(l, table))
		return -1;
	if (t->bytes.size < table.size)
		pd_report_short(l, table.name, table.offset, table.size, t->bytes.size);
	taken = take_entries(c, bits, t, entries);
	return note_table(l, t, table.name, table.offset, taken * PD_SECTION_SIZE);
}

/* Takes entries until one is impossible: not of an own feature, or not above the one before.
 * Returns their number. */
static size_t take_own_entries(const struct pd_container *c, struct pd_bytes bytes, size_t n,
			       struct entries *entries)
{
	uint64_t least = PD_FEATURE_PD_START;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *entry = bytes.data + PD_OWN_TABLE_HEAD + i * PD_OWN_ENTRY_SIZE;
		const uint64_t id = pd_load64(entry, c->swap);

		if (id < least || id >= PD_FEATURE_BITS || entries->given[id])
			return i;
		entries->sections[id] = load_entry(c, entry + sizeof(id));
		entries->given[id] = true;
		least = id + 1;
	}
	return n;
}

/* Loads the own table, if it is there. A damaged one is in no section: its bytes become a gap, by
 * which the file can be rebuilt. */
static int load_own_table(const struct pd_loader *l, size_t at, const struct tables *t,
			  struct entries *entries)
{
	const struct pd_container *c = l->container;
	struct pd_section table = { .name = OWN_TABLE, .offset = c->data_end + at };
	struct pd_bytes bytes;
	uint64_t stated;
	size_t there, taken;

	if (t->bytes.size < at + PD_OWN_TABLE_HEAD)
		return 0;
	bytes = (struct pd_bytes){ t->bytes.data + at, t->bytes.size - at };
	if (bytes.size > PD_OWN_TABLE_MAX)
		bytes.size = PD_OWN_TABLE_MAX;
	if (memcmp(bytes.data, PD_OWN_TABLE_MAGIC, strlen(PD_OWN_TABLE_MAGIC)) != 0)
		return 0;
	there = (bytes.size - PD_OWN_TABLE_HEAD) / PD_OWN_ENTRY_SIZE;
	stated = pd_load64(bytes.data + PD_OWN_TABLE_HEAD - sizeof(stated), c->swap);
	taken = take_own_entries(c, bytes, stated < there ? (size_t)stated : there, entries);
	table.size = PD_OWN_TABLE_HEAD + stated * PD_OWN_ENTRY_SIZE;
	if (taken == stated)
		return pd_add_section(l, table) ||
			       note_table(l, t, table.name, table.offset, table.size) ?
			       -1 :
			       0;
	if (taken == there && stated <= PD_OWN_FEATURES_MAX)
		pd_report_short(l, table.name, table.offset, table.size, bytes.size);
	else
		pd_report_damage(l, PD_E_SIZE, table.name, table.offset, stated, taken);
	return 0;
}

/* Lists the sections, and corrects their places. Returns 0, or -1 and *l->e. */
static int list_sections(const struct pd_loader *l, const struct entries *entries,
			 struct pd_stated_sections *stated)
{
	for (uint32_t bit = 0; bit < PD_FEATURE_BITS; bit++) {
		struct pd_section *const feature = &stated->list[stated->n];

		if (!entries->given[bit])
			continue;
		*feature = entries->sections[bit];
		feature->feature = bit;
		feature->name = feature_name(l->session, bit);
		if (!feature->name)
			return pd_load_no_memory(l);
		stated->n++;
	}
	if (!l->container->info.size_known || l->container->features_moved)
		return 0;
	return pd_changed_sections_correct(l, stated) || pd_wrong_entry_correct(l, stated) ? -1 : 0;
}

static int add_features(const struct pd_loader *l, const struct entries *entries)
{
	struct pd_container *c = l->container;
	const size_t first = c->info.nr_sections;
	struct pd_stated_sections stated = { .n = 0 };

	if (list_sections(l, entries, &stated))
		return -1;
	for (size_t i = 0; i < stated.n; i++) {
		struct pd_section feature = stated.list[i];

		if (!feature.unread && !pd_claim_section(c, &c->features_size, &feature)) {
			pd_report_damage(l, PD_E_SIZE, feature.name, feature.offset, feature.size,
					 0);
			c->left_out[feature.feature] = feature.unread = true;
		}
		if (pd_add_section(l, feature))
			return -1;
	}
	c->features = c->sections + first;
	c->nr_features = c->info.nr_sections - first;
	return 0;
}

/* Loads both tables, of which perf's has n entries. */
static int load_tables(const struct pd_loader *l, const bool bits[PD_FEATURE_BITS], size_t n,
		       const struct tables *t)
{
	struct entries entries = { .given = { false } };

	if ((n && load_table(l, bits, n, t, &entries)) ||
	    load_own_table(l, n * PD_SECTION_SIZE, t, &entries))
		return -1;
	return add_features(l, &entries);
}

int pd_feature_tables_load(const struct pd_loader *l, const bool stated[PD_FEATURE_BITS], size_t n)
{
	struct pd_container *c = l->container;
	const struct pd_section both = { .name = "feature_table", .offset = c->data_end,
					 .size = PD_FEATURE_TABLES_MAX };
	struct pd_buf bytes = { .budget = l->session->budget };
	struct pd_restored_tables restored = { .bytes.budget = l->session->budget };
	bool bits[PD_FEATURE_BITS];
	int err = 0;

	memcpy(bits, stated, sizeof(bits));
	if (c->data_end == UINT64_MAX)
		return 0;
	if (n && c->info.size_known && !c->features_moved)
		err = pd_wrong_bit_correct(l, bits, &n);
	if (!err && n && c->info.size_known && !c->features_moved)
		err = pd_changed_tables_restore(l, bits, n, &restored);
	if (!err && !restored.bytes.size)
		err = pd_section_read_needed(l, &both, &bytes);
	if (!err)
		err = load_tables(l, bits, n, &(struct tables){
			pd_buf_bytes(restored.bytes.size ? &restored.bytes : &bytes), &restored });
	pd_buf_free(&restored.bytes);
	pd_buf_free(&bytes);
	return err;
}

bool pd_feature_own_table_at(struct pd_source *source, uint64_t offset)
{
	uint8_t head[PD_OWN_TABLE_HEAD];
	struct pd_error ignored;

	return offset <= INT64_MAX &&
	       pd_source_pread(source, offset, head, sizeof(head), &ignored) == sizeof(head) &&
	       memcmp(head, PD_OWN_TABLE_MAGIC, strlen(PD_OWN_TABLE_MAGIC)) == 0;
}
