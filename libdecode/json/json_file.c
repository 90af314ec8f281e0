/* json_file.c - writes the parts of the JSON that are not records: file, attrs, errors, summary. */
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "layout/container.h"
#include "stats/account.h"

#define CHUNK 4096

#define NUMBER_OF(j, name, v) PD_JSONW_NUMBER(&(j)->w, name, v)
#define STRING_OF(j, name, text) PD_JSONW_STRING(&(j)->w, name, text)

static void write_sections(struct pd_json *j, const struct pd_file_info *f)
{
	PD_JSONW_KEY(&j->w, "sections");
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i < f->nr_sections; i++) {
		const struct pd_section *s = &f->sections[i];

		pd_jsonw_comma(&j->w);
		pd_jsonw_char(&j->w, '{');
		STRING_OF(j, "name", s->name);
		if (strcmp(s->name, "ids") == 0)
			NUMBER_OF(j, "attr_index", s->attr_index);
		NUMBER_OF(j, "offset", s->offset);
		NUMBER_OF(j, "size", s->size);
		if (s->unread)
			NUMBER_OF(j, "unread", 1);
		pd_jsonw_char(&j->w, '}');
	}
	pd_jsonw_char(&j->w, ']');
}

static void write_gaps(struct pd_json *j, const struct pd_file_info *f)
{
	uint8_t chunk[CHUNK];

	PD_JSONW_KEY(&j->w, "gaps");
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i < f->nr_gaps; i++) {
		uint64_t at = f->gaps[i].offset, end = at + f->gaps[i].size;

		pd_jsonw_comma(&j->w);
		pd_jsonw_char(&j->w, '{');
		NUMBER_OF(j, "offset", at);
		PD_JSONW_KEY(&j->w, "data");
		pd_jsonw_char(&j->w, '"');
		while (at < end) {
			const size_t want = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
			const int64_t n = pd_reader_read_at(j->reader, at, chunk, want);

			if (n <= 0)
				break;
			pd_jsonw_hex_inside(&j->w, (struct pd_bytes){ chunk, (size_t)n });
			at += (uint64_t)n;
		}
		pd_jsonw_raw(&j->w, "\"}", 2);
	}
	pd_jsonw_char(&j->w, ']');
}

static void write_file_names(struct pd_json *j)
{
	const char *const *names;
	size_t n = pd_reader_files(j->reader, &names);

	PD_JSONW_KEY(&j->w, "files");
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i < n; i++) {
		pd_jsonw_comma(&j->w);
		pd_jsonw_string(&j->w, names[i]);
	}
	pd_jsonw_char(&j->w, ']');
}

/* The feature bits of the header: a bit without a name is FEATURE_n. */
static void write_adds_features(struct pd_json *j, const struct pd_file_info *f)
{
	PD_JSONW_KEY(&j->w, "adds_features");
	pd_jsonw_char(&j->w, '[');
	for (uint32_t bit = 0; bit < PD_FEATURE_BITS; bit++) {
		const struct pd_feature_desc *d = pd_feature_desc(bit);

		if (!f->adds_features[bit])
			continue;
		pd_jsonw_comma(&j->w);
		if (d) {
			pd_jsonw_string(&j->w, d->field->name);
			continue;
		}
		pd_jsonw_raw(&j->w, "\"FEATURE_", 9);
		pd_jsonw_unsigned(&j->w, bit);
		pd_jsonw_char(&j->w, '"');
	}
	pd_jsonw_char(&j->w, ']');
}

