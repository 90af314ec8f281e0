/* recording.c - what the recording itself has for a session: names and source lines in its
 * features, its clock, and when it began. */
#include <string.h>

#include "pd/tree.h"
#include "session/session.h"

static enum ps_clock read_clock(struct pd_reader *r)
{
	struct pd_tree *tree = pd_tree_new(NULL);
	const struct pd_item *attr = NULL, *id;
	struct pd_error e;
	bool is_monotonic;

	if (tree && pd_reader_nr_attrs(r))
		attr = pd_tree_read_attr(tree, r, pd_reader_attr(r, 0), &e);
	id = pd_item_get(attr, "attr.clockid");		/* with use_clockid */
	is_monotonic = id && id->number == CLOCK_MONOTONIC;
	pd_tree_free(tree);
	return is_monotonic ? PS_CLOCK_MONOTONIC : PS_CLOCK_OTHER;
}

/* Sets when it began, if the recording ties its clock to wall time. The age of its file says
 * nothing: it may be a copy. */
static void read_beginning(struct ps_session *s, struct pd_reader *r)
{
	uint64_t first, last, ns;

	s->options.began = 0;
	if (!pd_reader_nr_attrs(r) || !pd_reader_time_span(r, &first, &last) ||
	    !pd_reader_utc(r, pd_reader_attr(r, 0), first, &ns))
		return;
	s->options.began = ns / 1000000000;
	s->wall_at_0 = ns - first;
	s->has_wall = true;
}

/* The same for a recording that ended right now. */
static void read_wall_clock(struct ps_session *s)
{
	const struct ps_options *o = &s->options;
	struct timespec wall, monotonic;

	if (!o->ended || (o->clock == PS_CLOCK_OTHER && !o->moment_monotonic) ||
	    clock_gettime(CLOCK_MONOTONIC, &monotonic) || clock_gettime(CLOCK_REALTIME, &wall))
		return;
	s->wall_at_0 = ps_time_in_ns(&wall) - ps_time_in_ns(&monotonic);
	if (o->clock == PS_CLOCK_OTHER)
		s->wall_at_0 += o->moment_monotonic - o->moment;
	s->has_wall = true;
}

/* HOSTNAME: its size, and a text that is filled up with NULs. */
static bool is_of_machine(struct pd_bytes hostname, const char *machine)
{
	const size_t n = machine ? strlen(machine) : 0;

	return n && hostname.size > 4 + n && memcmp(hostname.data + 4, machine, n + 1) == 0;
}

/* Loads a feature. The bytes are valid until the next one is loaded. */
static struct pd_bytes load_feature(struct pd_reader *r, uint32_t id)
{
	const size_t n = pd_reader_nr_features(r);
	struct pd_feature f;
	struct pd_error e;

	for (size_t i = 0; i < n; i++)
		if (pd_reader_feature(r, i, &f, &e) == 0 && f.id == id)
			return f.bytes;
	return (struct pd_bytes){ NULL, 0 };
}

/* simpleperf writes one of them. */
static void read_device(struct ps_session *s, struct pd_reader *r)
{
	struct pd_bytes section = load_feature(r, PD_FEATURE_SIMPLEPERF_FILE2);

	if (section.size) {
		ps_session_read_device(s, section, PS_SIMPLEPERF_PROTOBUF);
		return;
	}
	section = load_feature(r, PD_FEATURE_SIMPLEPERF_FILE);
	if (section.size)
		ps_session_read_device(s, section, PS_SIMPLEPERF_PLAIN);
}

void ps_session_read_recording(struct ps_session *s)
{
	struct pd_reader *r = s->options.recording;

	if (!r) {
		read_wall_clock(s);
		return;
	}
	read_beginning(s, r);
	s->options.clock = read_clock(r);
	s->is_of_this_machine = is_of_machine(load_feature(r, PD_FEATURE_HOSTNAME),
					      s->options.machine);
	if (!s->options.bundle.size)
		ps_session_read_bundle(s, load_feature(r, PD_FEATURE_PD_SYMBOLS));
	read_device(s, r);
	if (s->options.depth == PS_LINES)
		ps_bpf_read(&s->bpf, r);
}
