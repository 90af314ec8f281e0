/* session.c - the events of a recording, their ids and plans. session_update.c updates it from
 * features. */
#include "session/session.h"

#include <string.h>

#include "layout/event_name.h"
#include "layout/names_tables.h"
#include "pd/enums.h"
#include "plan/extract.h"

#define MAX_MISC_BITS 4
#define LEAST_SAMPLE_ID 16	/* bytes, of other recorders: all ask for TID and TIME */

int pd_session_init(struct pd_session *s, struct pd_budget *budget, enum pd_swap swap)
{
	const struct pd_facts none = { .cpus_available = 0 };

	*s = (struct pd_session){
		.budget = budget, .swap = swap, .arena.budget = budget, .ids.budget = budget,
		.bodies.budget = budget, .features.budget = budget, .pmus.budget = budget,
		.same_id_at = true, .same_layout = true, .updates = 1,
	};
	s->attr_plan = pd_plan_compile(pd_attr_fields, &none, budget);
	s->file_attr_plan = pd_plan_compile(pd_file_attr_fields, &none, budget);
	s->tracepoints = pd_tracepoints_new(budget);
	return s->attr_plan && s->file_attr_plan && s->tracepoints ? 0 : -1;
}

static void free_plan(void *ctx, uint64_t key, void *value)
{
	(void)ctx, (void)key;
	pd_plan_free(value);
}

static void drop_plans(struct pd_attr *a)
{
	pd_plan_free(a->sample);
	pd_plan_free(a->trailer);
	pd_plan_free(a->read);
	a->sample = a->trailer = a->read = NULL;
}

void pd_session_free(struct pd_session *s)
{
	for (size_t i = 0; i < s->nr_attrs; i++) {
		drop_plans(s->attrs[i]);
		pd_budget_free(s->budget, s->attrs[i]->ids,
			       s->attrs[i]->ids_capacity * sizeof(uint64_t));
	}
	pd_map_each(&s->bodies, free_plan, NULL);
	pd_map_each(&s->features, free_plan, NULL);
	pd_map_free(&s->bodies);
	pd_map_free(&s->features);
	pd_map_free(&s->ids);
	pd_map_free(&s->pmus);
	pd_plan_free(s->attr_plan);
	pd_plan_free(s->file_attr_plan);
	pd_tracepoints_free(s->tracepoints);
	pd_budget_free(s->budget, s->attrs, s->attrs_capacity * sizeof(*s->attrs));
	pd_arena_free(&s->arena);
}

static bool has_only_names(uint64_t value, const struct pd_name *names)
{
	for (const struct pd_name *n = names; n->name; n++)
		value &= ~n->value;
	return !value;
}

static void read_attr(const struct pd_session *s, struct pd_attr *a)
{
	const struct pd_extract extracts[] = {
		{ "attr", "type", &a->type },
		{ "attr", "config", &a->config },
		{ "attr", "config1", &a->config1 },
		{ "attr", "config2", &a->config2 },
		{ "attr", "bp_addr", &a->bp_addr },
		{ "attr", "bp_len", &a->bp_len },
		{ "attr", "bp_type", &a->bp_type },
		{ "attr", "sample_period", &a->sample_period },
		{ "attr", "sample_type", &a->sample_type },
		{ "attr", "read_format", &a->read_format },
		{ "attr", "branch_sample_type", &a->branch_sample_type },
		{ "attr", "sample_regs_user", &a->regs_user },
		{ "attr", "sample_regs_intr", &a->regs_intr },
		{ "attr", "flags", &a->flags },
		{ "attr", "clockid", &a->clockid },
	};

	a->clockid = PD_CLOCK_PERF;

	pd_extract(s->file_attr_plan, a->bytes, s->swap, extracts,
		   sizeof(extracts) / sizeof(*extracts));
	a->precise_ip = a->flags >> 15 & 3;
	a->has_known_layout = has_only_names(a->sample_type, pd_names_sample_type) &&
			      has_only_names(a->read_format, pd_names_read_format) &&
			      has_only_names(a->branch_sample_type, pd_names_branch_sample_type);
}

static struct pd_facts facts_of(const struct pd_session *s, const struct pd_attr *a)
{
	return (struct pd_facts){
		.sample_type = a->sample_type, .read_format = a->read_format,
		.branch_sample_type = a->branch_sample_type,
		.regs_user = a->regs_user, .regs_intr = a->regs_intr,
		.arch = s->arch, .cpus_available = s->cpus_available,
	};
}

