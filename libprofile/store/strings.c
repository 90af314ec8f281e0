/* strings.c - strings, each kept once. */
#include "store/strings.h"

#include <string.h>

#include "base/compare.h"

static bool is_same_text(const void *ctx, uint32_t id, const void *key)
{
	const struct pd_bytes *want = key;

	return pd_same_bytes(pp_strings_at(ctx, id), *want);
}

uint32_t pp_strings_add(struct pp_strings *s, struct pp_memory *m, const char *text, size_t size)
{
	const struct pd_bytes key = { (const uint8_t *)text, size };
	const uint32_t hash = (uint32_t)pd_hash_bytes(pp_index_seed(&s->index), text, size);
	const uint32_t found = pp_index_find(&s->index, hash, s, &key, is_same_text);
	char *bytes;
	void *items;

	if (found != PP_NONE)
		return found;
	bytes = pp_memory_grow(m, s->bytes, &s->capacity, s->size + size + 1, 1);
	if (!bytes)
		return PP_NONE;
	s->bytes = bytes;
	items = pp_memory_grow(m, s->items, &s->items_capacity, s->nr + 1, sizeof(*s->items));
	if (!items)
		return PP_NONE;
	s->items = items;
	if (s->nr >= PP_NONE - 1 || pp_index_add(&s->index, m, hash, (uint32_t)s->nr))
		return PP_NONE;
	memcpy(s->bytes + s->size, text, size);
	s->bytes[s->size + size] = '\0';
	s->items[s->nr] = (struct pp_string){ s->size, size };
	s->size += size + 1;
	return (uint32_t)s->nr++;
}

struct pd_bytes pp_strings_at(const struct pp_strings *s, uint32_t i)
{
	return (struct pd_bytes){ (const uint8_t *)s->bytes + s->items[i].start, s->items[i].size };
}

struct pd_bytes pp_last_part(struct pd_bytes path)
{
	const uint8_t *slash = path.size ? memrchr(path.data, '/', path.size) : NULL;
	const size_t start = slash ? (size_t)(slash + 1 - path.data) : 0;

	return start < path.size ? (struct pd_bytes){ path.data + start, path.size - start } : path;
}

void pp_strings_free(struct pp_strings *s, struct pp_memory *m)
{
	pp_memory_free(m, s->bytes, s->capacity, 1);
	pp_memory_free(m, s->items, s->items_capacity, sizeof(*s->items));
	pp_index_free(&s->index, m);
	*s = (struct pp_strings){ 0 };
}
