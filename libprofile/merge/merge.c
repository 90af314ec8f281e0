/* merge.c - names the addresses and merges the stacks by function. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "merge/by_time.h"
#include "profile/keep.h"
#include "merge/pattern.h"
#include "merge/small.h"
#include "merge/thin.h"
#include "merge/totals.h"
#include "merge/turn.h"

struct merge {
	struct pp_profile *p;
	struct pp_memory *memory;
	struct pp_shape shape;
	struct pp_pattern parent, cut_after;	/* of the shape */
};

/* Functions in which an idle CPU waits, as the kernel's cpuidle drivers name them. */
static const char *const idle_functions[] = {
	"acpi_idle_do_entry", "acpi_idle_enter", "acpi_processor_ffh_cstate_enter", "arch_cpu_idle",
	"cpu_idle", "cpu_startup_entry", "cpuidle_enter", "cpuidle_enter_state", "default_idle",
	"default_idle_call", "do_idle", "intel_idle", "intel_idle_ibrs", "intel_idle_irq",
	"mwait_idle", "mwait_idle_with_hints", "native_safe_halt", "poll_idle",
	"pseries_dedicated_idle_sleep", "psw_idle", "pv_native_safe_halt",
};

static bool is_idle_function(const char *name)
{
	for (size_t i = 0; i < sizeof(idle_functions) / sizeof(*idle_functions); i++)
		if (strcmp(name, idle_functions[i]) == 0)
			return true;
	return false;
}

/* Functions in which the kernel goes to another thread: whoever called them is what waits. */
static const char *const scheduler_functions[] = {
	"__cond_resched", "__schedule", "__schedule_loop", "io_schedule", "io_schedule_timeout",
	"preempt_schedule", "preempt_schedule_common", "preempt_schedule_irq",
	"preempt_schedule_notrace", "preempt_schedule_thunk", "schedule", "schedule_hrtimeout",
	"schedule_hrtimeout_range", "schedule_hrtimeout_range_clock", "schedule_idle",
	"schedule_preempt_disabled", "schedule_rtlock", "schedule_timeout",
	"schedule_timeout_idle", "schedule_timeout_interruptible", "schedule_timeout_killable",
	"schedule_timeout_uninterruptible", "schedule_user",
};

/* A compiler adds endings such as .isra.0 to names. */
static bool is_scheduler_function(const char *name)
{
	const size_t size = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(scheduler_functions) / sizeof(*scheduler_functions); i++)
		if (strncmp(name, scheduler_functions[i], size) == 0 &&
		    !scheduler_functions[i][size])
			return true;
	return false;
}

/* --- functions --- */

static bool is_same_function(const void *ctx, uint32_t id, const void *key)
{
	const struct merge *g = ctx;
	const struct pp_named *have = &g->p->functions[id], *want = key;
	const bool has_place = g->shape.lines == PP_LINES_APART;

	return have->name == want->name && have->image == want->image &&
	       have->kind == want->kind && (!has_place || have->file == want->file) &&
	       ((!has_place && have->kind != PP_KIND_EVENT) || have->line == want->line);
}

/* Returns the string "FILE:LINE", or PP_NONE without memory. */
static uint32_t place_of(struct merge *g, const struct pp_named *f)
{
	char text[4096] = "[no line]";

	if (f->file != PP_NONE && f->line)
		snprintf(text, sizeof(text), "%s:%" PRIu32,
			 (const char *)pp_strings_at(&g->p->strings, f->file).data, f->line);
	return pp_strings_add(&g->p->strings, g->memory, text, strlen(text));
}