/* Returns the offset of the first of these fields that the plan has. */
static size_t field_offset(const struct pd_plan *plan, const char *first, const char *second)
{
	const struct pd_op *op = pd_plan_find(plan, first);

	if (!op)
		op = pd_plan_find(plan, second);
	return op && op->offset != PD_VARIABLE ? op->offset : PD_NO_OFFSET;
}

int pd_session_plans_of(struct pd_session *s, struct pd_attr *a)
{
	static const struct pd_field nothing[] = { { .kind = PD_END } };
	const struct pd_facts facts = facts_of(s, a);
	size_t at;

	if (a->sample)
		return 0;
	a->sample = pd_plan_compile(pd_sample_fields, &facts, s->budget);
	a->read = pd_plan_compile(pd_record_desc(PD_RECORD_READ)->fields, &facts, s->budget);
	a->trailer = pd_plan_compile(a->flags & PD_ATTR_SAMPLE_ID_ALL ? pd_sample_id_fields :
				     nothing, &facts, s->budget);
	if (!a->sample || !a->read || !a->trailer) {
		drop_plans(a);
		return -1;
	}
	at = field_offset(a->sample, "identifier", "id");
	a->sample_id_at = at == PD_NO_OFFSET ? at : PD_RECORD_HEADER_SIZE + at;
	a->trailer_size = a->trailer->list->size;
	at = field_offset(a->trailer, "identifier", "id");
	a->trailer_id_at = at == PD_NO_OFFSET ? at : a->trailer_size - at;
	return 0;
}

static bool same_layout(const struct pd_attr *a, const struct pd_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type && a->regs_user == b->regs_user &&
	       a->regs_intr == b->regs_intr &&
	       (a->flags & PD_ATTR_SAMPLE_ID_ALL) == (b->flags & PD_ATTR_SAMPLE_ID_ALL);
}

static bool same_id_at(const struct pd_attr *a, const struct pd_attr *b)
{
	return a->sample_id_at == b->sample_id_at && a->trailer_id_at == b->trailer_id_at;
}

/* Keeps one event for each way to place ids. */
static void add_place(struct pd_session *s, struct pd_attr *a)
{
	s->same_id_at &= same_id_at(s->attrs[0], a);
	for (size_t i = 0; i < s->nr_places; i++)
		if (same_id_at(s->places[i], a))
			return;
	if (s->nr_places < PD_ID_PLACES)
		s->places[s->nr_places++] = a;
}

/* A dummy stands for records other than samples; what only counts is read with another event. */
static bool has_samples(const struct pd_attr *a)
{
	return !(a->type == PD_TYPE_SOFTWARE && a->config == PD_COUNT_SW_DUMMY) &&
	       (a->sample_period || a->flags & PD_ATTR_FREQ);
}

static void note_sampling(struct pd_session *s, struct pd_attr *a)
{
	if (has_samples(a))
		s->sampling = s->nr_sampling++ ? NULL : a;
}

static int reserve_attr(struct pd_session *s)
{
	size_t capacity = s->attrs_capacity ? s->attrs_capacity * 2 : 8;
	struct pd_attr **attrs;

	if (s->nr_attrs < s->attrs_capacity)
		return 0;
	attrs = pd_budget_grow(s->budget, s->attrs, s->attrs_capacity * sizeof(*attrs),
			       capacity * sizeof(*attrs));
	if (!attrs)
		return -1;
	s->attrs = attrs;
	s->attrs_capacity = capacity;
	return 0;
}

struct pd_attr *pd_session_add_attr(struct pd_session *s, struct pd_bytes bytes)
{
	struct pd_attr *a = pd_arena_alloc(&s->arena, sizeof(*a));
	uint8_t *copy = pd_arena_alloc(&s->arena, bytes.size);

	if (!a || !copy || reserve_attr(s))
		return NULL;
	if (bytes.size)
		memcpy(copy, bytes.data, bytes.size);
	*a = (struct pd_attr){ .index = (uint32_t)s->nr_attrs, .bytes = { copy, bytes.size } };
	read_attr(s, a);
	if (pd_session_plans_of(s, a))
		return NULL;
	s->attrs[s->nr_attrs++] = a;
	s->same_layout &= same_layout(s->attrs[0], a);
	add_place(s, a);
	note_sampling(s, a);
	return a;
}

void pd_session_compare_events(struct pd_session *s)
{
	s->same_id_at = s->same_layout = true;
	s->nr_places = s->nr_sampling = 0;
	s->sampling = NULL;
	for (size_t i = 0; i < s->nr_attrs; i++) {
		s->same_layout &= same_layout(s->attrs[0], s->attrs[i]);
		add_place(s, s->attrs[i]);
		note_sampling(s, s->attrs[i]);
	}
}

