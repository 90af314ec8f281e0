/* reader_stitch.c - stitches the call stacks of a recording. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "model/history_branches.h"
#include "model/history_stitch.h"
#include "reader/reader_internal.h"

#define DEFAULT_CALLS 127

/* How many branches a CPU keeps, as the capabilities of its PMUs state it. */
struct capabilities {
	bool is_branches;		/* the name before */
	uint64_t registers;		/* 0: not stated, or different PMUs differ */
	bool differ;
};

static void see_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	struct capabilities *c = ctx;
	char digits[16] = "";
	uint64_t value;

	if (strcmp(f->name, "value") != 0) {
		c->is_branches = text.size == 8 && memcmp(text.data, "branches", 8) == 0;
		return;
	}
	if (!c->is_branches || !text.size || text.size >= sizeof(digits))
		return;
	memcpy(digits, text.data, text.size);
	value = strtoul(digits, NULL, 10);
	c->differ |= c->registers && value != c->registers;
	c->registers = value;
}

static void read_feature(struct pd_reader *r, size_t i, struct capabilities *c)
{
	static const struct pd_visitor v = { .size = sizeof(v), .text = see_text };
	struct pd_extent_of extent;
	struct pd_feature f;
	struct pd_error ignored;
	struct pd_plan *plan;

	if (pd_reader_feature(r, i, &f, &ignored))
		return;
	plan = pd_session_feature_plan(&r->session, pd_feature_desc(f.id));
	if (!plan)
		return;
	pd_measure(plan, f.bytes, 0, r->session.swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, f.bytes, 0, r->session.swap, &extent, &v, c);
}

/* Returns how many branches the recorded CPU keeps, or 0. */
static uint32_t find_registers(struct pd_reader *r)
{
	struct capabilities c = { .registers = 0 };

	for (size_t i = 0; i < pd_reader_nr_features(r); i++)
		if (pd_reader_feature_id(r, i) == PD_FEATURE_CPU_PMU_CAPS ||
		    pd_reader_feature_id(r, i) == PD_FEATURE_PMU_CAPS)
			read_feature(r, i, &c);
	return c.differ || c.registers > PD_STITCH_REGISTERS_MAX ? 0 : (uint32_t)c.registers;
}

static int fail_stitch(struct pd_error *e, enum pd_code code, const char *text)
{
	*e = (struct pd_error){ .code = code, .severity = PD_DAMAGED, .text = text };
	return -1;
}

/* Makes the stitcher when the first sample with a call stack comes: a pipe's features are known
 * by then. */
static int start_stitching(struct pd_history *h, struct pd_reader *r, uint32_t max_frames,
			   struct pd_error *e)
{
	const uint32_t registers = find_registers(r);

	if (!registers)
		return fail_stitch(e, PD_E_ARGUMENT,
				   "the recording does not state how many branches its CPU keeps");
	h->stitcher = pd_stitcher_new(h, registers, max_frames ? max_frames : DEFAULT_CALLS);
	return h->stitcher ? 0 : fail_stitch(e, PD_E_NOMEM, NULL);
}

int pd_history_stitch(struct pd_history *h, struct pd_reader *r, uint32_t max_frames,
		      struct pd_error *e)
{
	const struct pd_record *record;
	struct pd_error ignored;

	e = pd_error_or(e, &ignored);
	if (!h || !r || !h->is_sealed || h->stitcher)
		return pd_refuse(e, "no sealed history that is not stitched, or no reader");
	while (pd_reader_next(r, &record, &ignored) == 1) {
		if (record->frame.type != PD_RECORD_SAMPLE ||
		    !pd_attr_has_call_stacks(record->attr))
			continue;
		if (!h->stitcher && start_stitching(h, r, max_frames, e))
			return -1;
		if (pd_stitcher_add(h->stitcher, record))
			return fail_stitch(e, PD_E_LIMIT,
					   "the memory limit is too low to stitch all call stacks");
	}
	return h->stitcher ? 0 :
		fail_stitch(e, PD_E_ARGUMENT, "the recording has no call stacks in branches");
}
