/* namer.c - a session as the source of names of JSON, profiles and tables. */
#include "session/session.h"

static void name_frame(void *session, int32_t pid, const struct pd_location *l,
		       struct pd_frame_names *out)
{
	ps_resolve(session, pid, l, out);
}

static size_t locate_frames(void *session, const struct pd_record *sample,
			    struct pd_location *out, size_t capacity, const char **end)
{
	enum ps_end why;
	const size_t n = ps_frames(session, sample, out, capacity, &why);

	*end = ps_end_name(why);
	return n;
}

static bool describe_image(void *session, uint32_t index, struct pd_image_file *out)
{
	return ps_session_image(session, index, out);
}

static uint64_t find_since(void *session, int32_t pid, const struct pd_location *l)
{
	return ps_session_since(session, pid, l);
}

struct pd_namer ps_session_namer(struct ps_session *s)
{
	return (struct pd_namer){
		.size = sizeof(struct pd_namer), .frame = name_frame, .frames = locate_frames,
		.image = describe_image, .ctx = s, .since = find_since,
	};
}
