/* out_firefox.c - the processed format of the Firefox Profiler, version 60, gzip around it.
 *
 * Samples are those of one event, with the times of all threads; samples of the others are markers.
 * Times are ms from the first record; the wall clock is not known.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/firefox.h"
#include "encoding/json.h"

enum { VISIBLE_THREADS = 15 };

/* --- tables --- */

static bool is_code(const struct pp_profile *p, const struct pp_step *step)
{
	return pp_is_in_stack(p->functions[step->function].kind);
}

static void number_frames(struct pp_firefox *c)
{
	const struct pp_profile *p = c->out->p;

	for (size_t i = 0; i < p->nr_steps; i++)
		if (is_code(p, &p->steps[i]))
			c->frames[i] = ++c->nr_frames;
	for (size_t i = 0; i < p->nr_functions; i++) {
		const uint32_t image = p->functions[i].image_index;

		if (image != PD_NO_IMAGE && !c->libs[image])
			c->libs[image] = ++c->nr_libs;
	}
}

static int add_stack(struct pp_firefox *c, uint32_t prefix, uint32_t frame)
{
	struct pp_firefox_stack *stacks = pp_memory_grow(c->memory, c->stacks, &c->stacks_capacity,
					      c->nr_stacks + 1, sizeof(*stacks));

	if (!stacks)
		return -1;
	c->stacks = stacks;
	c->stacks[c->nr_stacks++] = (struct pp_firefox_stack){ prefix, frame };
	return 0;
}

static int make_stacks(struct pp_firefox *c)
{
	const struct pp_profile *p = c->out->p;

	for (size_t at = 0; at < p->tree.nr; at++) {
		const uint32_t i = pp_node_in_time(p, at);
		const struct pp_node *n = &p->tree.nodes[i];
		uint32_t stack = n->parent == PP_NONE ? 0 : c->stack_of[n->parent];

		for (uint32_t k = p->first_step[n->frame]; k < p->first_step[n->frame + 1]; k++) {
			if (!c->frames[k])
				continue;
			if (add_stack(c, stack, c->frames[k] - 1))
				return -1;
			stack = (uint32_t)c->nr_stacks;
		}
		c->stack_of[i] = stack;
	}
	return 0;
}

/* Writes a column: "name":[...]. `put` writes the value of a row. */
static void put_column(struct pp_firefox *c, const char *name, size_t nr,
		       void (*put)(struct pp_firefox *, size_t))
{
	pp_printf(c->out, ",\"%s\":[", name);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			pp_put(c->out, ",", 1);
		put(c, i);
	}
	pp_put_text(c->out, "]");
}

static void put_null(struct pp_firefox *c, size_t i)
{
	(void)i;
	pp_put_text(c->out, "null");
}

static void put_zero(struct pp_firefox *c, size_t i)
{
	(void)i;
	pp_put(c->out, "0", 1);
}

static void put_false(struct pp_firefox *c, size_t i)
{
	(void)i;
	pp_put_text(c->out, "false");
}

static void put_stack_frame(struct pp_firefox *c, size_t i)
{
	pp_printf(c->out, "%" PRIu32, c->stacks[i].frame);
}

static void put_stack_prefix(struct pp_firefox *c, size_t i)
{
	if (c->stacks[i].prefix)
		pp_printf(c->out, "%" PRIu32, c->stacks[i].prefix - 1);
	else
		pp_put_text(c->out, "null");
}

static void put_stacks(struct pp_firefox *c)
{
	pp_printf(c->out, "\"stackTable\":{\"length\":%zu", c->nr_stacks);
	put_column(c, "frame", c->nr_stacks, put_stack_frame);
	put_column(c, "prefix", c->nr_stacks, put_stack_prefix);
	pp_put_text(c->out, "}");
}

/* A frame's values, from the frame of addresses and the step in it. */
typedef void put_frame_value(struct pp_firefox *c, const struct pp_frame *f, uint32_t depth,
			     const struct pp_step *step);

static void put_frame_address(struct pp_firefox *c, const struct pp_frame *f, uint32_t depth,
			      const struct pp_step *step)
{
	(void)depth;
	(void)step;
	if (f->at.image == PD_NO_IMAGE || f->kind == PP_KIND_JIT)
		pp_put_text(c->out, "-1");
	else
		pp_printf(c->out, "%" PRIu64, f->kind == PP_KIND_KERNEL ?
			  f->at.file_offset - f->at.pgoff :
			  f->at.file_offset - (f->at.flags & PD_LOCATION_RETURN &&
					       f->at.file_offset ? 1 : 0));
}

