/* attr_copies.c - chooses between attributes and their copies by the samples, which fit the layout
 * that they were written with. A single wrong bit of sample_type makes all samples unreadable.
 */
#include "container/attr_copies.h"

#include "container/sections.h"
#include "session/sample_id_flag.h"

#define WINDOW (256 * 1024)	/* bytes of records that are looked at */

/* Returns whether the sample's event is known, and its fields fill it. Sets *failed without
 * memory. */
static bool sample_fits(struct pd_session *s, struct pd_bytes sample, uint16_t misc, bool *failed)
{
	struct pd_record r = { .session = s, .frame = {
		.type = PD_RECORD_SAMPLE, .misc = misc, .size = (uint16_t)sample.size,
		.bytes = sample, .inner_offset = PD_OUTER,
		.desc = pd_record_desc(PD_RECORD_SAMPLE), .state = PD_FRAME_WHOLE } };

	if (pd_record_prepare(&r)) {
		*failed = true;
		return false;
	}
	return r.error.code == PD_OK;
}

/* Returns how many of the first samples fit, or -1 without memory. */
static int count_fitting(struct pd_session *s, struct pd_bytes records)
{
	int nr_samples = 0, fitting = 0;
	bool failed = false;

	for (size_t at = 0; records.size - at >= PD_RECORD_HEADER_SIZE;) {
		const struct pd_record_header h = pd_record_header_load(records.data + at, s->swap);

		if (h.size < PD_RECORD_HEADER_SIZE || h.size > records.size - at ||
		    nr_samples == PD_COPY_RECORDS)
			break;
		if (h.type == PD_RECORD_SAMPLE) {
			nr_samples++;
			fitting += sample_fits(
				s, (struct pd_bytes){ records.data + at, h.size }, h.misc, &failed);
		}
		at += h.size;
	}
	return failed ? -1 : fitting;
}

static void report_exchange(const struct pd_session *s, const struct pd_report *r)
{
	for (size_t i = 0; i < s->nr_attrs; i++)
		if (s->attrs[i]->copy.size)
			r->error(r->ctx, &(struct pd_error){
				.code = PD_E_RESTORED, .severity = PD_DAMAGED,
				.record = "EVENT_DESC", .field = "attr",
				.text = "the samples fit this copy, which is used" });
}

int pd_choose_attr_copies(struct pd_source *source, struct pd_session *s,
			  const struct pd_section *data, const struct pd_report *r)
{
	const struct pd_section window = { .offset = data->offset,
		.size = data->size < WINDOW ? data->size : WINDOW };
	struct pd_buf records = { .budget = s->budget };
	struct pd_error ignored;
	int own, copies, err = 0;

	if (!pd_session_has_copies(s) || pd_section_read(source, &window, &records, &ignored)) {
		pd_buf_free(&records);
		return 0;	/* what can't be read is reported where it is read */
	}
	own = count_fitting(s, pd_buf_bytes(&records));
	err = own < 0 || pd_session_exchange_copies(s) ? -1 : 0;
	copies = err ? -1 : count_fitting(s, pd_buf_bytes(&records));
	if (copies > own)
		report_exchange(s, r);
	else if (!err)
		err = copies < 0 ? -1 : pd_session_exchange_copies(s);
	pd_buf_free(&records);
	return err;
}

/* Returns whether the record has a sample_id that its event does not ask for. */
static bool has_unasked_sample_id(const struct pd_record *r)
{
	return r->frame.state == PD_FRAME_WHOLE && r->attr && !r->attr->trailer_size &&
	       pd_session_see_sample_id(r->session, r->attr, r->frame.bytes) ==
		       PD_SAMPLE_ID_PRESENT;
}

bool pd_record_is_of_copy(const struct pd_record *r)
{
	return r->frame.type < PD_RECORD_USER_START && pd_session_has_copies(r->session) &&
	       (r->error.code != PD_OK || has_unasked_sample_id(r));
}

int pd_choose_by_record(struct pd_record *record, const struct pd_report *r)
{
	struct pd_session *s = record->session;

	if (pd_session_exchange_copies(s) || pd_record_prepare(record))
		return -1;
	if (record->error.code == PD_OK && !has_unasked_sample_id(record)) {
		report_exchange(s, r);
		return 1;
	}
	return pd_session_exchange_copies(s) || pd_record_prepare(record) ? -1 : 0;
}
