/* thrift.c - the compact protocol of Thrift, as far as Parquet needs it. */
#include "encoding/thrift.h"

#include <string.h>

static void put_field(struct pc_thrift *t, int id, enum pc_thrift_type type)
{
	int *last = &t->last[t->depth];

	if (id > *last && id - *last <= 15) {
		pc_put_byte(t->to, (unsigned int)(id - *last) << 4 | type);
	} else {
		pc_put_byte(t->to, type);
		pc_put_varint(t->to, pc_zigzag(id));
	}
	*last = id;
}

void pc_thrift_bool(struct pc_thrift *t, int id, bool value)
{
	put_field(t, id, value ? PC_THRIFT_TRUE : PC_THRIFT_FALSE);
}

void pc_thrift_byte(struct pc_thrift *t, int id, int8_t value)
{
	put_field(t, id, PC_THRIFT_BYTE);
	pc_put_byte(t->to, (uint8_t)value);
}

void pc_thrift_i32(struct pc_thrift *t, int id, int32_t value)
{
	put_field(t, id, PC_THRIFT_I32);
	pc_put_varint(t->to, pc_zigzag(value));
}

void pc_thrift_i64(struct pc_thrift *t, int id, int64_t value)
{
	put_field(t, id, PC_THRIFT_I64);
	pc_put_varint(t->to, pc_zigzag(value));
}

static void put_bytes(struct pc_thrift *t, struct pd_bytes value)
{
	pc_put_varint(t->to, value.size);
	pd_buf_append(t->to, value.data, value.size);
}

void pc_thrift_bytes(struct pc_thrift *t, int id, struct pd_bytes value)
{
	put_field(t, id, PC_THRIFT_BINARY);
	put_bytes(t, value);
}

static struct pd_bytes bytes_of(const char *text)
{
	return (struct pd_bytes){ (const uint8_t *)text, strlen(text) };
}

void pc_thrift_text(struct pc_thrift *t, int id, const char *value)
{
	pc_thrift_bytes(t, id, bytes_of(value));
}

void pc_thrift_list(struct pc_thrift *t, int id, enum pc_thrift_type type, size_t n)
{
	put_field(t, id, PC_THRIFT_LIST);
	if (n < 15) {
		pc_put_byte(t->to, (unsigned int)n << 4 | type);
	} else {
		pc_put_byte(t->to, 0xf0u | type);
		pc_put_varint(t->to, n);
	}
}

void pc_thrift_struct(struct pc_thrift *t, int id)
{
	put_field(t, id, PC_THRIFT_STRUCT);
	pc_thrift_struct_item(t);
}

void pc_thrift_text_item(struct pc_thrift *t, const char *value)
{
	put_bytes(t, bytes_of(value));
}

void pc_thrift_i32_item(struct pc_thrift *t, int32_t value)
{
	pc_put_varint(t->to, pc_zigzag(value));
}

void pc_thrift_struct_item(struct pc_thrift *t)
{
	t->last[++t->depth] = 0;
}

void pc_thrift_end(struct pc_thrift *t)
{
	pc_put_byte(t->to, 0);
	if (t->depth)
		t->depth--;
}
