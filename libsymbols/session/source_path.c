/* source_path.c - paths of source files, with other beginnings where the caller asks for them. */
#include <string.h>

#include "session/session.h"

/* As with the compilers' options, the last one that fits counts. */
static const struct ps_prefix *find_prefix(const struct ps_session *s, const char *path)
{
	for (size_t i = s->options.nr_prefixes; i--;)
		if (strncmp(path, s->options.prefixes[i].from,
			    strlen(s->options.prefixes[i].from)) == 0)
			return &s->options.prefixes[i];
	return NULL;
}

static const char *replace_beginning(struct ps_session *s, const char *path,
				     const struct ps_prefix *prefix)
{
	const char *rest = path + strlen(prefix->from);
	const size_t n = strlen(prefix->to), m = strlen(rest);
	char *out = pd_arena_alloc(&s->arena, n + m + 1);

	if (!out)
		return NULL;
	memcpy(out, prefix->to, n);
	memcpy(out + n, rest, m + 1);
	return out;
}

const char *ps_session_source_path(struct ps_session *s, const char *path)
{
	const struct ps_prefix *prefix = path ? find_prefix(s, path) : NULL;
	const uint64_t key = (uintptr_t)path;
	const char *out;

	if (!prefix)
		return path;
	out = pd_map_find(&s->source_paths, key);
	if (out)
		return out;
	out = replace_beginning(s, path, prefix);
	if (out)
		pd_map_add(&s->source_paths, key, (void *)(uintptr_t)out);
	return out;
}
