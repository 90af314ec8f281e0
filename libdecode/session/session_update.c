/* session_update.c - updates the session from features and perf's own records, by their layouts. */
#include "session/event_desc.h"

#include <string.h>

#include "plan/extract.h"

#define MAX_ARCH_CHANGES 4	/* each compiles the plans again; no machine has more than one */

static bool is_named(const struct pd_field *f, const char *name)
{
	return strcmp(f->name, name) == 0;
}

static struct pd_bytes body_of(struct pd_bytes record)
{
	return (struct pd_bytes){ record.data + PD_RECORD_HEADER_SIZE,
				  record.size - PD_RECORD_HEADER_SIZE };
}

static void visit_fields(struct pd_session *s, const struct pd_plan *plan, struct pd_bytes body,
		  const struct pd_visitor *v, void *ctx)
{
	struct pd_extent_of extent;

	pd_measure(plan, body, 0, s->swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, body, 0, s->swap, &extent, v, ctx);
}

/* TRACING_DATA: formats of tracepoints, by system. */
struct tracing {
	struct pd_session *s;
	struct pd_bytes system;
	unsigned int long_size;
	enum pd_swap swap;
	bool in_formats;
	struct pd_bytes section;
	uint64_t offset;
};

static void tracing_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct tracing *t = ctx;

	if (is_named(f, "byte_order"))
		t->swap = (value != 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ?
				  PD_SWAP_YES :
				  PD_SWAP_NO;
	else if (is_named(f, "long_size"))
		t->long_size = (unsigned int)value;
}

static void tracing_enter_array(void *ctx, const struct pd_field *f, size_t n)
{
	struct tracing *t = ctx;

	(void)n;
	if (is_named(f, "ftrace_formats"))
		t->system = (struct pd_bytes){ (const uint8_t *)"ftrace", 6 };
	t->in_formats = is_named(f, "formats") || is_named(f, "ftrace_formats");
}

static void tracing_leave_array(void *ctx, const struct pd_field *f)
{
	(void)f;
	((struct tracing *)ctx)->in_formats = false;
}

/* Adds a tracepoint format. Reports it if it is damaged: its samples then lack fields. */
static void add_format(struct tracing *t, struct pd_bytes text)
{
	struct pd_tp_damage damage = { 0, 0 };
	const enum pd_code code = pd_tracepoints_add(t->s->tracepoints,
			&(struct pd_tp_source){ t->system, text, t->long_size, t->swap }, &damage);

	if (code == PD_E_DUPLICATE || (code == PD_OK && !damage.lines) || !t->s->report)
		return;
	t->s->report(t->s->report_ctx, &(struct pd_error){
		.code = code == PD_OK ? PD_E_FORMAT : code, .severity = PD_DAMAGED,
		.record = "TRACING_DATA",
		.field = "formats",
		.offset = t->offset + (uint64_t)(text.data - t->section.data) + damage.offset });
}

static void tracing_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	struct tracing *t = ctx;

	if (is_named(f, "name"))
		t->system = text;
	else if (t->in_formats)
		add_format(t, text);
}

static void update_tracing(struct pd_session *s, const struct pd_plan *plan,
			   struct pd_bytes section, uint64_t offset)
{
	static const struct pd_visitor v = {
		.size = sizeof(v), .number = tracing_number, .text = tracing_text,
		.enter_array = tracing_enter_array, .leave_array = tracing_leave_array,
	};
	struct tracing t = { .s = s, .long_size = 8, .swap = s->swap, .section = section,
		.offset = offset };

	visit_fields(s, plan, section, &v, &t);
}

/* PMU_MAPPINGS: attr types above the kernel's fixed ones. */
struct pmus {
	struct pd_session *s;
	uint64_t type;
};

static void pmu_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	(void)f;
	((struct pmus *)ctx)->type = value;
}

static void pmu_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	struct pmus *p = ctx;
	char *name = pd_arena_text(&p->s->arena, text.data, text.size);

	(void)f;
	if (name)
		pd_map_add(&p->s->pmus, p->type, name);
}

/* Sets the machine. Register names depend on it, so plans with registers are compiled again. */
static void set_arch(struct pd_session *s, const struct pd_arch *arch)
{
	if (!arch || arch == s->arch || s->arch_changes == MAX_ARCH_CHANGES)
		return;
	s->arch = arch;
	s->arch_changes++;
	for (size_t i = 0; i < s->nr_attrs; i++) {
		struct pd_attr *a = s->attrs[i];
		struct pd_attr old = *a;

		if (!(a->regs_user | a->regs_intr))
			continue;
		a->sample = a->trailer = a->read = NULL;
		if (pd_session_plans_of(s, a)) {
			*a = old;
			continue;
		}
		pd_plan_free(old.sample);
		pd_plan_free(old.trailer);
		pd_plan_free(old.read);
	}
}

static void arch_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	(void)f;
	set_arch(ctx, pd_arch_find(text));
}

