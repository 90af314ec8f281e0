/* proto.c - messages of protocol buffers, written field by field. */
#include "encoding/proto.h"

#include <string.h>

#include "encoding/out.h"

enum { VARINT = 0, BYTES = 2 };

/* Returns where `size` more bytes of a message can be written, or NULL without memory. */
static uint8_t *make_room(struct pp_proto *c, struct pp_message *m, size_t size)
{
	uint8_t *bytes = c->failed ? NULL :
		pp_memory_grow(c->memory, m->bytes, &m->capacity, m->size + size, 1);

	if (!bytes) {
		c->failed = -1;
		return NULL;
	}
	m->bytes = bytes;
	return bytes + m->size;
}

void pp_proto_bytes(struct pp_proto *c, struct pp_message *m, const void *data, size_t size)
{
	uint8_t *to = make_room(c, m, size);

	if (!to)
		return;
	if (size)
		memcpy(to, data, size);
	m->size += size;
}

void pp_proto_zeros(struct pp_proto *c, struct pp_message *m, size_t nr)
{
	uint8_t *to = nr ? make_room(c, m, nr) : NULL;

	if (!to)
		return;
	memset(to, 0, nr);
	m->size += nr;
}

void pp_proto_varint(struct pp_proto *c, struct pp_message *m, uint64_t n)
{
	uint8_t *to = make_room(c, m, PP_VARINT_MOST);

	if (to)
		m->size = (size_t)(pp_write_varint(to, n) - m->bytes);
}

void pp_proto_number(struct pp_proto *c, struct pp_message *m, unsigned int field, uint64_t n)
{
	if (!n)
		return;
	pp_proto_varint(c, m, field << 3 | VARINT);
	pp_proto_varint(c, m, n);
}

static void put_length(struct pp_proto *c, struct pp_message *m, unsigned int field, size_t size)
{
	pp_proto_varint(c, m, field << 3 | BYTES);
	pp_proto_varint(c, m, size);
}

void pp_proto_part(struct pp_proto *c, struct pp_message *m, unsigned int field,
		   struct pp_message *part)
{
	put_length(c, m, field, part->size);
	pp_proto_bytes(c, m, part->bytes, part->size);
	part->size = 0;
}

void pp_proto_string(struct pp_proto *c, struct pp_message *m, unsigned int field,
		     struct pd_bytes text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t nr_bad = 0;

	for (struct pd_bytes rest = text; rest.size;)
		nr_bad += pp_next_character(&rest) >= 0x110000;
	put_length(c, m, field, text.size + nr_bad * (strlen(replacement) - 1));
	if (!nr_bad)
		pp_proto_bytes(c, m, text.data, text.size);
	while (nr_bad && text.size) {
		const uint8_t *start = text.data;

		if (pp_next_character(&text) >= 0x110000)
			pp_proto_bytes(c, m, replacement, strlen(replacement));
		else
			pp_proto_bytes(c, m, start, (size_t)(text.data - start));
	}
}

uint32_t pp_proto_number_of(struct pp_proto *c, struct pp_strings *strings, struct pd_bytes text)
{
	const uint32_t id = pp_strings_add(strings, c->memory, (const char *)text.data, text.size);

	if (id == PP_NONE)
		c->failed = -1;
	return id == PP_NONE ? 0 : id;
}

void pp_proto_free(struct pp_proto *c, struct pp_message *m)
{
	pp_memory_free(c->memory, m->bytes, m->capacity, 1);
	*m = (struct pp_message){ 0 };
}
