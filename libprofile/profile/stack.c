/* stack.c - the stack of a sample: from its callchain, its branches, or a copied stack. */
#include "profile/stack.h"

#include <string.h>

enum { STACK_FIRST = 256 };

static bool can_unwind(const struct pp_profile *p)
{
	return p->options.namer && p->options.namer->frames;
}

/* Fills p->stack as far as it goes, and sets *end to why a copied stack ends. `record`: of the
 * sample, if the stack is not in its fields. Returns the number of addresses. */
static size_t find_frames(struct pp_profile *p, const struct pd_fields *sample,
			  const struct pd_record *record, const struct pp_recent *recent,
			  const char **end)
{
	const struct pd_namer *namer = p->options.namer;

	*end = "";
	if (recent)
		return pd_history_fields_addresses(p->options.history, sample, p->stack,
						   p->stack_capacity);
	if (!record)
		return pd_history_fields_frames(p->options.history, sample, p->stack,
						p->stack_capacity);
	return can_unwind(p) ?
		       namer->frames(namer->ctx, record, p->stack, p->stack_capacity, end) :
		       pd_history_frames(p->options.history, record, p->stack,
					 p->stack_capacity);
}

/* Sets s->nr and s->is_small. `record`: as find_frames(). */
static void locate_stack(struct pp_profile *p, const struct pd_fields *sample,
			 const struct pd_record *record, struct pp_stack *s, const char **end)
{
	const struct pp_recent *recent = record ? NULL : s->recent;
	size_t n = find_frames(p, sample, record, recent, end);
	struct pd_location *stack;

	s->nr = n;

	if (n <= p->stack_capacity)
		return;
	stack = pp_memory_grow(&p->memory, p->stack, &p->stack_capacity,
			       n < STACK_FIRST ? STACK_FIRST : n, sizeof(*stack));
	if (!stack) {
		s->nr = 0;
		s->is_small = true;
		return;
	}
	p->stack = stack;
	s->nr = find_frames(p, sample, record, recent, end);
}

/* Locates the addresses of a callchain: it begins with the ip. A chain without one has the ip. */
static void locate_chain(struct pp_profile *p, const struct pd_fields *sample, struct pp_stack *s,
			 const char **end)
{
	struct pd_fields chain = *sample;

	chain.has &= ~(uint32_t)PD_HAS_IP;
	s->same = s->recent && s->recent->is_known ?
		pp_recent_leave_out(s->recent, p->options.history, &chain) : 0;
	locate_stack(p, &chain, NULL, s, end);
	if (!s->nr && !s->same && !s->is_small)
		locate_stack(p, sample, NULL, s, end);
}

/* Returns whether the ip is not in the chain: it is in the kernel, whose callers the chain leaves
 * out. Text is as perf has it, without this ip. */
static bool is_ip_apart(const struct pp_profile *p, const struct pd_fields *sample,
			const struct pp_weigher *w)
{
	return w->lacks_kernel && !p->each && sample->has & PD_HAS_IP &&
	       (sample->misc & PD_MISC_CPUMODE) == PD_CPUMODE_KERNEL;
}

/* Counts why a copied stack is cut. `last`: the frame whose caller is not found; NULL: none. */
static void count_end(struct pp_profile *p, const struct pd_location *last, const char *end)
{
	const struct pd_image *image =
		last ? pd_history_image(p->options.history, last->image) : NULL;
	struct pp_counts *c = &p->counts;

	c->copies_cut++;
	c->copies_short += strcmp(end, "STACK_CUT") == 0;
	c->copies_foreign += strcmp(end, "NO_ARCH") == 0;
	c->copies_no_file += strcmp(end, "NO_FILE") == 0;
	c->copies_jit += image && pd_image_kind_is_own_code(image->kind) &&
			 strcmp(end, "NO_CFI") == 0;
	if (strcmp(end, "MISMATCH") != 0)
		return;
	if (image && image->build_id.size)
		c->copies_mismatched++;
	else
		c->copies_unverified++;
}

/* Counts what makes a stack less trustworthy. Returns whether it is cut. */
static bool judge_stack(struct pp_profile *p, const struct pp_stack *s, size_t most,
			const char *end)
{
	const size_t apart = s->nr > 1 && s->items->of == PD_LOCATION_OF_IP;
	const size_t n = s->nr + s->same - apart;
	const struct pd_location *first = apart ? &s->items[1] : s->items;

	p->counts.no_address += !n;
	if (!*end && !s->same && (!n || (first->of != PD_LOCATION_OF_CALLCHAIN &&
					 first->of != PD_LOCATION_OF_STACK)))
		return false;
	p->counts.chains++;
	if (*end) {
		if (strcmp(end, "BOTTOM") == 0)
			return false;
		count_end(p, s->nr ? &s->items[s->nr - 1] : NULL, end);
		return true;
	}
	if (n == 1 && first->cpumode == PD_CPUMODE_USER)
		p->counts.lone++;
	if (n < most)
		return false;
	p->counts.cut++;
	return true;
}

