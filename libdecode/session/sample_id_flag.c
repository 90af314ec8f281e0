/* sample_id_flag.c - whether records end with a sample_id. */
#include "session/sample_id_flag.h"

#include <string.h>

#include "pd/enums.h"
#include "plan/extract.h"

/* Returns the size that the sample_id of an event with the flag has; PD_VARIABLE without memory. */
static uint32_t sample_id_size(struct pd_session *s, const struct pd_attr *a)
{
	const struct pd_facts facts = { .sample_type = a->sample_type };
	struct pd_plan *plan = pd_plan_compile(pd_sample_id_fields, &facts, s->budget);
	const uint32_t size = plan ? plan->list->size : PD_VARIABLE;

	pd_plan_free(plan);
	return size;
}

enum pd_sample_id_seen pd_session_see_sample_id(struct pd_session *s, const struct pd_attr *event,
						struct pd_bytes record)
{
	const struct pd_record_header h = pd_record_header_load(record.data, s->swap);
	const struct pd_bytes body = { record.data + PD_RECORD_HEADER_SIZE,
				       record.size - PD_RECORD_HEADER_SIZE };
	const struct pd_record_desc *d = pd_record_desc(h.type);
	const struct pd_plan *plan = d && d->trailer == PD_TRAILER && !d->oversized ?
		pd_session_record_plan(s, d, h.misc) : NULL;
	struct pd_extent_of own;
	uint32_t size;

	if (!plan)
		return PD_SAMPLE_ID_UNKNOWN;
	pd_measure(plan, body, h.misc, s->swap, PD_TEXT_ALIGNED, &own);
	if (own.code != PD_OK)
		return PD_SAMPLE_ID_UNKNOWN;
	if (own.end == body.size)
		return PD_SAMPLE_ID_ABSENT;
	size = sample_id_size(s, event);
	return size && size != PD_VARIABLE && own.end + size == body.size ? PD_SAMPLE_ID_PRESENT :
									    PD_SAMPLE_ID_UNKNOWN;
}

enum pd_sample_id_seen pd_session_sample_id_flag(const struct pd_session *s, struct pd_bytes attr)
{
	uint64_t flags = UINT64_MAX;

	pd_extract(s->file_attr_plan, attr, s->swap,
		   &(struct pd_extract){ "attr", "flags", &flags }, 1);
	if (flags == UINT64_MAX)
		return PD_SAMPLE_ID_UNKNOWN;
	return flags & PD_ATTR_SAMPLE_ID_ALL ? PD_SAMPLE_ID_PRESENT : PD_SAMPLE_ID_ABSENT;
}

int pd_session_toggle_sample_id(struct pd_session *s, struct pd_attr *a)
{
	const unsigned int bit = (unsigned int)__builtin_ctz(PD_ATTR_SAMPLE_ID_ALL);
	const size_t at = PD_ATTR_FLAGS_AT + bit / 8;
	uint8_t *bytes = at < a->bytes.size ? pd_arena_alloc(&s->arena, a->bytes.size) : NULL;

	if (!bytes)
		return -1;
	memcpy(bytes, a->bytes.data, a->bytes.size);
	bytes[at] ^= pd_is_big(s->swap) ? 0x80u >> bit % 8 : 1u << bit % 8;
	return pd_session_restore_attr(s, a, (struct pd_bytes){ bytes, a->bytes.size });
}
