/* page_times.c - the samples of the page, one by one: when each thread was where. */
#include "page/page_times.h"

#include <inttypes.h>
#include <stdio.h>

void pp_page_times_init(struct pp_page_times *t, const struct pp_parts *parts, size_t event)
{
	*t = (struct pp_page_times){ .parts = parts, .first = pp_parts_of(parts, event) };
	for (t->end = t->first; t->end < parts->nr && parts->items[t->end].event == event; t->end++)
		t->nr += parts->items[t->end].samples;
}

void pp_pack_threads(struct pp_packing *k, const struct pp_page_times *t)
{
	const struct pp_profile *p = t->parts->p;
	char text[96];

	pp_pack_text(k, "\"threads\":[");
	for (size_t i = t->first; t->step && i < t->end; i++) {
		const struct pp_part *part = &t->parts->items[i];
		const struct pp_track *track = &p->tracks.items[part->track];

		pp_pack_text(k, i == t->first ? "[" : ",[");
		pp_pack_string(k, pp_strings_at(&p->strings, track->comm));
		snprintf(text, sizeof(text), ",%" PRId32 ",%" PRId32 ",%" PRIu64 "]", track->pid,
			 track->tid, (part->samples + t->step - 1) / t->step);
		pp_pack_text(k, text);
	}
	pp_pack_text(k, "]");
}

static void put_part(struct pp_out *out, const struct pp_page_times *t, const struct pp_part *part,
		     uint64_t first)
{
	uint64_t n = 0, weight = 0, last = 0;
	struct pp_part_reader r = pp_part_read(t->parts, part);
	struct pp_item item = { 0 };

	while (pp_part_next(&r, &item)) {
		uint64_t time;
		uint32_t node;
		uint8_t *to;

		weight += item.weight;
		if (++n % t->step && n < part->samples)
			continue;
		time = item.time > first ? (item.time - first) / 1000 : 0;
		node = t->order[t->j->places[t->parts->p->places[item.node].node]];
		to = pp_write_varint((uint8_t *)pp_room(out), time - last);
		to = pp_write_varint(to, node);
		pp_wrote(out, (const char *)pp_write_varint(to, weight));
		weight = 0;
		last = time;
	}
}

void pp_put_samples(struct pp_out *out, const struct pp_page_times *t)
{
	const uint64_t first = t->step ? pp_tracks_first(&t->parts->p->tracks) : 0;

	for (size_t i = t->first; t->step && i < t->end; i++)
		put_part(out, t, &t->parts->items[i], first);
}
