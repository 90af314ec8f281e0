/* changed_header.c - restores a file header into which bytes were inserted, or from which some were
 * removed. The rest of the file is as it was, but all of it is by the same distance from where the
 * header and the tables state it: attributes, records, feature tables, and the file's end. */
#include "container/changed_header.h"

#include <string.h>

#include "container/byte_change.h"
#include "container/feature_bits.h"
#include "container/feature_contents.h"
#include "container/file_bytes.h"
#include "container/moved_features.h"

/* Bytes that may have been inserted: up to a block each number, then blocks. Each is tried at each
 * place. */
#define BLOCK 512
#define MOST 4096u

enum {
	SIZE = PD_HEADER_SIZE, ATTR_SIZE = PD_HEADER_ATTR_SIZE,
	ATTRS_AT = PD_HEADER_ATTRS_OFFSET, ATTRS_SIZE = PD_HEADER_ATTRS_SIZE,
	DATA_AT = PD_HEADER_DATA_OFFSET, DATA_SIZE = PD_HEADER_DATA_SIZE,
	EVENT_TYPES = PD_HEADER_EVENT_TYPES_OFFSET,
	SEARCHES_MOST = 16,	/* each may read all of the file */
};

struct header_search {
	const struct pd_loader *loader;
	struct pd_file_bytes file;
	uint8_t raw[PD_FILE_HEADER_SIZE + MOST];	/* the header and what follows, as they
							 * are */
	struct pd_bytes now;
	uint8_t header[PD_FILE_HEADER_SIZE];	/* as it may have been */
	uint64_t attrs_asked;	/* the last offset at which an attribute was looked for */
	uint64_t attr_there;	/* and its size, or 0 */
	bool found_attrs;	/* at a place of a change */
	struct {
		size_t at, end;
	} unknown;	/* bytes of the header, while the places in a number are ruled out */
	bool was_killed;	/* the recorder, so that no features confirm a change */
	unsigned int nr_searches;	/* for the size of the records */
};

static uint64_t number(const struct header_search *s, size_t at)
{
	return pd_load64(s->header + at, s->file.swap);
}

static void set_number(struct header_search *s, size_t at, uint64_t value)
{
	pd_store(s->header + at, value, sizeof(value), s->file.swap);
}

static uint64_t number_before(const struct header_search *s, const struct pd_byte_change *c,
			      size_t at)
{
	return pd_byte_change_number(s->now, c, at, s->file.swap);
}

/* Returns whether bytes of the number were removed. */
static bool is_lost(const struct pd_byte_change *c, size_t number_at)
{
	return c->by < 0 && c->at < PD_FILE_HEADER_SIZE &&
	       number_at + sizeof(uint64_t) > c->at &&
	       number_at < c->at + (size_t)-c->by;
}

/* Returns the size of the attribute that is now at the offset; 0 if there is none. */
static uint64_t attr_now_at(struct header_search *s, uint64_t offset)
{
	if (offset != s->attrs_asked) {
		s->attrs_asked = offset;
		s->attr_there = pd_file_bytes_attr(&s->file, offset);
	}
	return s->attr_there;
}

/* Returns whether the attributes are where the header states them, as perf writes them: up to the
 * records, which follow. */
static bool are_attrs_there(struct header_search *s, const struct pd_byte_change *c)
{
	const uint64_t own = number(s, ATTRS_AT) + number(s, ATTRS_SIZE) == number(s, DATA_AT) ?
		attr_now_at(s, number(s, ATTRS_AT) + (uint64_t)c->by) : 0;

	if (is_lost(c, ATTR_SIZE))
		set_number(s, ATTR_SIZE, own + PD_SECTION_SIZE);
	if (is_lost(c, SIZE))
		set_number(s, SIZE, PD_FILE_HEADER_SIZE);
	return own && number(s, SIZE) == PD_FILE_HEADER_SIZE &&
	       pd_file_bytes_attrs_fill(&s->file, number(s, ATTRS_AT) + (uint64_t)c->by,
					number(s, ATTRS_SIZE), number(s, ATTR_SIZE)) &&
	       pd_file_bytes_attrs_fill(&s->file, number(s, DATA_AT) - number(s, ATTR_SIZE) +
						  (uint64_t)c->by,	/* the last one */
					number(s, ATTR_SIZE), number(s, ATTR_SIZE)) &&
	       pd_file_bytes_records(&s->file, number(s, DATA_AT) + (uint64_t)c->by);
}

