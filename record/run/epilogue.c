/* epilogue.c - the end of a recording. */
#include <string.h>

#include "run/hit_files.h"
#include "run/metadata.h"
#include "run/prologue.h"

static int write_lost_record(struct recording *r, size_t event, uint64_t id, uint64_t lost)
{
	uint64_t sample_type = r->events.items[event].attr.sample_type;
	struct pd_value ids[2];
	size_t n = 0;

	if (sample_type & PERF_SAMPLE_ID)
		ids[n++] = (struct pd_value)PD_NUMBER("id", id);
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		ids[n++] = (struct pd_value)PD_NUMBER("identifier", id);
	const struct pd_value fields[] = {
		PD_NUMBER("lost", lost), PD_OBJECT("sample_id", ids, n),
	};
	return pd_writer_record(r->file.writer, PD_RECORD_LOST_SAMPLES, 0, (int)event, fields, 2,
				(struct pd_bytes){ 0 }, &r->file.error);
}

/* Writes a LOST_SAMPLES record for each event that lost any since the last call. */
static int write_lost_counts(struct recording *r, uint64_t *lost)
{
	for (size_t i = 0; i < r->events.n; i++) {
		uint64_t sum = 0, id = 0;

		for (size_t j = 0; j < r->counters.n; j++) {
			struct counter *c = &r->counters.items[j];
			uint64_t n;

			if (c->event != i || !counter_lost(c, &r->events.items[i].attr, &n))
				continue;
			sum += n - c->lost;
			c->lost = n;
			id = id ? id : c->id;
		}
		if (!sum)
			continue;
		*lost += sum;
		if (write_lost_record(r, i, id, sum))
			return -1;
	}
	return 0;
}

int epilogue_write(struct recording *r, uint64_t *lost)
{
	struct pd_writer *w = r->file.writer;
	struct pd_error *e = &r->file.error;

	if (r->options->tail_synth && metadata_existing(r))
		return -1;
	if (write_lost_counts(r, lost) || pd_writer_flush(w, e))
		return -1;
	if (r->file.mode != PD_MODE_PIPE && metadata_file(r))
		return -1;
	if (pd_writer_finish(w, e))
		return -1;
	if (r->file.symbols.path)
		hit_files_symbols_file(r);
	return 0;
}
