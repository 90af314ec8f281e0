/* summary.c - the lines above a table: what was recorded, and whether it can be trusted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "encoding/out.h"
#include "merge/turn.h"
#include "table/lines.h"

#define NS 1e9

/* Some of the first samples of a program begin in the one that it replaced. */
enum { ROOTLESS_SAMPLES = 10, ROOTLESS_PERCENT = 10 };

enum { MANY_SAMPLES = 50, UNNAMED_PERCENT = 10, DOUBT_TEXT = 200, NAME_TEXT = 400 };

#define JIT_HELP "java -XX:+PreserveFramePointer"

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_first_line(struct pp_out *out, const struct pp_counted_event *e)
{
	const struct pp_counts *c = &out->p->counts;
	const double wall = c->first == PD_NO_TIME ? 0 : (double)(c->last - c->first) / NS;

	if (out->o.title) {
		pp_put_name(out, pp_bytes(out->o.title), 0);
		pp_put_text(out, "   ");
	}
	pp_printf(out, "%" PRIu64 " sample%s of ", e->samples, pp_plural(e->samples));
	pp_put_name(out, pp_bytes(e->weigher.name), 0);
	if (e->weigher.is_time)
		pp_printf(out, ": %.3f s%s", (double)e->weight / NS,
			  e->weigher.is_off_cpu ? "" : " of CPU");
	else if (!e->weigher.has_no_weight)
		pp_printf(out, ": %" PRIu64 " counted", e->weight);
	if (wall > 0)
		pp_printf(out, " in %.3f s", wall);
	pp_printf(out, ", %zu thread%s", out->p->nr_threads, pp_plural(out->p->nr_threads));
	if (e->weigher.is_time && !e->weigher.is_off_cpu && wall > 0)
		pp_printf(out, ", %.2f CPUs", (double)e->weight / NS / wall);
	pp_printf(out, "; %" PRIu64 " lost, %" PRIu64 " throttled\n", pp_lost(out->p),
		  c->throttled);
}

/* Shares of the stacks' innermost functions. */
static void put_shares(struct pp_out *out, const struct pp_counted_event *e)
{
	static const char *const words[] = { "kernel", "program", "libraries", "JIT", "inlined",
					     "unknown" };
	const struct pp_profile *p = out->p;
	const uint64_t all = e->weight - e->idle_weight;
	uint64_t kinds[PP_KIND_CUT + 1] = { 0 }, named = 0, shown = 0;

	for (uint32_t i = e->merged; i != PP_NONE; i = pp_next_below(p, e->merged, i)) {
		const struct pp_named *f = &p->functions[p->merged[i].function];

		kinds[f->kind] += pp_weight_in(p, i);
		if (f->kind <= PP_KIND_UNKNOWN && f->why == PD_WHY_FOUND)
			named += pp_weight_in(p, i);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (kinds[i])
			pp_printf(out, "%s %.1f %%  ", words[i], percent(kinds[i], all));
		shown += kinds[i];
	}
	pp_printf(out, "%snames: %.0f %%", shown ? "·  " : "", percent(named, all));
	if (p->counts.chains)
		pp_printf(out, "  ·  stacks: %.1f %% cut",
			  percent(p->counts.cut + p->counts.copies_cut, p->counts.chains));
	pp_put_text(out, "\n");
}

/* Each reason to distrust the profile, with what helps. */
static void put_losses(struct pp_out *out, const struct pp_counted_event *e)
{
	const struct pp_counts *c = &out->p->counts;

	if (c->is_unfinished)
		pp_put_text(out, "the recording is unfinished, or its header or end is damaged: "
			    "prepair writes a whole one of what is there\n");
	if (pp_lost(out->p))
		pp_printf(out, "%" PRIu64 " records are lost, %.1f %% of all: record with a larger "
			  "buffer, -m 4M, or a lower frequency\n", pp_lost(out->p),
			  percent(pp_lost(out->p), pp_lost(out->p) + c->samples));
	if (c->no_event)
		pp_printf(out, "%" PRIu64 " sample%s left out: no event here has their ids, as "
			  "another recorder counted the same events, or of damage; record one "
			  "event, or alone\n", c->no_event, c->no_event == 1 ? " is" : "s are");
	if (c->throttled)
		pp_printf(out, "the kernel throttled the event %" PRIu64 " times: record with a "
			  "lower frequency, -F 1000\n", c->throttled);
	if (c->small)
		pp_printf(out, "%" PRIu64 " samples are in [small]: give more --memory\n",
			  c->small);
	if (e->running < e->enabled)
		pp_printf(out, "the event was counted %.0f %% of the time, it took turns with "
			  "others: record fewer events\n", percent(e->running, e->enabled));
}