/* Derives the number at `lost` from the two others that say where attributes and records are. */
static void derive_number(struct header_search *s, size_t lost)
{
	if (lost == ATTRS_AT)
		set_number(s, lost, number(s, DATA_AT) - number(s, ATTRS_SIZE));
	else if (lost == ATTRS_SIZE)
		set_number(s, lost, number(s, DATA_AT) - number(s, ATTRS_AT));
	else
		set_number(s, lost, number(s, ATTRS_AT) + number(s, ATTRS_SIZE));
}

/* Finds the attributes, and the numbers that lead to them where these were removed. */
static bool find_attrs(struct header_search *s, const struct pd_byte_change *c)
{
	static const size_t places[] = { ATTRS_AT, ATTRS_SIZE, DATA_AT };

	if (are_attrs_there(s, c))
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint8_t before[PD_FILE_HEADER_SIZE];

		if (!is_lost(c, places[i]))
			continue;
		memcpy(before, s->header, sizeof(before));
		derive_number(s, places[i]);
		if (are_attrs_there(s, c))
			return true;
		memcpy(s->header, before, sizeof(before));
	}
	return false;
}

static size_t count_bits(const struct header_search *s)
{
	size_t n = 0;

	for (size_t i = PD_FILE_HEADER_V1; i < sizeof(s->header); i++)
		n += (size_t)__builtin_popcount(s->header[i]);
	return n;
}

/* Returns whether the rest of the header is that of a recorder that was killed: it has written no
 * size of the records and no features. */
static bool is_killed(const struct header_search *s)
{
	return !number(s, DATA_SIZE) && !number(s, PD_HEADER_EVENT_TYPES_SIZE) &&
	       (!number(s, EVENT_TYPES) || number(s, EVENT_TYPES) == PD_UNFINISHED_AT);
}

/* Returns whether n features are after the records, up to the end of the file: all of a table. */
static bool are_n_features_there(const struct header_search *s, const struct pd_byte_change *c,
				 size_t n)
{
	const struct pd_moved_search search = {
		.swap = s->file.swap, .nr_features = n,
		.data_end = number(s, DATA_AT) + number(s, DATA_SIZE) };
	const uint64_t file_size = s->file.size - (uint64_t)c->by;
	uint8_t bytes[PD_SECTION_SIZE + PD_FEATURE_TABLES_MAX];
	struct pd_section before;
	struct pd_error ignored;
	int64_t got;

	if (!n)
		return search.data_end == file_size;
	got = pd_source_pread(s->file.source,
			      search.data_end + (uint64_t)c->by - PD_SECTION_SIZE, bytes,
			      sizeof(bytes), &ignored);
	if (got < 2 * PD_SECTION_SIZE)
		return false;
	before = pd_section_load(bytes, s->file.swap);
	return before.offset + before.size != pd_load64(bytes + PD_SECTION_SIZE, s->file.swap) &&
	       pd_moved_features_end(&search, (struct pd_bytes){ bytes + PD_SECTION_SIZE,
						(size_t)got - PD_SECTION_SIZE }) == file_size;
}

/* Sets the size of the records, which was removed, by the features after them. */
static void find_data_size(struct header_search *s, const struct pd_byte_change *c)
{
	const struct pd_moved_search search = {
		.source = s->file.source, .swap = s->file.swap, .file_size = s->file.size,
		.data_offset = number(s, DATA_AT) + (uint64_t)c->by, .nr_features = count_bits(s),
		.data_end = UINT64_MAX, .distance = (uint64_t)c->by };
	uint64_t table;

	if (s->nr_searches++ >= SEARCHES_MOST)
		return;
	if (search.nr_features && pd_moved_features_find(&search, &table))
		set_number(s, DATA_SIZE, table - search.data_offset);
}

/* Returns whether the features are after the records, up to the end of the file. If their bits were
 * removed, nothing tells which they are: these are cleared. */
static bool are_features_there(struct header_search *s, const struct pd_byte_change *c)
{
	const size_t n = count_bits(s);
	const bool lost_bits = c->by < 0 && c->at < sizeof(s->header) &&
			       c->at + (size_t)-c->by > PD_FILE_HEADER_V1;

	if (is_lost(c, DATA_SIZE))
		find_data_size(s, c);
	if (s->was_killed)
		return is_killed(s);
	if (are_n_features_there(s, c, n))
		return true;
	for (size_t more = n + 1; lost_bits && more <= PD_FEATURE_BITS; more++)
		if (are_n_features_there(s, c, more)) {
			memset(s->header + PD_FILE_HEADER_V1, 0, PD_FEATURE_BITS / 8);
			return true;
		}
	return false;
}

