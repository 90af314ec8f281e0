/* record_refs.c - checks what perf's own records refer to. perf itself refuses most of what is
 * reported here. The ids of ID_INDEX are not among it: the attributes have them, too, and a large
 * record with an error is taken for damage, in which others are searched. */
#include "stream/record_refs.h"

#include <string.h>

#define UPDATES_TO_COME 8	/* kinds that later perfs may have, besides four */

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
	if (refs.unknown_ids && r->frame.type != PD_RECORD_EVENT_UPDATE)
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

enum pd_code pd_record_check_refs(const struct pd_record *r, const char **field)
{
	const uint32_t type = r->frame.type;

	*field = NULL;
	if (type == PD_RECORD_STAT || type == PD_RECORD_EVENT_UPDATE)
		return check_ids(r, field);
	if (type == PD_RECORD_HEADER_FEATURE)
		return check_feature(r, field);
	if (type == PD_RECORD_FINISHED_ROUND || type == PD_RECORD_FINISHED_INIT ||
	    type == PD_RECORD_HEADER_EVENT_TYPE)
		return r->body.size > r->extent.end ? PD_E_TRAILING : PD_OK;
	return PD_OK;
}