static bool are_many(uint64_t stacks, const struct pp_counted_event *e)
{
	return stacks >= ROOTLESS_SAMPLES && percent(stacks, e->samples) >= ROOTLESS_PERCENT;
}

/* Stacks that begin nowhere mislead less than those that are missing, and can be seen less. */
bool pp_doubt_stacks(const struct pp_profile *p, size_t i, char *text, size_t size)
{
	static const char *const help = "record with --call-graph dwarf";
	const struct pp_counted_event *e;
	const struct pp_counts *c;

	if (!p || !text || i >= p->nr_events)
		return false;
	c = &p->counts;
	e = &p->events[i];
	if (are_many(e->jit_roots, e))
		snprintf(text, size, "%.0f %% of the stacks begin in JIT code, as it keeps no "
			 "frame pointers: " JIT_HELP, percent(e->jit_roots, e->samples));
	else if (c->lone * 2 > c->chains)
		snprintf(text, size, "%.0f %% of the stacks are one function: %s",
			 percent(c->lone, c->chains), help);
	else if (are_many(e->rootless, e))
		snprintf(text, size, "%.0f %% of the stacks begin in no file, as code without "
			 "frame pointers is in them: %s", percent(e->rootless, e->samples), help);
	else
		return false;
	return true;
}

/* Writes what helps stacks that reach beyond what was copied of them. */
static void put_copies_short(struct pp_out *out, const struct pp_weigher *w)
{
	const struct pp_counts *c = &out->p->counts;
	const double share = percent(c->copies_short, c->chains);
	const unsigned int larger = w->copied_bytes < PP_KERNEL_COPY_MAX / 4 && w->copied_bytes ?
		w->copied_bytes * 4 : PP_KERNEL_COPY_MAX;

	if (share < 1)
		return;
	if (w->copied_bytes >= PP_KERNEL_COPY_MAX)
		pp_printf(out, "%.1f %% of the stacks reach beyond the %u bytes that can be copied "
			  "of them: --call-graph fp has no such limit\n", share,
			  w->copied_bytes);
	else
		pp_printf(out, "%.1f %% of the stacks reach beyond what was copied of them: "
			  "record with --call-graph dwarf,%u\n", share, larger);
}

/* Writes what helps stacks that reach code or a file that can't be used. */
static void put_copies_stopped(struct pp_out *out)
{
	const struct pp_counts *c = &out->p->counts;
	const struct {
		uint64_t stacks;
		const char *help;
	} reasons[] = {
		{ c->copies_unverified, "that nothing shows to be the recorded one: --unverified "
					"always uses it" },
		{ c->copies_mismatched, "that is another build here: --debug-dir DIR has the "
					"recorded one" },
		{ c->copies_no_file, "that is not here: --sysroot DIR has the other machine's" },
	};

	if (percent(c->copies_jit, c->chains) >= 1)
		pp_printf(out, "%.1f %% of the stacks are cut in JIT code, as it keeps no frame "
			  "pointers: " JIT_HELP "\n", percent(c->copies_jit, c->chains));
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (percent(reasons[i].stacks, c->chains) >= 1)
			pp_printf(out, "%.1f %% of the stacks are cut at a file %s\n",
				  percent(reasons[i].stacks, c->chains), reasons[i].help);
}

static void put_stack_doubts(struct pp_out *out, const struct pp_counted_event *e)
{
	const struct pp_counts *c = &out->p->counts;
	const unsigned int most = e->weigher.max_stack ? e->weigher.max_stack :
							   PP_KERNEL_STACK_MAX;
	char doubt[DOUBT_TEXT];

	if (percent(c->no_address, c->samples) >= 1)
		pp_printf(out, "%.1f %% of the samples have no address, so no function: their "
			  "event was opened without PERF_SAMPLE_IP\n",
			  percent(c->no_address, c->samples));
	if (!c->chains)
		pp_put_text(out, "no call graphs: record with -g\n");
	else if (pp_doubt_stacks(out->p, out->o.event, doubt, sizeof(doubt)))
		pp_printf(out, "%s\n", doubt);
	put_copies_short(out, &e->weigher);
	put_copies_stopped(out);
	if (percent(c->copies_foreign, c->chains) >= 1)
		pp_printf(out, "%.1f %% of the stacks were copied, but those of this machine are "
			  "not unwound: record with --call-graph fp\n",
			  percent(c->copies_foreign, c->chains));
	if (percent(c->cut, c->chains) < 1)
		return;
	pp_printf(out, "%.1f %% of the stacks are cut at %u addresses: record with "
		  "--max-stack %u", percent(c->cut, c->chains), most, most * 4);
	if (most * 4 > PP_KERNEL_STACK_MAX)
		pp_printf(out, ", after sysctl kernel.perf_event_max_stack=%u", most * 4);
	pp_put_text(out, "\n");
}