/* Names of events, which perf wrote before 3.12. */
static void write_event_types(struct pd_json *j, const struct pd_file_info *f)
{
	const struct pd_facts none = { .cpus_available = 0 };
	struct pd_plan *plan;
	uint8_t entry[PD_EVENT_TYPE_SIZE];

	for (size_t i = 0; i < f->nr_sections; i++) {
		const struct pd_section *s = &f->sections[i];

		if (strcmp(s->name, "event_types") != 0 || !s->size)
			continue;
		plan = pd_plan_compile(pd_event_type_fields, &none, &j->own);
		PD_JSONW_KEY(&j->w, "event_types");
		pd_jsonw_char(&j->w, '[');
		for (uint64_t at = 0; plan && at + sizeof(entry) <= s->size; at += sizeof(entry)) {
			const struct pd_bytes bytes = { entry, sizeof(entry) };
			struct pd_extent_of extent;

			if (pd_reader_read_at(j->reader, s->offset + at, entry, sizeof(entry)) !=
			    sizeof(entry))
				break;
			pd_jsonw_comma(&j->w);
			pd_jsonw_char(&j->w, '{');
			pd_measure(plan, bytes, 0, j->session->swap, PD_TEXT_TO_END, &extent);
			pd_visit(plan, bytes, 0, j->session->swap, &extent, &pd_json_visitor, j);
			pd_jsonw_char(&j->w, '}');
		}
		pd_jsonw_char(&j->w, ']');
		pd_plan_free(plan);
	}
}

void pd_json_file(struct pd_json *j)
{
	static const char *const modes[] = { "file", "pipe", "directory" };
	const struct pd_file_info *f = pd_reader_file(j->reader);

	STRING_OF(j, "mode", modes[f->mode]);
	STRING_OF(j, "byte_order", f->byte_order == PD_BIG_ENDIAN ? "big" : "little");
	if (f->v1)
		STRING_OF(j, "magic", "PERFFILE");
	if (f->magic_is_damaged) {
		PD_JSONW_KEY(&j->w, "magic_hex");
		pd_jsonw_hex(&j->w, (struct pd_bytes){ f->magic, sizeof(f->magic) });
	}
	if (f->size_known)
		NUMBER_OF(j, "size", f->size);
	NUMBER_OF(j, "header_size", f->header_size);
	if (f->mode != PD_MODE_PIPE) {
		NUMBER_OF(j, "attr_size", f->attr_size);
		NUMBER_OF(j, "data_offset", f->data_offset);
		NUMBER_OF(j, "data_size", f->data_size);
		NUMBER_OF(j, "long_size", f->long_size);
	}
	if (f->mode != PD_MODE_PIPE)
		write_adds_features(j, f);
	PD_JSONW_KEY(&j->w, "complete");
	pd_jsonw_raw(&j->w, f->complete ? "true" : "false", f->complete ? 4 : 5);
	if (f->mode == PD_MODE_DIRECTORY)
		write_file_names(j);
	if (f->mode != PD_MODE_PIPE) {
		write_sections(j, f);
		write_event_types(j, f);
		write_gaps(j, f);
	}
}

void pd_json_attr(struct pd_json *j, const struct pd_attr *a)
{
	struct pd_bytes rest;

	NUMBER_OF(j, "index", a->index);
	STRING_OF(j, "name", pd_attr_name(a));
	PD_JSONW_KEY(&j->w, "ids");
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i < a->nr_ids; i++) {
		pd_jsonw_comma(&j->w);
		pd_jsonw_unsigned(&j->w, a->ids[i]);
	}
	pd_jsonw_char(&j->w, ']');
	if (a->is_restored) {
		PD_JSONW_KEY(&j->w, "restored");
		pd_jsonw_raw(&j->w, "true", 4);
	}
	rest = pd_reader_visit_attr(j->reader, a, &pd_json_visitor, j);
	if (rest.size) {
		PD_JSONW_KEY(&j->w, "trailing");
		pd_jsonw_hex(&j->w, rest);
	}
}

static void write_error(struct pd_json *j, const struct pd_error *e, const char *text)
{
	static const char *const severities[] = { "", "note", "damaged", "fatal" };

	NUMBER_OF(j, "offset", e->offset);
	if (e->file)
		STRING_OF(j, "file", e->file);
	STRING_OF(j, "code", pd_code_name(e->code));
	STRING_OF(j, "severity", severities[e->severity]);
	if (e->record)
		STRING_OF(j, "record", e->record);
	if (e->field && *e->field)
		STRING_OF(j, "field", e->field);
	NUMBER_OF(j, "want", e->want);
	NUMBER_OF(j, "have", e->have);
	NUMBER_OF(j, "skipped", e->skipped);
	STRING_OF(j, "message", text);
}

