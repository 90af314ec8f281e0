/* switches.c - context switches in a recording: SWITCH records and sched:sched_switch. */
#include "switches.h"

/* As struct trace_event_raw_sched_switch has them where a long is 64 bits. */
enum { PREV_STATE = 32, NEXT_PID = 56, PREEMPTED_STATE = 0x100, TRACE_SIZE = 64 };

static uint64_t raw_number(const struct pd_fields *sample, size_t offset, unsigned int width)
{
	const struct pd_numbers n = { .data = sample->raw.data + offset, .count = 1,
				      .width = width, .swapped = sample->callchain.swapped };

	return pd_number_at(&n, 0);
}

enum pd_code pp_switch_by_sample(struct pp_profile *p, const struct pd_fields *sample)
{
	uint64_t state = 1;

	if (!(sample->has & PD_HAS_TIME))
		return PD_OK;
	if (sample->has & PD_HAS_RAW && sample->raw.size >= TRACE_SIZE) {
		const uint32_t next = (uint32_t)raw_number(sample, NEXT_PID, 4);

		state = raw_number(sample, PREV_STATE, 8);
		if (next && pp_offcpu_enter(p, next, sample->time))
			return PD_E_LIMIT;
	}
	if (!(sample->has & PD_HAS_TID) || !sample->tid)
		return PD_OK;
	return pp_offcpu_leave(p, (uint32_t)sample->tid, sample->time,
			       state == 0 || state & PREEMPTED_STATE ? PP_PREEMPTED : PP_BLOCKED) ?
		PD_E_LIMIT : PD_OK;
}

/* The thread of a SWITCH_CPU_WIDE is that of its sample_id: its body has the other one. */
enum pd_code pp_switch_by_record(struct pp_profile *p, struct pd_reader *r,
				 const struct pd_fields *item)
{
	const struct pd_record *record = pd_reader_record(r, item);
	uint64_t tid;
	int ret;

	if (!(item->has & PD_HAS_TIME) || !pd_record_get_number(record, "sample_id.tid", &tid) ||
	    !(uint32_t)tid)
		return PD_OK;
	if (item->misc & MISC_SWITCH_OUT)
		ret = pp_offcpu_leave(p, (uint32_t)tid, item->time,
				      item->misc & MISC_SWITCH_OUT_PREEMPT ? PP_PREEMPTED :
									     PP_BLOCKED);
	else
		ret = pp_offcpu_enter(p, (uint32_t)tid, item->time);
	return ret ? PD_E_LIMIT : PD_OK;
}
