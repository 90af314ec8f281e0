/* text.c - texts of a bounded length. */
#include <string.h>

#include "session/session.h"

const char *ps_session_text(struct ps_session *s, struct pd_bytes text, size_t max)
{
	static const char rest[] = "...";
	size_t n = max - sizeof(rest);
	char *out;

	if (text.size < max)
		return pd_arena_text(&s->arena, text.data, text.size);
	while (n && (text.data[n] & 0xc0) == 0x80)	/* inside a character */
		n--;
	out = pd_arena_alloc(&s->arena, n + sizeof(rest));
	if (!out)
		return NULL;
	memcpy(out, text.data, n);
	memcpy(out + n, rest, sizeof(rest));
	return out;
}