static uint32_t add_function(struct merge *g, const struct pp_named *f)
{
	struct pp_profile *p = g->p;
	const bool has_place = g->shape.lines == PP_LINES_APART;
	const uint64_t mixed = pp_index_hash(&p->function_index,
					     (uint64_t)f->name << 32 | f->image);
	const uint32_t hash = (uint32_t)pd_hash_mix(mixed, (uint64_t)f->kind << 32 |
							   (has_place ? f->line : 0));
	const uint32_t found = pp_index_find(&p->function_index, hash, g, f, is_same_function);
	const uint32_t place = found == PP_NONE && has_place ? place_of(g, f) : 0;
	struct pp_named *functions;

	if (found != PP_NONE)
		return found;
	functions = pp_memory_grow(g->memory, p->functions, &p->functions_capacity,
				   p->nr_functions + 1, sizeof(*functions));
	if (!functions)
		return PP_NONE;
	p->functions = functions;
	if (f->name == PP_NONE || f->image == PP_NONE || place == PP_NONE ||
	    pp_index_add(&p->function_index, g->memory, hash, (uint32_t)p->nr_functions))
		return PP_NONE;
	p->functions[p->nr_functions] = *f;
	p->functions[p->nr_functions].place = place;
	return (uint32_t)p->nr_functions++;
}

static uint32_t add_text(struct merge *g, const char *text)
{
	return pp_strings_add(&g->p->strings, g->memory, text, strlen(text));
}

static uint32_t add_step(struct merge *g, uint32_t function, uint32_t line)
{
	struct pp_profile *p = g->p;
	struct pp_step *steps;

	if (function == PP_NONE)
		return PP_NONE;
	steps = pp_memory_grow(g->memory, p->steps, &p->steps_capacity, p->nr_steps + 1,
			       sizeof(*steps));
	if (!steps)
		return PP_NONE;
	p->steps = steps;
	p->steps[p->nr_steps++] = (struct pp_step){ function, line };
	return 0;
}

static const char *last_part(const char *path)
{
	return (const char *)pp_last_part(pp_bytes(path)).data;
}

/* A function without a name is called like its image. */
static uint32_t add_unnamed(struct merge *g, const struct pp_frame *f, struct pp_named named)
{
	const struct pd_image *image = pd_history_image(g->p->options.history, f->at.image);
	char text[512];

	if (!image)
		snprintf(text, sizeof(text), "[unknown]");
	else if (g->shape.unnamed == PP_UNNAMED_ADDRESS)
		snprintf(text, sizeof(text), "[%.400s+0x%llx]", last_part(image->path),
			 (unsigned long long)f->at.file_offset);
	else
		snprintf(text, sizeof(text), "[%.400s]", last_part(image->path));
	named.name = add_text(g, text);
	return add_step(g, add_function(g, &named), 0);
}

static uint32_t name_address(struct merge *g, const struct pp_frame *f)
{
	const struct pd_image *image = pd_history_image(g->p->options.history, f->at.image);
	const struct pd_namer *namer = g->p->options.namer;
	struct pd_frame_names names = { .why = f->at.why };
	struct pp_named named = { .file = PP_NONE, .image_index = f->at.image, .kind = f->kind };

	if (namer)
		namer->frame(namer->ctx, f->pid, &f->at, &names);
	named.image = add_text(g, image ? image->path : "");
	named.why = names.why;
	if (!names.nr_functions && names.why == PD_WHY_FOUND)
		named.why = PD_WHY_NO_SYMBOLS;
	if (!names.nr_functions)
		return add_unnamed(g, f, named);
	named.why = PD_WHY_FOUND;
	for (size_t i = names.nr_functions; i--;) {
		const struct pd_function *function = &names.functions[i];

		const char *symbol = pp_symbol_of(namer, function);

		named.name = add_text(g, symbol ? symbol : "[unknown]");
		named.file = function->file ? add_text(g, function->file) : PP_NONE;
		named.line = function->line;
		if (add_step(g, add_function(g, &named), named.line) == PP_NONE)
			return PP_NONE;
		named.kind = PP_KIND_INLINED;
	}
	return 0;
}

