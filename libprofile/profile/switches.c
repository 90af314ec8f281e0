/* switches.c - context switches in a recording: SWITCH records and sched:sched_switch. */
#include "profile/switches.h"

#include "samples/trace.h"

/* Bits of prev_state that state why a thread waits. A preempted one has none of them, but a bit
 * above: since Linux 4.14 always the next. One that is dead or a zombie never runs again. */
enum { WAITING_STATES = 0xff, DEAD_STATES = 0x30 };

/* Gets the numbers that the recording's format of the tracepoint has. Returns PD_OK, PD_E_FORMAT
 * without them, or PD_E_LIMIT. */
static enum pd_code read_fields(struct pp_profile *p, const struct pd_record *record,
				uint64_t *state, uint64_t *next)
{
	const struct pd_item *fields, *prev_state, *next_pid;

	if (pp_trace_fields(&p->switch_tree, record, &fields) != PD_OK)
		return PD_E_LIMIT;
	prev_state = pd_item_get(fields, "prev_state");
	next_pid = pd_item_get(fields, "next_pid");
	if (!prev_state || !next_pid)
		return PD_E_FORMAT;
	*state = prev_state->number;
	*next = next_pid->number;
	return PD_OK;
}

enum pd_code pp_switch_by_sample(struct pp_profile *p, struct pd_reader *r,
				 const struct pd_fields *sample, enum pp_use use)
{
	const uint64_t thread = pp_thread_of(p, sample), machine = thread >> 32 << 32;
	uint64_t state, next;
	enum pd_code code;

	if (!(sample->has & PD_HAS_TIME))
		return PD_OK;
	code = read_fields(p, pd_reader_record(r, sample), &state, &next);
	if (code != PD_OK)	/* a wait without a known end would be a guess */
		return code == PD_E_FORMAT ? PD_OK : code;
	if ((uint32_t)next && pp_offcpu_enter(p, machine | (uint32_t)next, sample->time))
		return PD_E_LIMIT;
	if (!(sample->has & PD_HAS_TID) || !sample->tid)
		return PD_OK;
	if (use == PP_LEFT_OUT && pp_offcpu_leave_out(p, thread))
		return PD_E_LIMIT;
	if (state & DEAD_STATES)
		return pp_offcpu_exit(p, thread, sample->time) ? PD_E_LIMIT : PD_OK;
	return pp_offcpu_leave(p, r, thread, sample,
			       state & WAITING_STATES ? PP_BLOCKED : PP_PREEMPTED) ?
		PD_E_LIMIT : PD_OK;
}

/* The thread of a SWITCH_CPU_WIDE is that of its sample_id: its body has the other one. */
enum pd_code pp_switch_by_record(struct pp_profile *p, struct pd_reader *r,
				 const struct pd_fields *item, enum pp_use use)
{
	const struct pd_record *record = pd_reader_record(r, item);
	uint64_t tid, thread;
	int ret = 0;

	if (!(item->has & PD_HAS_TIME) || !pd_record_get_number(record, "sample_id.tid", &tid) ||
	    !(uint32_t)tid)
		return PD_OK;
	thread = pp_thread_of(p, item) >> 32 << 32 | (uint32_t)tid;
	if (!(item->misc & MISC_SWITCH_OUT))
		ret = pp_offcpu_enter(p, thread, item->time);
	else if (use != PP_LEFT_OUT)
		ret = pp_offcpu_leave(p, r, thread, item,
				      item->misc & MISC_SWITCH_OUT_PREEMPT ? PP_PREEMPTED :
									     PP_BLOCKED);
	return ret ? PD_E_LIMIT : PD_OK;
}