static void put_frame_depth(struct pp_firefox *c, const struct pp_frame *f, uint32_t depth,
			    const struct pp_step *step)
{
	(void)f;
	(void)step;
	pp_printf(c->out, "%" PRIu32, depth);
}

static void put_frame_category(struct pp_firefox *c, const struct pp_frame *f, uint32_t depth,
			       const struct pp_step *step)
{
	/* by enum pp_kind: Other is 0, Kernel 1, User 2, Library 3, JIT 4, Inlined 5, Off-CPU 6 */
	const uint8_t kind = c->out->p->functions[step->function].kind;

	(void)f;
	(void)depth;
	pp_printf(c->out, "%d", kind <= PP_KIND_INLINED ? kind + 1 : kind == PP_KIND_WAIT ? 6 : 0);
}

static void put_frame_function(struct pp_firefox *c, const struct pp_frame *f, uint32_t depth,
			       const struct pp_step *step)
{
	(void)f;
	(void)depth;
	pp_printf(c->out, "%" PRIu32, step->function);
}

static void put_frame_line(struct pp_firefox *c, const struct pp_frame *f, uint32_t depth,
			   const struct pp_step *step)
{
	(void)f;
	(void)depth;
	if (step->line)
		pp_printf(c->out, "%" PRIu32, step->line);
	else
		pp_put_text(c->out, "null");
}

static void put_frame_column(struct pp_firefox *c, const char *name, put_frame_value *put)
{
	const struct pp_profile *p = c->out->p;
	size_t nr = 0;

	pp_printf(c->out, ",\"%s\":[", name);
	for (size_t i = 0; i < p->frames.nr; i++)
		for (uint32_t k = p->first_step[i]; k < p->first_step[i + 1]; k++) {
			if (!c->frames[k])
				continue;
			pp_firefox_separator(c, &nr);
			put(c, &p->frames.items[i], k - p->first_step[i], &p->steps[k]);
		}
	pp_put_text(c->out, "]");
}

static void put_frames(struct pp_firefox *c)
{
	pp_printf(c->out, ",\n\"frameTable\":{\"length\":%" PRIu32, c->nr_frames);
	put_frame_column(c, "address", put_frame_address);
	put_frame_column(c, "inlineDepth", put_frame_depth);
	put_frame_column(c, "category", put_frame_category);
	put_column(c, "subcategory", c->nr_frames, put_zero);
	put_frame_column(c, "func", put_frame_function);
	put_column(c, "nativeSymbol", c->nr_frames, put_null);
	put_column(c, "innerWindowID", c->nr_frames, put_zero);
	put_frame_column(c, "line", put_frame_line);
	put_column(c, "column", c->nr_frames, put_null);
	pp_put_text(c->out, "}");
}

static void put_function_name(struct pp_firefox *c, size_t i)
{
	const struct pp_profile *p = c->out->p;

	pp_printf(c->out, "%" PRIu32, pp_firefox_string(c, pp_strings_at(&p->strings,
								 p->functions[i].name)));
}

static void put_function_resource(struct pp_firefox *c, size_t i)
{
	const uint32_t image = c->out->p->functions[i].image_index;

	if (image == PD_NO_IMAGE)
		pp_put_text(c->out, "-1");
	else
		pp_printf(c->out, "%" PRIu32, c->libs[image] - 1);
}

static void put_functions(struct pp_firefox *c)
{
	const size_t nr = c->out->p->nr_functions;

	pp_printf(c->out, ",\n\"funcTable\":{\"length\":%zu", nr);
	put_column(c, "name", nr, put_function_name);
	put_column(c, "isJS", nr, put_false);
	put_column(c, "relevantForJS", nr, put_false);
	put_column(c, "resource", nr, put_function_resource);
	put_column(c, "source", nr, put_null);
	put_column(c, "lineNumber", nr, put_null);
	put_column(c, "columnNumber", nr, put_null);
	pp_put_text(c->out, "}");
}

/* Calls `put` for each image in the order of their numbers, which is that of their functions. */
static void put_images(struct pp_firefox *c,
		       void (*put)(struct pp_firefox *, const struct pp_named *, uint32_t lib))
{
	const struct pp_profile *p = c->out->p;
	uint32_t nr = 0;

	for (size_t i = 0; i < p->nr_functions; i++) {
		const struct pp_named *f = &p->functions[i];

		if (f->image_index == PD_NO_IMAGE || c->libs[f->image_index] != nr + 1)
			continue;
		if (nr)
			pp_put(c->out, ",", 1);
		put(c, f, nr++);
	}
}

