/* prologue.c - the start of a recording. */
#include "run/prologue.h"

#include <stdlib.h>
#include <string.h>

#include "hostinfo/hostinfo.h"
#include "run/aux_info.h"
#include "run/metadata.h"
#include "synth/synth.h"

enum { UPDATE_UNIT = 0, UPDATE_SCALE = 1, UPDATE_CPUS = 3 };

static int write_update(struct recording *r, uint64_t type, uint64_t id, struct pd_value value)
{
	const struct pd_value fields[] = {
		PD_NUMBER("update_type", type), PD_NUMBER("id", id), value,
	};

	return pd_writer_record(r->file.writer, PD_RECORD_EVENT_UPDATE, 0, -1, fields, 3,
				(struct pd_bytes){ 0 }, &r->file.error);
}

static int no_memory(struct recording *r)
{
	r->file.error = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	return -1;
}

static int write_cpus_update(struct recording *r, const struct event *e, uint64_t id)
{
	uint64_t *cpus = malloc(e->cpus.n * sizeof(*cpus));
	int err = 0;

	if (!cpus)
		return no_memory(r);
	for (size_t i = 0; i < e->cpus.n; i++)
		cpus[i] = (uint64_t)e->cpus.items[i];
	const struct pd_value map[] = {
		PD_NUMBER("type", 0), PD_NUMBERS("cpus", cpus, e->cpus.n),
	};
	err = write_update(r, UPDATE_CPUS, id, (struct pd_value)PD_OBJECT("cpu_map", map, 2));
	free(cpus);
	return err;
}

/* Unit, scale and CPUs of an event, as its PMU states them. */
static int write_updates(struct recording *r, const struct event *e, uint64_t id)
{
	uint64_t scale;
	int err = 0;

	if (e->unit)
		err = write_update(r, UPDATE_UNIT, id, (struct pd_value)PD_TEXT("unit", e->unit));
	memcpy(&scale, &e->scale, sizeof(scale));
	if (!err && scale)
		err = write_update(r, UPDATE_SCALE, id, (struct pd_value)PD_NUMBER("scale", scale));
	if (!err && e->cpus.n)
		err = write_cpus_update(r, e, id);
	return err;
}

/* Adds each event with the ids of its counters. */
static int add_events(struct recording *r)
{
	uint64_t *ids = malloc((r->counters.n + 1) * sizeof(*ids));
	int err = ids ? 0 : no_memory(r);

	for (size_t i = 0; i < r->events.n && !err; i++) {
		size_t n = 0;

		for (size_t j = 0; j < r->counters.n; j++)
			if (r->counters.items[j].event == i)
				ids[n++] = r->counters.items[j].id;
		err = datafile_add_event(r->file.writer, &r->events.items[i], ids, n,
					 &r->file.error);
		if (!err && r->file.symbols.header)
			err = datafile_add_event(r->file.symbols.header, &r->events.items[i], ids,
						 n, &r->file.error);
	}
	free(ids);
	return err;
}

static int write_all_updates(struct recording *r)
{
	for (size_t i = 0; i < r->events.n; i++) {
		for (size_t j = 0; j < r->counters.n; j++) {
			if (r->counters.items[j].event != i)
				continue;
			if (write_updates(r, &r->events.items[i], r->counters.items[j].id))
				return -1;
			break;
		}
	}
	return 0;
}

static int write_id_index(struct recording *r)
{
	struct synth_id *ids = malloc((r->counters.n + 1) * sizeof(*ids));
	int err;

	if (!ids)
		return no_memory(r);
	for (size_t i = 0; i < r->counters.n; i++) {
		const struct counter *c = &r->counters.items[i];
		size_t ring = 0;

		while (ring + 1 < r->rings.n && (r->rings.items[ring].cpu != c->cpu ||
			(c->cpu < 0 && r->rings.items[ring].tid != c->tid)))
			ring++;
		ids[i] = (struct synth_id){ c->id, ring, c->cpu, c->tid };
	}
	err = synth_id_index(r->file.writer, ids, r->counters.n, &r->file.error);
	free(ids);
	return err;
}

int prologue_write(struct recording *r)
{
	r->began = r->began ? r->began : time(NULL);
	struct pd_writer *w = r->file.writer;
	struct pd_error *e = &r->file.error;

	if (add_events(r) || datafile_begin(&r->file))
		return -1;
	if (r->file.mode == PD_MODE_PIPE && metadata_stream(r))
		return -1;
	if (write_all_updates(r) || synth_time_conv(w, r->rings.items[0].page, e) ||
	    write_id_index(r) || aux_info_write(r))
		return -1;
	if (!r->options->tail_synth && !background_plan(r) && metadata_existing(r))
		return -1;
	if (r->file.mode != PD_MODE_PIPE && pd_writer_flush(w, e))
		return -1;
	return 0;
}