/* Ignores an incomplete section. */
static void update_clock_data(struct pd_session *s, const struct pd_plan *plan,
			      struct pd_bytes section)
{
	const struct pd_extract extracts[] = {
		{ "CLOCK_DATA", "clockid", &s->clock_data.clockid },
		{ "CLOCK_DATA", "wall_clock_ns", &s->clock_data.wall_ns },
		{ "CLOCK_DATA", "clockid_time_ns", &s->clock_data.clock_ns },
	};

	s->clock_data.clock_ns = 0;
	pd_extract(plan, section, s->swap, extracts, 3);
	s->clock_data.is_known = s->clock_data.clock_ns != 0;
}

void pd_session_update_feature(struct pd_session *s, uint32_t id, struct pd_bytes section,
			       uint64_t offset)
{
	static const struct pd_visitor arch = { .size = sizeof(arch), .text = arch_text };
	static const struct pd_visitor pmu = { .size = sizeof(pmu), .number = pmu_number,
		.text = pmu_text };
	const struct pd_feature_desc *d = pd_feature_desc(id);
	struct pd_plan *plan = d ? pd_session_feature_plan(s, d) : NULL;
	uint64_t number = 0;

	if (!plan)
		return;
	s->updates++;
	switch (id) {
	case PD_FEATURE_TRACING_DATA:
		update_tracing(s, plan, section, offset);
		break;
	case PD_FEATURE_ARCH:
		visit_fields(s, plan, section, &arch, s);
		break;
	case PD_FEATURE_NRCPUS:
		pd_extract(plan, section, s->swap,
			   &(struct pd_extract){ "NRCPUS", "available", &number }, 1);
		s->cpus_available = (uint32_t)number;
		break;
	case PD_FEATURE_EVENT_DESC:
		pd_event_desc_update(s, plan, section, offset);
		break;
	case PD_FEATURE_PMU_MAPPINGS:
		visit_fields(s, plan, section, &pmu, &(struct pmus){ .s = s });
		break;
	case PD_FEATURE_COMPRESSED:
		pd_extract(plan, section, s->swap,
			   &(struct pd_extract){ "COMPRESSED", "ratio", &s->compression_ratio }, 1);
		break;
	case PD_FEATURE_CLOCK_DATA:
		update_clock_data(s, plan, section);
		break;
	case PD_FEATURE_E_MACHINE:
		pd_extract(plan, section, s->swap,
			   &(struct pd_extract){ "E_MACHINE", "e_machine", &number }, 1);
		if (!s->arch)
			set_arch(s, pd_arch_of_machine((uint32_t)number));
		break;
	}
}

/* HEADER_ATTR: adds an event. */
static void attr_ids(void *ctx, const struct pd_field *f, const struct pd_numbers *ids)
{
	struct pd_session *s = ctx;
	struct pd_attr *a = s->attrs[s->nr_attrs - 1];

	if (!is_named(f, "ids"))
		return;
	for (size_t i = 0; i < ids->count; i++)
		if (pd_session_add_id(s, a, pd_number_at(ids, i)) < 0)
			return;
}

/* Returns the size of an attribute that states an impossible one: that of the event before, if any,
 * since all of a recorder have the same. */
static size_t guess_attr_size(const struct pd_session *s, size_t most)
{
	const size_t before = s->nr_attrs ? s->attrs[s->nr_attrs - 1]->bytes.size : most;

	return before < most ? before : most;
}

/* Returns the attribute with a possible size; as it is if it is too short for any. */
static struct pd_bytes correct_attr_size(struct pd_session *s, struct pd_bytes attr)
{
	uint8_t *copy = attr.size < PD_ATTR_SIZE_VER0 ? NULL : pd_arena_alloc(&s->arena, attr.size);

	if (!copy)
		return attr;
	memcpy(copy, attr.data, attr.size);
	pd_store(copy + PD_ATTR_SIZE_AT, attr.size, 4, s->swap);
	return (struct pd_bytes){ copy, attr.size };
}

/* Adds an event whose attribute states an impossible size, so that the plan finds no ids. */
static int add_attr_of_wrong_size(struct pd_session *s, struct pd_bytes body)
{
	const size_t size = guess_attr_size(s, body.size);
	const struct pd_bytes stated = { body.data, size }, bytes = correct_attr_size(s, stated);
	struct pd_attr *a = pd_session_add_attr(s, bytes);

	if (!a)
		return -1;
	a->has_wrong_size = bytes.data != stated.data;
	for (size_t at = size; at + sizeof(uint64_t) <= body.size; at += sizeof(uint64_t))
		if (pd_session_add_id(s, a, pd_load64(body.data + at, s->swap)) < 0)
			return -1;
	return 0;
}

/* Returns the event of the record, which EVENT_DESC has added before, or NULL. */
static struct pd_attr *find_added(const struct pd_session *s, struct pd_bytes body, size_t size)
{
	struct pd_attr *a = body.size - size < sizeof(uint64_t) ? NULL :
		pd_session_by_id(s, pd_load64(body.data + size, s->swap));

	return a && a->has_no_record ? a : NULL;
}