int pd_session_restore_attr(struct pd_session *s, struct pd_attr *a, struct pd_bytes bytes)
{
	const size_t both = bytes.size < a->bytes.size ? bytes.size : a->bytes.size;
	uint8_t *copy = pd_arena_alloc(&s->arena, a->bytes.size);

	if (!copy)
		return -1;
	memset(copy, 0, a->bytes.size);
	memcpy(copy, bytes.data, both);
	a->bytes.data = copy;
	a->is_restored = true;
	read_attr(s, a);
	drop_plans(a);
	return pd_session_plans_of(s, a);
}

bool pd_session_has_copies(const struct pd_session *s)
{
	for (size_t i = 0; i < s->nr_attrs; i++)
		if (s->attrs[i]->copy.size)
			return true;
	return false;
}

int pd_session_exchange_copies(struct pd_session *s)
{
	for (size_t i = 0; i < s->nr_attrs; i++) {
		struct pd_attr *a = s->attrs[i];
		const struct pd_bytes own = a->bytes;
		const bool was_restored = a->is_restored;

		if (!a->copy.size)
			continue;
		if (pd_session_restore_attr(s, a, a->copy))
			return -1;
		a->copy = own;
		a->is_restored = !was_restored;
	}
	pd_session_compare_events(s);
	return 0;
}

int pd_session_add_id(struct pd_session *s, struct pd_attr *a, uint64_t id)
{
	if (a->nr_ids == a->ids_capacity) {
		size_t bigger = a->ids_capacity ? 2 * a->ids_capacity : 4;
		uint64_t *ids = pd_budget_grow(s->budget, a->ids, a->ids_capacity * sizeof(id),
					       bigger * sizeof(id));

		if (!ids)
			return -1;
		a->ids = ids;
		a->ids_capacity = bigger;
	}
	a->ids[a->nr_ids++] = id;
	return pd_map_add(&s->ids, id, a);
}

void pd_session_move_id(struct pd_session *s, uint64_t id, struct pd_attr *to)
{
	pd_map_replace(&s->ids, id, to);
	s->last.attr = NULL;
}

struct pd_attr *pd_session_by_id(const struct pd_session *s, uint64_t id)
{
	return pd_map_find(&s->ids, id);
}

void pd_session_rename(struct pd_session *s, struct pd_attr *a, struct pd_bytes name,
		       enum pd_name_from from)
{
	char *copy;

	if (name.size > PD_EVENT_NAME_MAX) {
		name.size = PD_EVENT_NAME_MAX;
		while (name.size && (name.data[name.size] & 0xc0) == 0x80)	/* do not cut a
										 * UTF-8 sequence */
			name.size--;
	}
	if (a->name && strlen(a->name) == name.size &&
	    memcmp(a->name, name.data, name.size) == 0) {
		a->name_from = from == PD_NAME_IMPLIED ? a->name_from : from;
		return;
	}
	copy = pd_arena_text(&s->arena, name.data, name.size);
	if (!copy)
		return;
	a->name = copy;
	if (from != PD_NAME_IMPLIED)
		a->name_from = from;
	a->generation++;
	s->renames++;
}

/* Returns the body's plan for that key; compiles it at the first use. */
static struct pd_plan *body_plan(struct pd_session *s, const struct pd_record_desc *d, uint64_t key,
				 const struct pd_facts *facts)
{
	struct pd_plan *plan = pd_map_find(&s->bodies, key);

	if (plan)
		return plan;
	plan = pd_plan_compile(d->fields, facts, s->budget);
	if (plan && pd_map_add(&s->bodies, key, plan) < 0) {
		pd_plan_free(plan);
		return NULL;
	}
	return plan;
}

struct pd_plan *pd_session_body_plan(struct pd_session *s, const struct pd_record_desc *d)
{
	return body_plan(s, d, d->type, &(struct pd_facts){ .arch = s->arch });
}

/* Compiles a plan for these misc bits. If the layout depends on many bits, uses the general plan:
 * there would be too many. */
static __attribute__((noinline)) const struct pd_plan *
compile_for_misc(struct pd_session *s, const struct pd_record_desc *d, uint16_t misc)
{
	const struct pd_plan *plan = pd_session_body_plan(s, d);
	const uint16_t mask =
		plan && __builtin_popcount(plan->misc_bits) <= MAX_MISC_BITS ? plan->misc_bits : 0;
	const struct pd_facts facts = { .arch = s->arch, .knows_misc = true, .misc = misc & mask };

	if (mask)
		plan = body_plan(s, d, d->type | 1ull << 32 | (uint64_t)facts.misc << 33, &facts);
	if (d->type < PD_PLAN_CACHE)
		s->plan_cache[d->type] = (struct pd_plan_cache){ plan, mask, facts.misc };
	return plan;
}

