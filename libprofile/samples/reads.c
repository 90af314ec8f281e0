/* reads.c - samples with counter values: what each event of a group counted since the last one. */
#include "samples/reads.h"

#include <string.h>

struct taking {
	struct pp_reads *reads;
	struct pp_memory *memory;
	struct pp_counted now;
	uint64_t own_id;
	bool is_inside, has_value, failed;
};

static void add_value(struct taking *t)
{
	struct pp_reads *r = t->reads;
	struct pp_counted *parts;

	if (!t->has_value)
		return;
	parts = pp_memory_grow(t->memory, r->parts, &r->parts_capacity, r->nr_parts + 1,
			       sizeof(*parts));
	if (!parts) {
		t->failed = true;
		return;
	}
	r->parts = parts;
	r->parts[r->nr_parts++] = t->now;
	t->has_value = false;
}

static void take_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct taking *t = ctx;
	const char *name = pd_field_name(f);

	if (!t->is_inside)
		return;
	if (strcmp(name, "value") == 0) {
		t->now = (struct pp_counted){ t->own_id, value };
		t->has_value = true;
	} else if (strcmp(name, "id") == 0) {
		t->now.id = value;
	} else if (strcmp(name, "time_enabled") == 0) {
		t->reads->enabled = value;
	} else if (strcmp(name, "time_running") == 0) {
		t->reads->running = value;
	}
}

static void enter_object(void *ctx, const struct pd_field *f)
{
	if (f && strcmp(pd_field_name(f), "read") == 0)
		((struct taking *)ctx)->is_inside = true;
}

/* Leaves a member of a group, or the only value. */
static void leave_object(void *ctx, const struct pd_field *f)
{
	struct taking *t = ctx;

	if (t->is_inside)
		add_value(t);
	if (f && strcmp(pd_field_name(f), "read") == 0)
		t->is_inside = false;
}

static bool is_same_counter(const void *ctx, uint32_t i, const void *key)
{
	const struct pp_counter *have = &((const struct pp_counter *)ctx)[i], *want = key;

	return have->id == want->id && have->thread == want->thread;
}

/* Replaces a value by its difference to the last one. */
static int subtract_last(struct pp_reads *r, struct pp_memory *m, struct pp_counted *part,
			 uint64_t thread)
{
	const struct pp_counter now = { part->id, thread, part->value };
	const uint32_t hash = (uint32_t)pd_hash_mix(pp_index_hash(&r->index, now.id), thread);
	uint32_t at = pp_index_find(&r->index, hash, r->counters, &now, is_same_counter);
	struct pp_counter *counters;

	if (at != PP_NONE) {
		/* a counter that was reset begins again */
		if (part->value >= r->counters[at].value)
			part->value -= r->counters[at].value;
		r->counters[at].value = now.value;
		return 0;
	}
	counters = pp_memory_grow(m, r->counters, &r->counters_capacity, r->nr_counters + 1,
				  sizeof(*counters));
	if (!counters)
		return -1;
	r->counters = counters;
	if (pp_index_add(&r->index, m, hash, (uint32_t)r->nr_counters))
		return -1;
	r->counters[r->nr_counters++] = now;
	return 0;
}

int pp_reads_take(struct pp_reads *r, struct pp_memory *m, const struct pd_record *sample,
		  uint64_t id, uint64_t thread)
{
	static const struct pd_visitor visitor = { .size = sizeof(visitor), .number = take_number,
						   .enter = enter_object, .leave = leave_object };
	struct taking t = { .reads = r, .memory = m, .own_id = id };
	size_t kept = 0;

	r->nr_parts = 0;
	r->enabled = r->running = 0;
	pd_record_visit(sample, &visitor, &t);
	for (size_t i = 0; i < r->nr_parts && !t.failed; i++) {
		t.failed = subtract_last(r, m, &r->parts[i], thread) != 0;
		if (r->parts[i].value)
			r->parts[kept++] = r->parts[i];
	}
	r->nr_parts = kept;
	return t.failed ? -1 : 0;
}

void pp_reads_free(struct pp_reads *r, struct pp_memory *m)
{
	pp_memory_free(m, r->counters, r->counters_capacity, sizeof(*r->counters));
	pp_memory_free(m, r->parts, r->parts_capacity, sizeof(*r->parts));
	pp_index_free(&r->index, m);
	*r = (struct pp_reads){ 0 };
}