/* Counts the features that are known, and those whose bytes tell that they are there: wrong bits
 * are those of others. Returns 0, or -1 and *l->e. */
static int count_features(struct header_search *s, const struct pd_byte_change *c, size_t *count)
{
	const struct pd_loader *l = s->loader;
	struct pd_container scratch = *l->container;
	bool bits[PD_FEATURE_BITS], is_filled;
	struct pd_buf bytes = { .budget = l->session->budget };
	uint64_t entry = number(s, DATA_AT) + number(s, DATA_SIZE) + (uint64_t)c->by;
	int err = 0;

	*count = 0;
	pd_feature_bits_read(&scratch, (struct pd_bytes){ s->header + PD_FILE_HEADER_V1,
							  PD_FEATURE_BITS / 8 }, bits);
	for (uint32_t bit = 0; !err && number(s, DATA_SIZE) && bit < PD_FEATURE_BITS; bit++) {
		uint8_t bytes_of_entry[PD_SECTION_SIZE];
		struct pd_section section;

		if (!bits[bit] || !pd_file_bytes_load(&s->file, entry, bytes_of_entry,
						      sizeof(bytes_of_entry)))
			continue;
		entry += PD_SECTION_SIZE;
		section = pd_section_load(bytes_of_entry, s->file.swap);
		section.offset += (uint64_t)c->by;
		section.feature = bit;
		*count += pd_feature_desc(bit) != NULL;
		err = pd_feature_is_filled(l, &section, &bytes, &is_filled);
		*count += !err && is_filled;
	}
	pd_buf_free(&bytes);
	return err;
}

/* Returns whether the number before the change is not known. */
static bool is_unknown(const struct header_search *s, const struct pd_byte_change *c,
		       size_t number_at)
{
	return is_lost(c, number_at) ||
	       (number_at < s->unknown.end && number_at + sizeof(uint64_t) > s->unknown.at);
}

/* Returns whether an attribute was at the offset, and filled its entry. */
static bool was_attr_at(struct header_search *s, const struct pd_byte_change *c, uint64_t offset)
{
	const uint64_t own = attr_now_at(s, offset + (uint64_t)c->by);

	return own && (is_unknown(s, c, ATTR_SIZE) ||
		       number_before(s, c, ATTR_SIZE) == own + PD_SECTION_SIZE);
}

/* Rules out nearly all changes: the numbers of the attributes that are known agreed with each
 * other, and an attribute is where they state it. */
static bool may_be_change(struct header_search *s, const struct pd_byte_change *c)
{
	const uint64_t attrs = number_before(s, c, ATTRS_AT);
	const bool is_offset_unknown = is_unknown(s, c, ATTRS_AT);

	if (!is_offset_unknown && !is_unknown(s, c, ATTRS_SIZE) && !is_unknown(s, c, DATA_AT) &&
	    attrs + number_before(s, c, ATTRS_SIZE) != number_before(s, c, DATA_AT))
		return false;
	return (was_attr_at(s, c, attrs) ||
		(is_offset_unknown &&
		 was_attr_at(s, c, number_before(s, c, DATA_AT) -
				   number_before(s, c, ATTRS_SIZE)))) &&
	       (is_unknown(s, c, SIZE) || number_before(s, c, SIZE) == PD_FILE_HEADER_SIZE);
}

/* Returns whether all bytes of the number were removed, by each change in the number at `split`. */
static bool is_gone(size_t split, size_t removed, size_t number_at)
{
	return split < number_at && number_at + sizeof(uint64_t) <= split + removed;
}

/* Rules out all places of a change in the number at `split` at once: what is known of the other
 * numbers is the same for all of them. Two of the three that lead to the attributes are needed. */
static bool may_be_split(struct header_search *s, size_t split, int64_t by)
{
	const struct pd_byte_change c = { split, by };
	const size_t removed = pd_byte_change_removed(&c);
	bool may_be;

	s->unknown.at = split;
	s->unknown.end = split + sizeof(uint64_t) + (removed ? removed - 1 : 0);
	if (removed && is_unknown(s, &c, ATTRS_AT))
		may_be = !is_gone(split, removed, ATTRS_AT) ||
			 !is_gone(split, removed, ATTRS_SIZE);
	else
		may_be = may_be_change(s, &c);
	s->unknown.end = 0;
	return may_be;
}

/* Sets s->header to the header before the change. Returns false if there are no attributes then. */
static bool undo_header_change(struct header_search *s, const struct pd_byte_change *c)
{
	const bool found = may_be_change(s, c) &&
			   pd_byte_change_undo(s->now, c, 0, s->header, sizeof(s->header)) ==
				   sizeof(s->header) &&
			   find_attrs(s, c);

	s->found_attrs |= found;
	return found;
}