bool pp_doubt_weight(const struct pp_profile *p, size_t i, char *text, size_t size)
{
	const struct pp_counted_event *e;

	if (!p || !text || i >= p->nr_events)
		return false;
	e = &p->events[i];
	if (e->samples < MANY_SAMPLES || e->weigher.is_wait || e->weigher.is_off_cpu ||
	    e->heaviest <= e->weight / 2)
		return false;
	snprintf(text, size, "one sample, at %" PRIu64 ", has %.1f %% of the weight, as damage "
		 "makes it: --weight samples counts each as 1", e->heaviest_at,
		 percent(e->heaviest, e->weight));
	return true;
}

static bool has_tracepoints(const struct pp_profile *p)
{
	for (size_t i = 0; i < p->nr_events; i++)
		if (p->events[i].weigher.is_tracepoint)
			return true;
	return false;
}

/* Returns by how many percent shares may be off: that of one half is not, in 19 of 20 recordings of
 * that number of samples. */
static unsigned int error_of_shares(uint64_t samples)
{
	unsigned int error = 1;

	while (error < 100 && error * error * samples < 100 * 100)
		error++;
	return error;
}

/* Returns whether shares are those of a few samples. Events that were counted one by one have no
 * error. */
static bool has_few_samples(const struct pp_counted_event *e)
{
	const uint64_t shown = e->samples - e->idle_samples;

	return shown && shown < MANY_SAMPLES && e->weight != e->samples &&
	       !e->weigher.is_off_cpu && !e->weigher.is_tracepoint;
}

static void put_sampling_doubts(struct pp_out *out, const struct pp_counted_event *e)
{
	const uint64_t timer = pp_timer_of(out->p);
	const char *switches = out->p->counts.is_unfinished && has_tracepoints(out->p) ?
		"the recording is cut, and what tells its tracepoints apart is at the end" :
		"record with precord --off-cpu where tracepoints are allowed";
	char doubt[DOUBT_TEXT];

	if (out->o.measure == PP_BY_PERIOD &&
	    pp_doubt_weight(out->p, out->o.event, doubt, sizeof(doubt)))
		pp_printf(out, "%s\n", doubt);
	if (out->p->idle == PP_IDLE_ONLY)
		pp_printf(out, "only idle CPUs: %.1f %% of the samples' weight\n",
			  percent(e->weight - e->idle_weight, e->weight));
	else if (e->idle_samples && e->samples)
		pp_printf(out, "idle: %.1f %% of the samples' weight, left out\n",
			  percent(e->idle_weight, e->weight));
	if (has_few_samples(e))
		pp_printf(out, "few samples: shares may be off by %u %%; record for longer, or "
			  "with a higher frequency, -F 20000\n",
			  error_of_shares(e->samples - e->idle_samples));
	if (timer)
		pp_printf(out, "the samples are in lockstep with a timer of %.1f ms: work at "
			  "that rate is counted wrong; record with -F 997\n",
			  (double)timer / 1e6);
	if (e->weigher.is_off_cpu && out->p->offcpu.approximate)
		pp_printf(out, "%" PRIu64 " waits are shown at the stack of the last sample before "
			  "them: %s\n", out->p->offcpu.approximate, switches);
	if (e->weigher.is_off_cpu && out->p->offcpu.nowhere)
		pp_printf(out, "%" PRIu64 " waits have no stack, because their threads had no "
			  "sample before: %s\n", out->p->offcpu.nowhere, switches);
	if (e->weigher.has_no_weight)
		pp_put_text(out, "the samples have no periods: each counts 1\n");
}