const struct pd_plan *pd_session_record_plan(struct pd_session *s, const struct pd_record_desc *d,
					     uint16_t misc)
{
	if (d->type < PD_PLAN_CACHE) {
		const struct pd_plan_cache *last = &s->plan_cache[d->type];

		if (last->plan && (misc & last->mask) == last->bits)
			return last->plan;
	}
	return compile_for_misc(s, d, misc);
}

struct pd_plan *pd_session_feature_plan(struct pd_session *s, const struct pd_feature_desc *d)
{
	const struct pd_facts facts = { .arch = s->arch, .cpus_available = s->cpus_available };
	const uint64_t key = (uint64_t)d->id << 32 | s->cpus_available;
	struct pd_plan *plan = pd_map_find(&s->features, key);

	if (plan)
		return plan;
	plan = pd_plan_compile(d->field, &facts, s->budget);
	if (plan && pd_map_add(&s->features, key, plan) < 0) {
		pd_plan_free(plan);
		return NULL;
	}
	return plan;
}

bool pd_session_utc(const struct pd_session *s, const struct pd_attr *a, uint64_t time,
		    uint64_t *ns)
{
	int64_t since;

	if (a->clockid == PD_CLOCK_REALTIME) {
		*ns = time;
		return time != 0;
	}
	/* synthesized records have no time: 0 */
	return time && s->clock_data.is_known && a->clockid == s->clock_data.clockid &&
	       !__builtin_sub_overflow(time, s->clock_data.clock_ns, &since) &&
	       !__builtin_add_overflow(s->clock_data.wall_ns, since, ns);
}

uint64_t pd_session_payload(struct pd_session *s, const struct pd_record_desc *d,
			    struct pd_bytes record)
{
	struct pd_bytes body = { record.data + PD_RECORD_HEADER_SIZE,
				 record.size - PD_RECORD_HEADER_SIZE };
	struct pd_cursor c = pd_cursor(body, s->swap);
	const struct pd_op *op;
	struct pd_plan *plan;
	uint64_t size;

	if (!d || !d->payload)
		return 0;
	plan = pd_session_body_plan(s, d);
	op = plan ? pd_plan_find(plan, d->payload) : NULL;
	if (!op || op->offset == PD_VARIABLE || !pd_take(&c, op->offset) ||
	    !pd_take_number(&c, op->width, &size))
		return 0;
	/* simpleperf writes the data inside the record */
	if (op->offset == 0 && op->width == 4 && size && size <= pd_left(&c))
		return 0;
	return size;
}

static bool read_id_at(struct pd_bytes record, size_t at, enum pd_swap swap, uint64_t *id)
{
	struct pd_cursor c = pd_cursor(record, swap);

	return at != PD_NO_OFFSET && pd_take(&c, at) && pd_take_number(&c, 8, id);
}

bool pd_session_sample_time(const struct pd_session *s, const struct pd_attr *a,
			    struct pd_bytes record, uint64_t *time)
{
	const struct pd_op *op = a->sample->hot[PD_HOT_TIME];

	return op && read_id_at(record, PD_RECORD_HEADER_SIZE + op->offset, s->swap, time);
}

/* Returns where the record's fields end by themselves, or PD_NO_OFFSET if they don't match. */
static size_t fields_end(struct pd_session *s, const struct pd_record_desc *d,
			 struct pd_bytes record)
{
	const struct pd_bytes body = { record.data + PD_RECORD_HEADER_SIZE,
				       record.size - PD_RECORD_HEADER_SIZE };
	const struct pd_plan *plan = pd_session_body_plan(s, d);
	struct pd_extent_of extent;

	if (!plan)
		return PD_NO_OFFSET;
	pd_measure(plan, body, 0, s->swap, PD_TEXT_ALIGNED, &extent);
	return extent.code == PD_OK ? PD_RECORD_HEADER_SIZE + extent.end : PD_NO_OFFSET;
}

bool pd_session_is_followed(const struct pd_session *s, const struct pd_attr *a,
			    struct pd_bytes sample_id, size_t rest)
{
	const bool is_multiple = rest % a->trailer_size == 0;
	uint64_t id;

	if (a->trailer_id_at == PD_NO_OFFSET || !s->ids.used)
		return is_multiple && !pd_all_zero(sample_id);
	return (is_multiple || (rest % 8 == 0 && rest >= LEAST_SAMPLE_ID)) &&
	       read_id_at(sample_id, a->trailer_size - a->trailer_id_at, s->swap, &id) &&
	       pd_session_by_id(s, id);
}