void pd_json_error(struct pd_json *j, const struct pd_error *e)
{
	char text[256];

	write_error(j, e, pd_error_text(e, text, sizeof(text)));
}

void pd_json_errors_left_out(struct pd_json *j)
{
	const struct pd_error e = { .code = PD_E_LIMIT, .severity = PD_DAMAGED, .field = "errors",
		.want = j->counts.errors, .have = j->counts.errors - j->unlisted };
	char text[96];

	snprintf(text, sizeof(text),
		 "%" PRIu64 " more error%s: the memory limit is too low to list them",
		 j->unlisted, j->unlisted == 1 ? "" : "s");
	write_error(j, &e, text);
}

void pd_json_count(struct pd_json *j, const struct pd_record *r)
{
	struct pd_json_counts *c = &j->counts;
	uint32_t type = r->frame.type;
	uint64_t *other;

	if (r->frame.state == PD_FRAME_SKIPPED) {
		c->skipped += r->frame.bytes.size + r->frame.zeros;
		return;
	}
	c->records++;
	if (type < PD_JSON_TYPES) {
		c->by_type[type]++;
	} else if (!r->frame.desc) {
		c->unknown++;
	} else {
		other = pd_map_find(&c->others, type);
		if (!other) {
			other = pd_arena_alloc(&j->arena, sizeof(*other));
			if (!other || pd_map_add(&c->others, type, other) < 0)
				return;
		}
		++*other;
	}
	pd_totals_record(&c->totals, r);
}

static void write_type_count(struct pd_json *j, uint32_t type, uint64_t n, uint64_t *unknown)
{
	const struct pd_record_desc *d = pd_record_desc(type);

	if (!n)
		return;
	if (!d) {
		*unknown += n;
		return;
	}
	pd_jsonw_comma(&j->w);
	pd_jsonw_string(&j->w, d->name);
	pd_jsonw_char(&j->w, ':');
	pd_jsonw_unsigned(&j->w, n);
}

/* Types from PD_JSON_TYPES on are in the order of the tables, not of the map. */
static void write_by_type(struct pd_json *j)
{
	const struct pd_json_counts *c = &j->counts;
	const struct pd_record_desc *d;
	uint64_t unknown = c->unknown;

	PD_JSONW_KEY(&j->w, "by_type");
	pd_jsonw_char(&j->w, '{');
	for (uint32_t type = 0; type < PD_JSON_TYPES; type++)
		write_type_count(j, type, c->by_type[type], &unknown);
	for (size_t i = 0; (d = pd_record_desc_at(i)); i++) {
		const uint64_t *n = d->type < PD_JSON_TYPES ? NULL :
							      pd_map_find(&c->others, d->type);

		if (n)
			write_type_count(j, d->type, *n, &unknown);
	}
	if (unknown)
		NUMBER_OF(j, "UNKNOWN", unknown);
	pd_jsonw_char(&j->w, '}');
}

void pd_json_summary(struct pd_json *j)
{
	const struct pd_json_counts *c = &j->counts;
	const bool complete = pd_reader_file(j->reader)->complete;

	NUMBER_OF(j, "records", c->records);
	if (j->options.filter)
		NUMBER_OF(j, "filtered", pd_filter_dropped(j->options.filter));
	write_by_type(j);
	NUMBER_OF(j, "lost", c->totals.lost);
	NUMBER_OF(j, "lost_samples", c->totals.lost_samples);
	if (c->totals.first[0]) {
		NUMBER_OF(j, "first_time", pd_totals_first_time(&c->totals));
		NUMBER_OF(j, "last_time", pd_totals_last_time(&c->totals));
	}
	pd_json_name_summary(j);
	NUMBER_OF(j, "errors", c->errors);
	NUMBER_OF(j, "skipped", c->skipped);
	pd_account_write(&j->w, j->reader);
	PD_JSONW_KEY(&j->w, "complete");
	pd_jsonw_raw(&j->w, complete ? "true" : "false", complete ? 4 : 5);
}