/* Adds the functions of a frame to the steps. */
static uint32_t name_frame(struct merge *g, const struct pp_frame *f)
{
	struct pp_named named = { .name = f->text, .file = PP_NONE, .image = add_text(g, ""),
				  .image_index = PD_NO_IMAGE, .kind = f->kind };

	switch ((enum pp_kind)f->kind) {
	case PP_KIND_IDLE:
		return 0;
	case PP_KIND_CUT:
		if (g->shape.cut == PP_CUT_HIDDEN)
			return 0;
		named.name = add_text(g, "[cut stack]");
		named.kind = PP_KIND_NOTE;
		return add_step(g, add_function(g, &named), 0);
	case PP_KIND_EVENT:
		named.name = add_text(g, g->p->events[f->text].weigher.name);
		named.line = f->text;	/* two events may have the same name */
		return add_step(g, add_function(g, &named), 0);
	case PP_KIND_THREAD:
	case PP_KIND_NOTE:
	case PP_KIND_WAIT:
		return add_step(g, add_function(g, &named), 0);
	default:
		return name_address(g, f);
	}
}

static int name_frames(struct merge *g)
{
	struct pp_profile *p = g->p;

	for (size_t i = 0; i < p->frames.nr; i++) {
		p->first_step[i] = (uint32_t)p->nr_steps;
		if (name_frame(g, &p->frames.items[i]) == PP_NONE)
			return -1;
	}
	p->first_step[p->frames.nr] = (uint32_t)p->nr_steps;
	return 0;
}

/* --- the tree of functions --- */

static const char *name_of(const struct pp_profile *p, uint32_t function)
{
	return (const char *)pp_strings_at(&p->strings, p->functions[function].name).data;
}

static bool is_left_out(const struct merge *g, const struct pp_place *at)
{
	bool is_idle;

	if (g->shape.idle == PP_IDLE_KEEP)
		return false;
	is_idle = at->is_idle && at->leaf != PP_NONE && is_idle_function(name_of(g->p, at->leaf));
	return is_idle == (g->shape.idle == PP_IDLE_DROP);
}

/* Returns whether the shape leaves a function out: its caller counts for it. */
static bool is_hidden(const struct merge *g, const struct pp_place *at, uint32_t function)
{
	if (g->shape.recursion == PP_RECURSION_FOLDED &&
	    g->p->shape.nodes[at->node].frame == function)
		return true;
	if (g->shape.max_depth && g->shape.direction == PP_FROM_ROOT &&
	    at->depth >= g->shape.max_depth)
		return true;
	return at->is_cut;
}

/* Returns whether a function and what it calls counts for its caller, which waits there. */
static bool is_in_scheduler(const struct merge *g, const struct pp_place *at, uint32_t function)
{
	const struct pp_profile *p = g->p;

	return g->shape.waits == PP_WAITS_OF_CALLER && at->is_wait &&
	       p->functions[function].kind == PP_KIND_KERNEL &&
	       p->functions[p->shape.nodes[at->node].frame].kind <= PP_KIND_UNKNOWN &&
	       is_scheduler_function(name_of(p, function));
}

/* Goes to a function below a place. Returns 0, or -1 without memory. */
static int step_down(struct merge *g, struct pp_place *at, uint32_t function)
{
	struct pp_profile *p = g->p;
	const bool is_function = p->functions[function].kind <= PP_KIND_UNKNOWN;

	if (is_function) {
		at->leaf = function;
		if (g->shape.parent && !at->has_parent)
			at->has_parent = pp_pattern_names(&g->parent, p, function);
		at->is_cut |= is_in_scheduler(g, at, function);
		if (is_hidden(g, at, function))
			return 0;
		at->is_cut = pp_pattern_names(&g->cut_after, p, function);
	}
	at->is_wait |= p->functions[function].kind == PP_KIND_WAIT;
	at->depth += is_function;
	at->node = pp_tree_child(&p->shape, g->memory, at->node, function);
	return at->node == PP_NONE ? -1 : 0;
}

/* Returns whether the address is what the kernel takes for one where code keeps no frame
 * pointers. */