static void put_lib_number(struct pp_firefox *c, const struct pp_named *f, uint32_t lib)
{
	(void)f;
	pp_printf(c->out, "%" PRIu32, lib);
}

static void put_lib_name(struct pp_firefox *c, const struct pp_named *f, uint32_t lib)
{
	(void)lib;
	pp_printf(c->out, "%" PRIu32,
		  pp_firefox_string(c, pp_last_part(pp_strings_at(&c->out->p->strings, f->image))));
}

static void put_one(struct pp_firefox *c, size_t i)
{
	(void)i;
	pp_put(c->out, "1", 1);
}

static void put_resources(struct pp_firefox *c)
{
	pp_printf(c->out, ",\n\"resourceTable\":{\"length\":%" PRIu32 ",\"lib\":[", c->nr_libs);
	put_images(c, put_lib_number);
	pp_put_text(c->out, "],\"name\":[");
	put_images(c, put_lib_name);
	pp_put_text(c->out, "]");
	put_column(c, "host", c->nr_libs, put_null);
	put_column(c, "type", c->nr_libs, put_one);
	pp_put_text(c->out, "}");
}

/* The first 16 bytes of a build id as a GUID, whose first three numbers are swapped, and an age of
 * 0. */
static void put_breakpad_id(struct pp_firefox *c, struct pd_bytes id)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (size_t i = 0; i < sizeof(order); i++)
		pp_printf(c->out, "%02X", order[i] < id.size ? id.data[order[i]] : 0);
	pp_put(c->out, "0", 1);
}

static void put_lib(struct pp_firefox *c, const struct pp_named *f, uint32_t lib)
{
	const struct pp_profile *p = c->out->p;
	const struct pd_image *image = pd_history_image(p->options.history, f->image_index);
	const struct pd_bytes path = pp_strings_at(&p->strings, f->image);
	char hex[PP_BUILD_ID_TEXT];

	(void)lib;
	pp_put_text(c->out, "\n{\"arch\":null,\"name\":");
	pp_json_string(c->out, pp_last_part(path));
	pp_put_text(c->out, ",\"path\":");
	pp_json_string(c->out, path);
	pp_put_text(c->out, ",\"debugName\":");
	pp_json_string(c->out, pp_last_part(path));
	pp_put_text(c->out, ",\"debugPath\":");
	pp_json_string(c->out, path);
	pp_put_text(c->out, ",\"breakpadId\":\"");
	put_breakpad_id(c, image->build_id);
	if (*pp_build_id_of(p, f, hex))
		pp_printf(c->out, "\",\"codeId\":\"%s\"}", hex);
	else
		pp_put_text(c->out, "\",\"codeId\":null}");
}

/* --- the file --- */