size_t pd_session_trailer_at(struct pd_session *s, const struct pd_attr *a, uint32_t type,
			     struct pd_bytes record)
{
	const struct pd_record_desc *d = pd_record_desc(type);
	size_t last, at;

	if (record.size < PD_RECORD_HEADER_SIZE + a->trailer_size)
		return PD_NO_OFFSET;
	last = record.size - a->trailer_size;
	if (!d || !d->oversized || !a->trailer_size)
		return last;
	at = fields_end(s, d, record);
	return at < last &&
	       pd_session_is_followed(s, a, (struct pd_bytes){ record.data + at, a->trailer_size },
				      last - at) ? at : last;
}

bool pd_session_id_of(struct pd_session *s, const struct pd_attr *a, uint32_t type,
		      struct pd_bytes record, uint64_t *id)
{
	size_t trailer;

	if (type == PD_RECORD_SAMPLE)
		return read_id_at(record, a->sample_id_at, s->swap, id);
	if (a->trailer_id_at == PD_NO_OFFSET)
		return false;
	trailer = pd_session_trailer_at(s, a, type, record);
	return trailer != PD_NO_OFFSET &&
	       read_id_at(record, trailer + a->trailer_size - a->trailer_id_at, s->swap, id);
}

/* Finds the event of a record if events place their ids differently: the one whose id is where that
 * event places it. There are few ways to place ids. */
static struct pd_attr *find_by_place(struct pd_session *s, uint32_t type,
				     struct pd_bytes record)
{
	for (size_t i = 0; i < s->nr_places; i++) {
		struct pd_attr *a;
		uint64_t id;

		if (!pd_session_id_of(s, s->places[i], type, record, &id))
			continue;
		a = pd_session_by_id(s, id);
		if (a && same_id_at(a, s->places[i]))
			return a;
	}
	return NULL;
}

/* An id that no event has. Linux 6.18 was seen to write that of another recorder's event where both
 * count the same software event, such as page-faults. */
static enum pd_found find_without_id(const struct pd_session *s, uint32_t type,
				     struct pd_attr **out)
{
	if (type != PD_RECORD_SAMPLE || !s->sampling)
		return s->same_layout ? PD_FOUND_LAYOUT : PD_NOT_FOUND;
	*out = s->sampling;
	return PD_FOUND;
}

enum pd_found pd_session_attr_of(struct pd_session *s, uint32_t type, struct pd_bytes record,
				 struct pd_attr **out)
{
	const size_t first_attr = s->first_attr < s->nr_attrs ? s->first_attr : 0;
	struct pd_attr *first = s->nr_attrs ? s->attrs[first_attr] : NULL, *found = NULL;
	uint64_t id = 0;

	*out = first;
	if (!first || type >= PD_RECORD_USER_START)
		return PD_NOT_FOUND;
	if (s->nr_attrs == 1 || pd_session_only_event(s))
		return PD_FOUND;
	if (type == PD_RECORD_SAMPLE && (found = pd_session_last_event(s, record))) {
		*out = found;
		return PD_FOUND;
	}
	if (type != PD_RECORD_SAMPLE && !(first->flags & PD_ATTR_SAMPLE_ID_ALL) && s->same_id_at)
		return PD_FOUND;
	if (!s->same_id_at) {
		found = find_by_place(s, type, record);
		if (found)
			*out = found;
		if (found || (pd_session_id_of(s, first, type, record, &id) && id == 0))
			return PD_FOUND;
		return find_without_id(s, type, out);
	}
	if (!pd_session_id_of(s, first, type, record, &id) || id == 0)
		return PD_FOUND;
	found = pd_session_by_id(s, id);
	if (!found)
		return find_without_id(s, type, out);
	if (type == PD_RECORD_SAMPLE) {
		s->last.id = id;
		s->last.attr = found;
	}
	*out = found;
	return PD_FOUND;
}

enum pd_code pd_session_check_feature(struct pd_session *s, uint32_t id, struct pd_bytes section,
				      struct pd_extent_of *extent)
{
	const struct pd_feature_desc *d = pd_feature_desc(id);
	struct pd_plan *plan = d && section.size ? pd_session_feature_plan(s, d) : NULL;

	*extent = (struct pd_extent_of){ .code = PD_OK };
	if (plan)
		pd_measure(plan, section, 0, s->swap, PD_TEXT_TO_END, extent);
	return extent->code;
}