/* The place of a change that explains most, and the header before it. */
struct best_place {
	struct pd_byte_change change;	/* at 0: there is none */
	size_t count;			/* features that confirm it */
	uint8_t header[PD_FILE_HEADER_SIZE];
};

/* Takes the place if more features confirm it than the best one so far. Returns 0, or -1 and
 * *l->e. */
static int try_place(struct header_search *s, const struct pd_byte_change *c,
		     struct best_place *best)
{
	size_t count;

	if (!undo_header_change(s, c) || !are_features_there(s, c) ||
	    (best->change.at && memcmp(best->header, s->header, sizeof(s->header)) == 0))
		return 0;
	if (count_features(s, c, &count))
		return -1;
	if (!best->change.at || count > best->count) {
		best->change = *c;
		best->count = count;
		memcpy(best->header, s->header, sizeof(s->header));
	}
	return 0;
}

/* Finds where in the header this number of bytes was inserted or removed. After the header is a
 * place, too, and preferred. Returns 0, or -1 and *l->e. */
static int find_place(struct header_search *s, int64_t by, struct best_place *best)
{
	struct pd_byte_change c = { PD_FILE_HEADER_SIZE, by };
	const size_t last = PD_FILE_HEADER_SIZE - pd_byte_change_removed(&c);

	if (try_place(s, &c, best))
		return -1;
	/* a change after the numbers of the attributes leaves these as they are */
	c.at = undo_header_change(s, &c) || last < DATA_SIZE ? last : DATA_SIZE - 1;
	for (; c.at >= SIZE; c.at--) {
		const size_t split = c.at - c.at % sizeof(uint64_t);

		if (c.at < DATA_SIZE && !may_be_split(s, split, by))
			c.at = split;
		else if (try_place(s, &c, best))
			return -1;
	}
	return 0;
}

/* Returns whether the numbers of the header, as it is, agree with each other. */
static bool is_consistent(struct header_search *s)
{
	memcpy(s->header, s->raw, sizeof(s->header));
	return number(s, SIZE) == PD_FILE_HEADER_SIZE &&
	       number(s, ATTRS_AT) + number(s, ATTRS_SIZE) == number(s, DATA_AT);
}

/* Returns whether the file ends where the header states it: nothing was inserted or removed. */
static bool is_end_stated(struct header_search *s)
{
	memcpy(s->header, s->raw, sizeof(s->header));
	return are_n_features_there(s, &(struct pd_byte_change){ .by = 0 }, count_bits(s));
}

/* Finds the change with the fewest bytes. Returns 0, or -1 and *l->e. */
static int find_header_change(struct header_search *s, struct best_place *best)
{
	const size_t room = s->now.size - PD_FILE_HEADER_SIZE;

	for (size_t n = 1; !best->change.at && n <= MOST; n += n < BLOCK ? 1 : BLOCK)
		if ((n <= room && find_place(s, (int64_t)n, best)) ||
		    (!best->change.at && n < PD_FILE_HEADER_SIZE - SIZE &&
		     find_place(s, -(int64_t)n, best)))
			return -1;
	return 0;
}

int pd_changed_header_restore(const struct pd_loader *l, uint8_t header[PD_FILE_HEADER_SIZE],
			      uint64_t *moved)
{
	struct header_search s = { .loader = l, .attrs_asked = UINT64_MAX,
		.file = { l->source, l->session->swap, l->container->info.size } };
	const int64_t got = pd_source_pread(l->source, 0, s.raw, sizeof(s.raw), l->e);
	struct best_place best = { .count = 0 };
	int err;

	if (got < 0)
		return -1;
	s.now = (struct pd_bytes){ s.raw, (size_t)got };
	if (s.now.size < PD_FILE_HEADER_SIZE || is_end_stated(&s))
		return 0;
	err = find_header_change(&s, &best);
	if (!err && !best.change.at && s.found_attrs && !is_consistent(&s)) {
		s.was_killed = true;
		err = find_header_change(&s, &best);
	}
	if (err || !best.change.at ||
	    memcmp(header, best.header, sizeof(best.header)) == 0)	/* the change is after it */
		return err;
	memcpy(header, best.header, sizeof(best.header));
	*moved = (uint64_t)best.change.by;
	pd_report_moved(l, "header", best.change.at, PD_FILE_HEADER_SIZE, *moved);
	return 1;
}
