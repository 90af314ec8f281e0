/* page_times.c - the samples of the page, one by one: when each thread was where. */
#include "page/page_times.h"

#include <inttypes.h>
#include <stdio.h>

/* Returns whether the page shows a sample. */
static bool is_shown(const struct pp_page_times *t, const struct pp_item *item)
{
	const struct pp_place *place = &t->p->places[item->node];

	return item->kind == PP_ITEM_SAMPLE && place->event == t->event && !place->is_left_out;
}

static uint64_t count_samples(const struct pp_page_times *t, const struct pp_track *track)
{
	struct pp_track_reader r = pp_track_read(&t->p->tracks, track);
	struct pp_item item = { 0 };
	uint64_t n = 0;

	while (pp_track_next(&r, &item))
		n += is_shown(t, &item);
	return n;
}

int pp_page_times_init(struct pp_page_times *t, struct pp_profile *p, size_t event)
{
	*t = (struct pp_page_times){ .p = p, .event = event };
	t->counts = pp_memory_zeroed(&p->memory, p->tracks.nr, sizeof(*t->counts));
	if (!t->counts)
		return -1;
	for (size_t i = 0; i < p->tracks.nr; i++) {
		t->counts[i] = count_samples(t, &p->tracks.items[i]);
		t->nr += t->counts[i];
	}
	return 0;
}

void pp_page_times_free(struct pp_page_times *t)
{
	if (t->p)
		pp_memory_free(&t->p->memory, t->counts, t->p->tracks.nr, sizeof(*t->counts));
}

void pp_pack_threads(struct pp_packing *k, const struct pp_page_times *t)
{
	bool is_first = true;
	char text[96];

	pp_pack_text(k, "\"threads\":[");
	for (size_t i = 0; t->step && i < t->p->tracks.nr; i++) {
		const struct pp_track *track = &t->p->tracks.items[i];
		const uint64_t n = t->counts[i];

		if (!n)
			continue;
		pp_pack_text(k, is_first ? "[" : ",[");
		pp_pack_string(k, pp_strings_at(&t->p->strings, track->comm));
		snprintf(text, sizeof(text), ",%" PRId32 ",%" PRId32 ",%" PRIu64 "]", track->pid,
			 track->tid, (n + t->step - 1) / t->step);
		pp_pack_text(k, text);
		is_first = false;
	}
	pp_pack_text(k, "]");
}

static void put_track(struct pp_out *out, const struct pp_page_times *t, size_t track,
		      uint64_t first)
{
	const uint64_t all = t->counts[track];
	uint64_t n = 0, weight = 0, last = 0;
	struct pp_track_reader r = pp_track_read(&t->p->tracks, &t->p->tracks.items[track]);
	struct pp_item item = { 0 };

	while (pp_track_next(&r, &item)) {
		uint64_t time;
		uint32_t node;
		uint8_t *to;

		if (!is_shown(t, &item))
			continue;
		weight += item.weight;
		if (++n % t->step && n < all)
			continue;
		time = item.time > first ? (item.time - first) / 1000 : 0;
		node = t->order[t->j->places[t->p->places[item.node].node]];
		to = pp_write_varint((uint8_t *)pp_room(out), time - last);
		to = pp_write_varint(to, node);
		pp_wrote(out, (const char *)pp_write_varint(to, weight));
		weight = 0;
		last = time;
	}
}

void pp_put_samples(struct pp_out *out, const struct pp_page_times *t)
{
	const uint64_t first = pp_tracks_first(&t->p->tracks);

	for (size_t i = 0; t->step && i < t->p->tracks.nr; i++)
		put_track(out, t, i, first);
}
