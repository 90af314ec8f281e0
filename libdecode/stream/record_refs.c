/* record_refs.c - checks what perf's own records refer to. perf itself refuses most of what is
 * reported here. */
#include "stream/record_refs.h"

#include <string.h>

#define TYPES_TO_COME 8		/* numbers that later kernels and perfs may give to records */
#define UPDATES_TO_COME 8	/* and to kinds of EVENT_UPDATE, of which there are four */

struct refs {
	const struct pd_session *session;
	size_t unknown_ids;
	uint64_t update;	/* type of an EVENT_UPDATE */
};

static void visit_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct refs *refs = ctx;

	if (strcmp(f->name, "id") == 0)
		refs->unknown_ids += value && !pd_session_by_id(refs->session, value);
	else if (strcmp(f->name, "type") == 0)
		refs->update = value;
}

static enum pd_code check_ids(const struct pd_record *r, const char **field)
{
	static const struct pd_visitor v = { .size = sizeof(v), .number = visit_number };
	struct refs refs = { .session = r->session };

	if (!r->session->ids.used)
		return PD_OK;
	pd_visit(r->plan, r->body, r->frame.misc, r->session->swap, &r->extent, &v, &refs);
	*field = "id";
	if (refs.unknown_ids)
		return PD_E_NO_ATTR;
	*field = "type";
	return r->frame.type == PD_RECORD_EVENT_UPDATE && refs.update >= 4 + UPDATES_TO_COME ?
		       PD_E_UNKNOWN_TYPE : PD_OK;
}

static enum pd_code check_feature(const struct pd_record *r, const char **field)
{
	struct pd_cursor c = pd_cursor(r->body, r->session->swap);
	uint64_t id;

	*field = "feat_id";
	return pd_take_number(&c, sizeof(id), &id) && id >= PD_FEATURE_BITS ? PD_E_UNKNOWN_TYPE :
									      PD_OK;
}

/* Returns whether no later kernel or perf will have records of a type that this library does not
 * know. */
static bool is_impossible(uint32_t type)
{
	if (type < PD_RECORD_USER_START)
		return type >= PD_RECORD_KERNEL_END + TYPES_TO_COME;
	if (type < PD_RECORD_SIMPLEPERF_START)
		return type >= PD_RECORD_USER_END + TYPES_TO_COME;
	return type >= PD_RECORD_SIMPLEPERF_END + TYPES_TO_COME;
}

enum pd_code pd_record_check_refs(const struct pd_record *r, const char **field)
{
	*field = NULL;
	if (!r->frame.desc)
		return is_impossible(r->frame.type) ? PD_E_UNKNOWN_TYPE : PD_OK;
	switch (r->frame.type) {
	case PD_RECORD_ID_INDEX:
	case PD_RECORD_STAT:
	case PD_RECORD_EVENT_UPDATE:
		return check_ids(r, field);
	case PD_RECORD_HEADER_FEATURE:
		return check_feature(r, field);
	case PD_RECORD_FINISHED_ROUND:
	case PD_RECORD_FINISHED_INIT:
	case PD_RECORD_HEADER_EVENT_TYPE:
		return r->body.size > r->extent.end ? PD_E_TRAILING : PD_OK;
	default:
		return PD_OK;
	}
}
