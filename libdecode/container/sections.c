/* sections.c - sections, the lists of what was found, and reports of damage. */
#include "container/sections.h"

static struct pd_section *grow_list(struct pd_budget *b, struct pd_section *list, size_t n,
				    size_t *capacity)
{
	size_t bigger = *capacity ? *capacity * 2 : 32;
	struct pd_section *grown;

	if (n < *capacity)
		return list;
	grown = pd_budget_grow(b, list, *capacity * sizeof(*list), bigger * sizeof(*list));
	if (grown)
		*capacity = bigger;
	return grown;
}

int pd_load_no_memory(const struct pd_loader *l)
{
	*l->e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	return -1;
}

int pd_add_section(const struct pd_loader *l, struct pd_section section)
{
	struct pd_container *c = l->container;
	struct pd_section *list = grow_list(l->session->budget, c->sections, c->info.nr_sections,
					    &c->sections_capacity);

	if (!list)
		return pd_load_no_memory(l);
	c->sections = list;
	list[c->info.nr_sections++] = section;
	c->info.sections = list;
	return 0;
}

int pd_note_range(const struct pd_loader *l, const char *name, uint64_t offset, uint64_t size)
{
	struct pd_container *c = l->container;
	struct pd_section *list = grow_list(l->session->budget, c->ranges, c->nr_ranges,
					    &c->ranges_capacity);

	if (!list)
		return pd_load_no_memory(l);
	c->ranges = list;
	list[c->nr_ranges++] = (struct pd_section){ .name = name, .offset = offset, .size = size };
	return 0;
}

bool pd_claim_section(const struct pd_container *c, uint64_t *sum,
		      const struct pd_section *section)
{
	uint64_t size = section->size;

	if (!c->info.size_known || section->offset >= c->info.size)
		return true;
	if (size > c->info.size - section->offset)
		size = c->info.size - section->offset;
	if (size > c->info.size - *sum)
		return false;
	*sum += size;
	return true;
}

struct pd_section pd_section_load(const uint8_t *p, enum pd_swap swap)
{
	return (struct pd_section){ .offset = pd_load64(p, swap), .size = pd_load64(p + 8, swap) };
}

/* Returns room for exactly n bytes: sections may be large, and their sizes are known. */
static uint8_t *reserve_exactly(struct pd_buf *out, uint64_t n)
{
	if (out->data && n <= out->capacity)
		return out->data;
	pd_buf_free(out);
	out->data = n <= SIZE_MAX ? pd_budget_alloc(out->budget, (size_t)n) : NULL;
	out->capacity = out->data ? (size_t)n : 0;
	return out->data;
}

int pd_section_read(struct pd_source *source, const struct pd_section *section, struct pd_buf *out,
		    struct pd_error *e)
{
	uint64_t file_size = UINT64_MAX, size = section->size;
	uint8_t *room;
	int64_t got;

	out->size = 0;
	pd_source_size(source, &file_size);
	if (section->offset >= file_size)
		return 0;
	if (size > file_size - section->offset)
		size = file_size - section->offset;
	room = reserve_exactly(out, size);
	if (!room) {
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED,
			.offset = section->offset,
			.record = section->name, .want = size };
		return -1;
	}
	got = pd_source_pread(source, section->offset, room, (size_t)size, e);
	if (got < 0)
		return -1;
	out->size = (size_t)got;
	return 0;
}

int pd_section_read_needed(const struct pd_loader *l, const struct pd_section *section,
			   struct pd_buf *out)
{
	if (pd_section_read(l->source, section, out, l->e) == 0)
		return 0;
	return l->e->code == PD_E_IO ? -1 : pd_load_no_memory(l);
}

void pd_report_damage(const struct pd_loader *l, enum pd_code code, const char *record,
		      uint64_t offset, uint64_t want, uint64_t have)
{
	l->report->error(l->report->ctx, &(struct pd_error){
		.code = code, .severity = PD_DAMAGED, .record = record, .offset = offset,
		.want = want, .have = have });
}

void pd_report_moved(const struct pd_loader *l, const char *record, uint64_t offset, uint64_t want,
		     uint64_t moved)
{
	const bool lacks_bytes = moved > INT64_MAX;

	l->container->info.complete = false;
	l->report->error(l->report->ctx, &(struct pd_error){
		.code = PD_E_SIZE, .severity = PD_DAMAGED, .record = record, .offset = offset,
		.want = want, .have = lacks_bytes && -moved > want ? 0 : want + moved,
		.text = lacks_bytes ?
				"bytes of it are missing: what follows is before its offset" :
				"bytes were inserted into it: what follows is after its offset" });
}

void pd_report_short(const struct pd_loader *l, const char *section, uint64_t offset, uint64_t want,
		     uint64_t have)
{
	l->container->info.complete = false;
	pd_report_damage(l, PD_E_TRUNCATED, section, offset, want, have);
}