static bool is_nowhere(const struct pp_frame *frame)
{
	return frame->kind == PP_KIND_UNKNOWN && frame->at.why == PD_WHY_NO_MAP &&
	       frame->at.cpumode == PD_CPUMODE_USER;
}

/* Threads begin in files: the callers of JIT code without frame pointers are lost. */
static bool is_jit_code(const struct pp_frame *frame)
{
	return frame->kind == PP_KIND_JIT && frame->at.cpumode == PD_CPUMODE_USER &&
	       !(frame->at.flags & PD_LOCATION_DATA);
}

/* The totals are of the samples that are shown, as with a filter. All of them have an address. */
static void leave_out(struct merge *g, size_t i, uint32_t event)
{
	struct pp_profile *p = g->p;

	p->places[i].is_left_out = p->leaves_out = true;
	p->events[event].weight -= p->tree.nodes[i].weight;
	p->events[event].samples -= p->tree.nodes[i].samples;
	p->counts.samples -= p->tree.nodes[i].samples;
	p->counts.no_address = 0;
}

static int merge_node(struct merge *g, size_t i)
{
	struct pp_profile *p = g->p;
	const struct pp_node *node = &p->tree.nodes[i];
	const struct pp_frame *frame = &p->frames.items[node->frame];
	struct pp_place at = { .node = PP_NONE, .event = frame->text, .leaf = PP_NONE };

	if (node->parent != PP_NONE)
		at = p->places[node->parent];
	at.is_left_out = false;	/* the samples of the parent are others */
	at.is_idle |= frame->kind == PP_KIND_IDLE;
	at.is_below_cut |= frame->kind == PP_KIND_CUT;
	if (at.leaf == PP_NONE) {
		at.is_rootless = is_nowhere(frame);
		at.is_jit_root = is_jit_code(frame) && !at.is_below_cut;
	}
	for (uint32_t k = p->first_step[node->frame]; k < p->first_step[node->frame + 1]; k++)
		if (step_down(g, &at, p->steps[k].function))
			return -1;
	p->places[i] = at;
	if (node->parent == PP_NONE)
		p->events[at.event].merged = at.node;
	if (!node->samples)
		return 0;
	if (g->shape.parent && !at.has_parent) {
		leave_out(g, i, at.event);
		return 0;
	}
	if (is_left_out(g, &at)) {
		p->events[at.event].idle_weight += node->weight;
		p->events[at.event].idle_samples += node->samples;
		p->places[i].is_left_out = true;
		*(at.is_idle ? &p->leaves_idle : &p->leaves_out) = true;
		return 0;
	}
	if (at.is_rootless && !is_nowhere(frame))
		p->events[at.event].rootless += node->samples;
	if (at.is_jit_root)
		p->events[at.event].jit_roots += node->samples;
	p->shape.nodes[at.node].weight += node->weight;
	p->shape.nodes[at.node].samples += node->samples;
	return 0;
}

/* Returns whether samples at a place are below no function, and nothing that stands for one. */
static bool has_no_function(const struct pp_profile *p, const struct pp_place *at)
{
	const struct pp_node *node = &p->shape.nodes[at->node];

	return at->leaf == PP_NONE && !pp_is_in_stack(p->functions[node->frame].kind);
}

/* Samples without an address are in a function, too: "[unknown]". Returns 0, or -1 without
 * memory. */
static int name_nowhere(struct merge *g)
{
	struct pp_profile *p = g->p;
	const struct pp_named named = {
		.name = add_text(g, "[unknown]"), .image = add_text(g, ""), .file = PP_NONE,
		.image_index = PD_NO_IMAGE, .kind = PP_KIND_UNKNOWN,
		.why = UINT8_MAX };	/* it was not looked for */

	for (size_t i = 0; i < p->tree.nr; i++) {
		const uint32_t node = pp_node_in_time(p, i), from = p->places[node].node;
		const struct pp_node *n = &p->tree.nodes[node];
		uint32_t function;

		if (!n->samples || p->places[node].is_left_out ||
		    !has_no_function(p, &p->places[node]))
			continue;
		function = add_function(g, &named);
		if (function == PP_NONE || step_down(g, &p->places[node], function))
			return -1;
		p->shape.nodes[from].weight -= n->weight;
		p->shape.nodes[from].samples -= n->samples;
		p->shape.nodes[p->places[node].node].weight += n->weight;
		p->shape.nodes[p->places[node].node].samples += n->samples;
	}
	return 0;
}