static void read_addresses(struct pp_profile *p, struct pd_reader *r,
			   const struct pd_fields *sample, const struct pp_weigher *w,
			   struct pp_stack *s)
{
	const size_t most = w->max_stack ? w->max_stack : PP_KERNEL_STACK_MAX;
	const char *end;

	if (w->has_call_stacks || (w->copies_stacks && can_unwind(p)))
		locate_stack(p, sample, pd_reader_record(r, sample), s, &end);
	else if (is_ip_apart(p, sample, w))
		locate_stack(p, sample, NULL, s, &end);
	else
		locate_chain(p, sample, s, &end);
	/* a cut stack has another root, and of a lone address the mode counts */
	if (s->same && (s->nr + s->same == 1 || (s->nr + s->same >= most) != s->recent->is_cut)) {
		s->same = 0;
		locate_stack(p, sample, NULL, s, &end);
	}
	if (s->is_small)
		return;
	s->items = p->stack;
	/* the chain begins with the ip */
	if (s->nr > 1 && s->items[0].of == PD_LOCATION_OF_IP && !is_ip_apart(p, sample, w)) {
		s->items++;
		s->nr--;
	}
	s->is_cut = judge_stack(p, s, most, end);
}

/* Returns what is kept of the thread of a sample, or NULL: of its stacks nothing is kept. */
static struct pp_recent *find_recent(struct pp_profile *p, const struct pd_fields *sample,
				     const struct pp_counted_event *event,
				     const struct pd_moment *at)
{
	const struct pp_weigher *w = &event->weigher;
	const bool is_idle = sample->has & PD_HAS_TID && !sample->tid;
	const struct pp_same same = {
		.pid = sample->has & PD_HAS_PID ? sample->pid : -1,
		.tid = sample->has & PD_HAS_TID ? sample->tid : -1,
		.cpu = sample->has & PD_HAS_CPU && (is_idle || p->options.groups & PP_GROUP_CPU) ?
			sample->cpu : 0,
		.id = sample->has & PD_HAS_ID ? sample->id : 0,
		.has = sample->has, .event = (uint64_t)(event - p->events),
	};

	if (!p->recents || is_ip_apart(p, sample, w) || w->is_read || w->copies_stacks ||
	    w->has_call_stacks ||
	    (w->is_wait && p->options.state != PP_ON_CPU) ||
	    p->options.groups & PP_GROUP_CGROUP || !(sample->has & PD_HAS_TIME))
		return NULL;
	return pp_recent_of(p->recents, p->options.history, &same, sample, at);
}

void pp_stack_read(struct pp_profile *p, struct pd_reader *r, const struct pd_fields *sample,
		   const struct pp_counted_event *event, const struct pd_moment *at,
		   struct pp_stack *s)
{
	/* `task` is set below: to clear it takes as long as to read a short stack */
	s->items = NULL;
	s->nr = s->same = 0;
	s->is_cut = s->is_small = false;
	s->recent = find_recent(p, sample, event, at);
	s->at = *at;
	read_addresses(p, r, sample, &event->weigher, s);
	if (s->recent && s->recent->is_known)
		s->task = s->recent->task;
	else
		pd_history_fields_task(p->options.history, sample, at, &s->task);
}

uint32_t pp_stack_frame(struct pp_profile *p, const struct pd_fields *sample,
			const struct pp_stack *s, struct pd_location *item)
{
	const struct pp_mapped *m = s->recent ? &s->recent->mapped : NULL;
	const uint64_t key = m ? pd_location_key(item, m->process, m->kernel) : 0;
	struct pp_site *site = key ? pp_sites_at(&p->recents->sites, key, item->addr) : NULL;
	const bool is_kernel = item->cpumode == PD_CPUMODE_KERNEL;
	uint32_t frame;

	if (site && site->key == key && site->addr == item->addr) {
		item->image = site->image;
		item->file_offset = site->file_offset;
		return site->frame;
	}
	if (s->recent)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it is one of p->recents */
		pd_history_locate_address(p->options.history, sample, p->recents->state, item);
	frame = pp_frames_add_address(&p->frames, &p->memory, p->options.history,
				      sample->has & PD_HAS_PID ? sample->pid : -1, item);
	if (s->recent && frame != PP_NONE && p->frames.items[frame].since)
		s->recent->changes = true;
	/* a frame of a process is no other's, and one of a time not that of another */
	else if (site && frame != PP_NONE && !(is_kernel && p->frames.items[frame].pid))
		*site = (struct pp_site){ key, item->addr, item->file_offset, frame, item->image };
	return frame;
}