/* Defines an event that EVENT_DESC has added, with its ids. Returns 0, or -1 without memory. */
static int define_added(struct pd_session *s, struct pd_attr *a, struct pd_bytes own)
{
	const bool is_same = a->bytes.size == own.size &&
			     memcmp(a->bytes.data, own.data, own.size) == 0;
	const int err = is_same ? 0 : pd_session_restore_attr(s, a, own);

	if (!is_same)
		pd_session_compare_events(s);
	a->has_no_record = a->is_restored = false;
	return err;
}

/* Reports an attribute without a size after others that have one: the record is of another type. */
static void check_attr_size(const struct pd_session *s, struct pd_bytes attr, uint64_t offset)
{
	const struct pd_attr *before =
		s->nr_attrs > s->first_attr ? s->attrs[s->first_attr] : NULL;

	if (before && before->bytes.size >= PD_ATTR_SIZE_VER0 && s->report &&
	    pd_attr_size_load(before->bytes.data, s->swap) &&
	    !pd_attr_size_load(attr.data, s->swap) && !pd_all_zero(attr))
		s->report(s->report_ctx, &(struct pd_error){
			.code = PD_E_SIZE, .severity = PD_DAMAGED, .record = "HEADER_ATTR",
			.field = "attr.size", .offset = offset });
}

static int update_attr(struct pd_session *s, const struct pd_plan *plan, struct pd_bytes body,
		       uint64_t offset)
{
	static const struct pd_visitor v = { .size = sizeof(v), .numbers = attr_ids };
	uint64_t size = body.size < PD_ATTR_SIZE_VER0 ? 0 : pd_attr_size_load(body.data, s->swap);
	struct pd_attr *added;
	struct pd_bytes own;

	if (size == 0)
		size = PD_ATTR_SIZE_VER0;
	if (size > body.size || size < PD_ATTR_SIZE_VER0)
		return add_attr_of_wrong_size(s, body);
	own = (struct pd_bytes){ body.data, (size_t)size };
	check_attr_size(s, own, offset);
	added = find_added(s, body, own.size);
	if (added)
		return define_added(s, added, own);
	if (!pd_session_add_attr(s, own))
		return -1;
	visit_fields(s, plan, body, &v, s);
	return 0;
}

struct update {
	uint64_t type, id;
	struct pd_bytes name;
};

static void update_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	if (is_named(f, "name"))
		((struct update *)ctx)->name = text;
}

static void update_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	if (is_named(f, "id"))
		((struct update *)ctx)->id = value;
}

static void apply_event_update(struct pd_session *s, const struct pd_plan *plan,
			       struct pd_bytes body, uint64_t offset)
{
	static const struct pd_visitor v = { .size = sizeof(v), .text = update_text,
		.number = update_number };
	struct update u = { .type = 0 };
	struct pd_attr *a;

	visit_fields(s, plan, body, &v, &u);
	a = pd_session_by_id(s, u.id);
	if (!a || !u.name.size)
		return;
	pd_session_compare_name(s, a, u.name, &(struct pd_error){ .record = "EVENT_UPDATE",
								  .offset = offset });
	pd_session_rename(s, a, u.name, PD_NAME_FROM_FILE);
}

static void update_feature_record(struct pd_session *s, const struct pd_plan *plan,
				  struct pd_bytes body, uint64_t offset)
{
	const struct pd_op *op = pd_plan_find(plan, "feature");
	uint64_t id = 0;

	pd_extract(plan, body, s->swap, &(struct pd_extract){ "", "feat_id", &id }, 1);
	if (!op || op->offset >= body.size || id >= PD_FEATURE_BITS)
		return;
	pd_session_update_feature(
		s, (uint32_t)id,
		(struct pd_bytes){ body.data + op->offset, body.size - op->offset },
		offset + PD_RECORD_HEADER_SIZE + op->offset);
}

int pd_session_update_record(struct pd_session *s, uint32_t type, struct pd_bytes record,
			     struct pd_bytes payload, uint64_t offset)
{
	const struct pd_record_desc *d = pd_record_desc(type);
	struct pd_plan *plan = d ? pd_session_body_plan(s, d) : NULL;

	if (!plan)
		return d ? -1 : 0;
	switch (type) {
	case PD_RECORD_HEADER_ATTR:
		return update_attr(s, plan, body_of(record), offset);
	case PD_RECORD_EVENT_UPDATE:
		apply_event_update(s, plan, body_of(record), offset);
		break;
	case PD_RECORD_HEADER_FEATURE:
		update_feature_record(s, plan, body_of(record), offset);
		break;
	case PD_RECORD_HEADER_TRACING_DATA:
		if (!payload.size && body_of(record).size > 8)	/* simpleperf writes the data inside
								 * the record */
			payload = (struct pd_bytes){ body_of(record).data + 4,
						     body_of(record).size - 4 };
		pd_session_update_feature(s, PD_FEATURE_TRACING_DATA, payload,
					  offset + record.size);
		break;
	}
	return 0;
}