static int join_small(struct merge *g)
{
	const struct pp_named small = {
		.name = add_text(g, "[small]"), .image = add_text(g, ""), .file = PP_NONE,
		.image_index = PD_NO_IMAGE, .kind = PP_KIND_NOTE };
	const uint32_t function = add_function(g, &small);

	return function == PP_NONE ? -1 : pp_join_small(g->p, g->shape.min_percent, function);
}

/* Samples that are kept one by one are put in order, as far as there is memory for that. */
static int order_samples(struct pp_profile *p)
{
	if (p->options.keep == PP_KEEP_SUMS || pp_tracks_order(&p->tracks) == 0)
		return 0;
	return pp_keep_none(p);
}

static int merge_all(struct merge *g)
{
	struct pp_profile *p = g->p;
	const size_t nr_frames = p->frames.nr, nr_nodes = p->tree.nr;

	if (order_samples(p) || pp_number_by_time(p))
		return -1;
	pp_index_free(&p->tree.index, g->memory);	/* nothing is added any more */
	pp_index_free(&p->frames.index, g->memory);
	p->first_step = pp_memory_zeroed(g->memory, nr_frames + 1, sizeof(*p->first_step));
	p->places = pp_memory_zeroed(g->memory, nr_nodes, sizeof(*p->places));
	if (!p->first_step || !p->places || name_frames(g))
		return -1;
	g->parent = pp_pattern_of(p, g->shape.parent);
	g->cut_after = pp_pattern_of(p, g->shape.cut_after);
	for (size_t i = 0; i < nr_nodes; i++)
		if (merge_node(g, pp_node_in_time(p, i)))
			return -1;
	if (name_nowhere(g))
		return -1;
	if (g->shape.direction == PP_FROM_LEAF && pp_turn(p, g->shape.max_depth))
		return -1;
	if (g->shape.min_percent > 0 && join_small(g))
		return -1;
	p->idle = g->shape.idle;
	p->nr_merged = p->shape.nr;
	p->one_of = g->shape.one_of > 1 ? g->shape.one_of : 1;
	if (p->one_of > 1 && pp_thin(p, p->one_of))
		return -1;
	p->merged = pp_link(&p->shape, g->memory);
	pp_tree_free(&p->shape, g->memory);
	return p->merged ? 0 : -1;
}

static bool is_shape(const struct pp_shape *s)
{
	return s->idle <= PP_IDLE_ONLY && s->cut <= PP_CUT_SHOWN &&
	       s->unnamed <= PP_UNNAMED_ADDRESS && s->recursion <= PP_RECURSION_FOLDED &&
	       s->direction <= PP_FROM_LEAF && s->lines <= PP_LINES_APART &&
	       s->waits <= PP_WAITS_OF_CALLER;
}

int pp_merge(struct pp_profile *p, const struct pp_shape *shape, struct pd_error *e)
{
	struct merge g = { .p = p };
	struct pd_error unused;
	int ret;

	e = pd_error_or(e, &unused);
	if (!p || p->is_closed)
		return pd_refuse(e, "no profile that is not merged");
	if (!shape || pd_options_take(&g.shape, sizeof(g.shape), shape, shape->size) ||
	    !is_shape(&g.shape))
		return pd_refuse(e, "no shape, or an invalid one");
	p->is_closed = true;
	g.memory = &p->memory;
	ret = merge_all(&g);
	if (ret)
		*e = pp_tracks_error(&p->tracks);
	if (ret && e->code == PD_OK)
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	return ret;
}