/* Writes how samples of another event are shown. */
static void put_way_to(struct pp_out *out, const struct pp_weigher *w)
{
	if (w->is_read)
		pp_put_text(out, " (in the same group)\n");
	else if (pp_keys_have_event(out->o.keys) || out->p->options.state != PP_ON_CPU)
		pp_put_text(out, "\n");
	else if (w->is_switch || w->is_wait)
		pp_put_text(out, " (--off-cpu shows the waits)\n");
	else
		pp_put_text(out, " (-e shows them)\n");
}

static void put_other_events(struct pp_out *out)
{
	enum { SHOWN = 5 };
	const struct pp_profile *p = out->p;
	uint64_t samples = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->nr_events; i++) {
		const struct pp_counted_event *e = &p->events[i];

		if (i == out->o.event || !e->samples)
			continue;
		if (++n > SHOWN) {
			samples += e->samples;
			continue;
		}
		pp_printf(out, "also recorded: %" PRIu64 " sample%s of ", e->samples,
			  pp_plural(e->samples));
		pp_put_name(out, pp_bytes(e->weigher.name), 0);
		put_way_to(out, &e->weigher);
	}
	if (n > SHOWN)
		pp_printf(out, "also recorded: %" PRIu64 " sample%s of %zu more event%s\n", samples,
			  pp_plural(samples), n - SHOWN, pp_plural(n - SHOWN));
}

/* Returns what gives names to functions of the image of *f, or "". */
static const char *help_of(const struct pp_profile *p, const struct pp_named *f)
{
	return p->options.help(f->why, pd_history_image(p->options.history, f->image_index));
}

struct unnamed {
	uint64_t weight;
	const struct pp_named *function;
};

/* Sums the self weights without a name by image, and returns the heaviest. */
static struct unnamed find_unnamed(struct pp_profile *p, const struct pp_counted_event *e)
{
	uint64_t *sums = pp_memory_zeroed(&p->memory, p->strings.nr, sizeof(*sums));
	struct unnamed most = { 0 };

	if (!sums)
		return most;
	for (uint32_t i = e->merged; i != PP_NONE; i = pp_next_below(p, e->merged, i)) {
		const struct pp_named *f = &p->functions[p->merged[i].function];

		if (f->kind > PP_KIND_UNKNOWN || f->why == PD_WHY_FOUND || !*help_of(p, f))
			continue;
		sums[f->image] += pp_weight_in(p, i);
		if (sums[f->image] > most.weight)
			most = (struct unnamed){ sums[f->image], f };
	}
	pp_memory_free(&p->memory, sums, p->strings.nr, sizeof(*sums));
	return most;
}

/* Writes to `text` what gives names to functions without one. Returns their share in percent. */
static double doubt_names(struct pp_profile *p, const struct pp_counted_event *e, char *text,
			  size_t size)
{
	const struct unnamed u = find_unnamed(p, e);
	const double share = percent(u.weight, e->weight - e->idle_weight);
	struct pd_bytes image;

	if (!u.function)
		return 0;
	image = pp_strings_at(&p->strings, u.function->image);
	if (!image.size)
		image = pp_bytes("unknown memory");
	snprintf(text, size, "no names for %.1f %%, in %s%.*s: %s", share,
		 u.function->kind == PP_KIND_JIT ? "JIT code, " : "",
		 image.size < NAME_TEXT ? (int)image.size : NAME_TEXT, (const char *)image.data,
		 help_of(p, u.function));
	return share;
}

/* Text of each sample is written without a merged tree. */
static bool may_doubt_names(const struct pp_profile *p)
{
	return p->options.namer && p->options.help && p->merged;
}

bool pp_doubt_names(struct pp_profile *p, size_t i, char *text, size_t size)
{
	if (!p || !text || i >= p->nr_events || !may_doubt_names(p))
		return false;
	return doubt_names(p, &p->events[i], text, size) >= UNNAMED_PERCENT;
}

static void put_unnamed(struct pp_out *out, const struct pp_counted_event *e)
{
	char text[NAME_TEXT + DOUBT_TEXT * 2];

	if (doubt_names(out->p, e, text, sizeof(text)) < 1)
		return;
	pp_put_name(out, pp_bytes(text), 0);
	pp_put_text(out, "\n");
}

void pp_put_summary(struct pp_out *out)
{
	const struct pp_counted_event *e = &out->p->events[out->o.event];

	put_first_line(out, e);
	put_shares(out, e);
	put_losses(out, e);
	put_stack_doubts(out, e);
	put_sampling_doubts(out, e);
	if (may_doubt_names(out->p))
		put_unnamed(out, e);
	put_other_events(out);
}