static int compare_lives(const void *a, const void *b)
{
	const struct pp_firefox_rank *x = a, *y = b;

	if (x->machine_pid != y->machine_pid)
		return x->machine_pid < y->machine_pid ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->process_start < y->process_start ? -1 : x->process_start > y->process_start;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct pp_firefox_rank *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

static void rank_tracks(struct pp_firefox_rank *ranks, const struct pp_tracks *tracks)
{
	for (uint32_t i = 0; i < tracks->nr; i++) {
		const struct pp_track *t = &tracks->items[i];

		ranks[i] = (struct pp_firefox_rank){ t->samples, t->process_start,
						     t->machine_pid, t->pid, i, 0 };
	}
	qsort(ranks, tracks->nr, sizeof(*ranks), compare_lives);
	for (size_t i = 1; i < tracks->nr; i++)
		if (ranks[i].pid == ranks[i - 1].pid &&
		    ranks[i].machine_pid == ranks[i - 1].machine_pid)
			ranks[i].life = ranks[i - 1].life +
					(compare_lives(&ranks[i - 1], &ranks[i]) != 0);
	qsort(ranks, tracks->nr, sizeof(*ranks), compare_ranks);
}

static void put_interval(struct pp_firefox *c, const struct pp_weigher *w)
{
	if (w->frequency)
		pp_firefox_ms(c, 1000 * PP_NS_PER_MS / w->frequency);
	else if (w->is_time && w->period)
		pp_firefox_ms(c, w->period);
	else
		pp_put(c->out, "1", 1);
}

static void put_meta(struct pp_firefox *c)
{
	const struct pp_profile *p = c->out->p;

	pp_put_text(c->out, "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":60,"
		    "\"interval\":");
	put_interval(c, &p->events[c->out->o.event].weigher);
	pp_put_text(c->out, ",\"startTime\":0,\"processType\":0,\"product\":");
	pp_json_text(c->out, c->out->o.title ? c->out->o.title : "perf.data");
	pp_printf(c->out, ",\"stackwalk\":1,\"symbolicated\":%s,\"usesOnlyOneStackType\":true,"
		  "\"sourceCodeIsNotOnSearchfox\":true,\"importedFrom\":\"perf.data\",\n",
		  p->options.namer ? "true" : "false");
	pp_put_text(c->out, "\"categories\":["
		    "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		    "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
		    "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		    "{\"name\":\"Library\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
		    "{\"name\":\"JIT\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},");
	pp_put_text(c->out,
		    "{\"name\":\"Inlined\",\"color\":\"lightblue\",\"subcategories\":[\"Other\"]},"
		    "{\"name\":\"Off-CPU\",\"color\":\"transparent\","
		    "\"subcategories\":[\"Other\"]}],\n"
		    "\"markerSchema\":[{\"name\":\"off\",\"display\":[\"marker-chart\","
		    "\"marker-table\"],\"fields\":[{\"key\":\"why\",\"label\":\"Why\","
		    "\"format\":\"string\"}]},{\"name\":\"event\",\"display\":[\"marker-chart\","
		    "\"marker-table\"],\"fields\":[]}],\n\"sampleUnits\":{\"time\":\"ms\","
		    "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}");
	pp_put_text(c->out, ",\"initialVisibleThreads\":[");
	for (size_t i = 0; i < p->tracks.nr && i < VISIBLE_THREADS; i++)
		pp_printf(c->out, i ? ",%zu" : "%zu", i);
	pp_put_text(c->out, "]}");
}

/* The strings come last: the other tables make them. */
static void put_file(struct pp_firefox *c)
{
	const struct pp_profile *p = c->out->p;

	put_meta(c);
	pp_put_text(c->out, ",\n\"libs\":[");
	put_images(c, put_lib);
	pp_put_text(c->out, "],\n\"threads\":[");
	for (size_t i = 0; i < p->tracks.nr; i++) {
		pp_put_text(c->out, i ? ",\n" : "\n");
		pp_firefox_thread(c, &p->tracks.items[c->ranks[i].track], c->ranks[i].life);
	}
	pp_put_text(c->out, "],\n\"shared\":{");
	put_stacks(c);
	put_frames(c);
	put_functions(c);
	put_resources(c);
	pp_put_text(c->out, ",\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
		    "\"name\":[],\"functionSize\":[]},\"sources\":{\"length\":0,\"uuid\":[],"
		    "\"filename\":[]},\n\"stringArray\":[");
	for (uint32_t i = 0; i < c->strings.nr; i++) {
		pp_put_text(c->out, i ? "," : "");
		pp_json_string(c->out, pp_strings_at(&c->strings, i));
	}
	pp_put_text(c->out, "]}}\n");
}

int pp_write_firefox(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	struct pp_memory *m = &p->memory;
	const struct pp_weigher *w = &p->events[out->o.event].weigher;
	const size_t nr_images = pd_history_nr_images(p->options.history);
	struct pp_firefox c = { .out = out, .memory = m, .first = pp_tracks_first(&p->tracks),
			      .is_time = w->is_time && out->o.measure == PP_BY_PERIOD };
	int ret = -1;

	c.frames = pp_memory_zeroed(m, p->nr_steps, sizeof(*c.frames));
	c.stack_of = pp_memory_zeroed(m, p->tree.nr, sizeof(*c.stack_of));
	c.libs = pp_memory_zeroed(m, nr_images, sizeof(*c.libs));
	c.ranks = pp_memory_zeroed(m, p->tracks.nr, sizeof(*c.ranks));
	if (c.frames && c.stack_of && c.libs && c.ranks) {
		number_frames(&c);
		rank_tracks(c.ranks, &p->tracks);
		ret = make_stacks(&c);
	}
	if (!ret) {
		put_file(&c);
		ret = c.failed;
	}
	pp_memory_free(m, c.frames, p->nr_steps, sizeof(*c.frames));
	pp_memory_free(m, c.stack_of, p->tree.nr, sizeof(*c.stack_of));
	pp_memory_free(m, c.libs, nr_images, sizeof(*c.libs));
	pp_memory_free(m, c.ranks, p->tracks.nr, sizeof(*c.ranks));
	pp_memory_free(m, c.stacks, c.stacks_capacity, sizeof(*c.stacks));
	pp_strings_free(&c.strings, m);
	return ret;
}
