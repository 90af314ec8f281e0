/* texts.c - the dictionary of a column: UTF-8 texts, each kept once. */
#include "store/texts.h"

#include "base/compare.h"

void pc_texts_init(struct pc_texts *t, struct pd_budget *budget)
{
	*t = (struct pc_texts){ .bytes.budget = budget, .offsets.budget = budget,
				.index.budget = budget };
}

void pc_texts_clear(struct pc_texts *t)
{
	pc_index_clear(&t->index);
	t->bytes.size = t->offsets.size = t->nr = t->last = 0;
	memset(t->names, 0, sizeof(t->names));
}

void pc_texts_free(struct pc_texts *t)
{
	pc_index_free(&t->index);
	pd_buf_free(&t->bytes);
	pd_buf_free(&t->offsets);
}

struct pd_bytes pc_texts_at(const struct pc_texts *t, size_t i)
{
	const int32_t *offsets = (const int32_t *)(const void *)t->offsets.data;

	return (struct pd_bytes){ t->bytes.data + offsets[i],
				  (size_t)(offsets[i + 1] - offsets[i]) };
}

static bool is_same_text(const void *ctx, uint32_t id, const void *key)
{
	const struct pd_bytes *want = key;

	return pd_same_bytes(pc_texts_at(ctx, id), *want);
}

/* Returns the size of the character at the start of a text, 0: not UTF-8. */
static size_t character_size(struct pd_bytes text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t first = text.data[0];
	const size_t size = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 :
			    first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
	uint32_t c = size == 1 ? first : first & (0x7fu >> size);

	if (size > text.size)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if ((text.data[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (text.data[i] & 0x3f);
	}
	return !size || c < least[size] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : size;
}

/* Returns how many bytes at the start of a text are ASCII, eight at a time. */
static size_t ascii_size(struct pd_bytes text)
{
	uint64_t eight;
	size_t n = 0;

	while (text.size - n >= sizeof(eight)) {
		memcpy(&eight, text.data + n, sizeof(eight));
		if (eight & 0x8080808080808080u)
			break;
		n += sizeof(eight);
	}
	return n;
}

/* Returns the size of the characters at the start of a text, up to what is not UTF-8. */
static size_t utf8_size(struct pd_bytes text)
{
	size_t n = 0, size = 1;

	while (size && n < text.size) {
		const struct pd_bytes rest = { text.data + n, text.size - n };

		size = ascii_size(rest);
		size = size ? size : character_size(rest);
		n += size;
	}
	return n;
}

void pc_append_utf8(struct pd_buf *to, struct pd_bytes text)
{
	while (text.size) {
		size_t size = utf8_size(text);

		pd_buf_append(to, text.data, size);
		if (size < text.size) {
			pd_buf_append(to, "\xef\xbf\xbd", 3);
			size++;
		}
		text = (struct pd_bytes){ text.data + size, text.size - size };
	}
}

static uint32_t append_text(struct pc_texts *t, uint32_t hash, struct pd_bytes text)
{
	const int32_t start = (int32_t)t->bytes.size;
	int32_t end;

	if (text.size > (size_t)INT32_MAX - t->bytes.size)
		return PC_NONE;
	if (!t->nr)
		pd_buf_append(&t->offsets, &start, sizeof(start));
	pd_buf_append(&t->bytes, text.data, text.size);
	end = (int32_t)t->bytes.size;
	pd_buf_append(&t->offsets, &end, sizeof(end));
	if (t->bytes.failed || t->offsets.failed ||
	    pc_index_add(&t->index, hash, (uint32_t)t->nr))
		return PC_NONE;
	return (uint32_t)t->nr++;
}

static uint32_t add_utf8(struct pc_texts *t, struct pd_bytes text)
{
	const uint32_t hash = (uint32_t)pd_hash_bytes(pc_index_seed(&t->index), text.data,
						      text.size);
	const uint32_t found = pc_index_find(&t->index, hash, is_same_text, t, &text);

	return found != PC_NONE ? found : append_text(t, hash, text);
}

uint32_t pc_texts_add(struct pc_texts *t, struct pd_bytes text)
{
	struct pd_buf valid = { .budget = t->bytes.budget };
	uint32_t id;

	if (t->last < t->nr && is_same_text(t, t->last, &text))
		return t->last;
	if (utf8_size(text) == text.size)
		return t->last = add_utf8(t, text);
	pc_append_utf8(&valid, text);
	id = valid.failed ? PC_NONE : add_utf8(t, pd_buf_bytes(&valid));
	pd_buf_free(&valid);
	return id;
}

uint32_t pc_texts_add_name(struct pc_texts *t, const char *name)
{
	struct pc_name *last = &t->names[(uint32_t)pd_hash_mix(0, (uintptr_t)name) % PC_NR_NAMES];

	if (last->name == name)
		return last->id;
	last->id = pc_texts_add(t, pc_text_bytes(name));
	last->name = last->id == PC_NONE ? NULL : name;
	return last->id;
}
