/* attr_flags.c - corrects attr.sample_id_all, by the records.
 *
 * perf reads no recording whose events differ in it. Where one does, by damage, side-band records
 * would be of no event, or of the first one without their time.
 */
#include "container/attr_flags.h"

#include "session/sample_id_flag.h"

#define WINDOW (64u << 10)	/* bytes of records that are looked at */

/* How many attributes or records have the flag, and how many have not. */
struct votes {
	size_t with, without;
};

static void vote(struct votes *v, enum pd_sample_id_seen seen)
{
	v->with += seen == PD_SAMPLE_ID_PRESENT;
	v->without += seen == PD_SAMPLE_ID_ABSENT;
}

static struct votes ask_attrs(const struct pd_session *s)
{
	struct votes v = { 0, 0 };

	for (size_t i = 0; i < s->nr_attrs; i++) {
		vote(&v, pd_session_sample_id_flag(s, s->attrs[i]->bytes));
		if (s->attrs[i]->copy.size)
			vote(&v, pd_session_sample_id_flag(s, s->attrs[i]->copy));
	}
	return v;
}

/* Takes the whole records of the window, whose sizes tell. */
static struct votes ask_records(struct pd_session *s, struct pd_bytes window)
{
	struct votes v = { 0, 0 };

	for (size_t at = 0; window.size - at >= PD_RECORD_HEADER_SIZE;) {
		const struct pd_record_header h = pd_record_header_load(window.data + at, s->swap);
		const struct pd_bytes record = { window.data + at, h.size };
		uint64_t payload;

		if (h.size < PD_RECORD_HEADER_SIZE || h.size > window.size - at)
			break;
		vote(&v, pd_session_see_sample_id(s, s->attrs[0], record));
		payload = pd_session_payload(s, pd_record_desc(h.type), record);
		at += h.size;
		if (payload > window.size - at)
			break;
		at += (size_t)payload;
	}
	return v;
}

static bool has_event_desc(const struct pd_container *c)
{
	for (size_t i = 0; i < c->nr_features; i++)
		if (c->features[i].feature == PD_FEATURE_EVENT_DESC)
			return true;
	return false;
}

static void report(const struct pd_loader *l, enum pd_code code, const char *text)
{
	l->report->error(l->report->ctx, &(struct pd_error){
		.code = code, .severity = PD_DAMAGED, .record = "attrs", .field = "sample_id_all",
		.text = text });
}

/* Changes the flag where it is not what was seen. Returns 0, or -1 without memory. */
static int set_flag(const struct pd_loader *l, enum pd_sample_id_seen seen)
{
	struct pd_session *s = l->session;
	bool changed = false;

	for (size_t i = 0; i < s->nr_attrs; i++) {
		const enum pd_sample_id_seen flag =
			pd_session_sample_id_flag(s, s->attrs[i]->bytes);

		if (flag == PD_SAMPLE_ID_UNKNOWN || flag == seen)
			continue;
		if (pd_session_toggle_sample_id(s, s->attrs[i]))
			return -1;
		changed = true;
	}
	if (!changed)
		return 0;
	pd_session_compare_events(s);
	report(l, PD_E_RESTORED, seen == PD_SAMPLE_ID_PRESENT ? "the records have sample_id" :
								"the records have no sample_id");
	return 0;
}

/* Records without sample_id may be synthesized: they decide only between attributes that differ. */
static enum pd_sample_id_seen decide(struct votes records, struct votes attrs)
{
	if (records.with)
		return PD_SAMPLE_ID_PRESENT;
	if (attrs.with && attrs.without && records.without)
		return PD_SAMPLE_ID_ABSENT;
	if (attrs.with == attrs.without)
		return PD_SAMPLE_ID_UNKNOWN;
	return attrs.with > attrs.without ? PD_SAMPLE_ID_PRESENT : PD_SAMPLE_ID_ABSENT;
}

int pd_correct_attr_flags(const struct pd_loader *l, const struct pd_section *data)
{
	struct pd_session *s = l->session;
	const struct pd_section window = { .offset = data->offset,
		.size = data->size < WINDOW ? data->size : WINDOW };
	const struct votes attrs = ask_attrs(s);
	struct pd_buf bytes = { .budget = s->budget };
	enum pd_sample_id_seen seen;
	struct pd_error ignored;

	if (!s->nr_attrs || ((!attrs.with || !attrs.without) && has_event_desc(l->container)))
		return 0;
	if (pd_section_read(l->source, &window, &bytes, &ignored))
		bytes.size = 0;		/* what can't be read is reported where it is read */
	seen = decide(ask_records(s, pd_buf_bytes(&bytes)), attrs);
	pd_buf_free(&bytes);
	if (seen != PD_SAMPLE_ID_UNKNOWN)
		return set_flag(l, seen);
	if (attrs.with && attrs.without)
		report(l, PD_E_MISMATCH, "events differ in it");
	return 0;
}
