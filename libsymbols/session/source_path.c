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

/* Returns NULL without memory. */
static const char *make_path(struct ps_session *s, struct pd_bytes path,
			     const struct ps_prefix *prefix)
{
	const char *out = (const char *)path.data;

	if (path.size >= PS_SOURCE_PATH_MAX)
		out = ps_session_text(s, path, PS_SOURCE_PATH_MAX);
	return out && prefix ? replace_beginning(s, out, prefix) : out;
}

const char *ps_session_source_path(struct ps_session *s, const char *path)
{
	const struct ps_prefix *prefix = path ? find_prefix(s, path) : NULL;
	const struct pd_bytes read = { (const uint8_t *)path,
				       path ? strnlen(path, PS_SOURCE_PATH_MAX) : 0 };
	const uint64_t key = (uintptr_t)path;
	const char *out;

	if (!prefix && read.size < PS_SOURCE_PATH_MAX)
		return path;
	out = pd_map_find(&s->source_paths, key);
	if (out)
		return out;
	out = make_path(s, read, prefix);
	if (out)
		pd_map_add(&s->source_paths, key, (void *)(uintptr_t)out);
	return out;
}
