/* thrift.h - the compact protocol of Thrift, as far as Parquet needs it.
 *
 * Source: thrift-compact-protocol.md in the Thrift repository. */
#ifndef PC_THRIFT_H
#define PC_THRIFT_H

#include "encoding/little.h"

enum pc_thrift_type {
	PC_THRIFT_TRUE = 1,
	PC_THRIFT_FALSE = 2,
	PC_THRIFT_BYTE = 3,
	PC_THRIFT_I32 = 5,
	PC_THRIFT_I64 = 6,
	PC_THRIFT_BINARY = 8,
	PC_THRIFT_LIST = 9,
	PC_THRIFT_STRUCT = 12,
};

enum { PC_THRIFT_DEPTH = 8 };

/* Must be zero-initialized, except for `to`. */
struct pc_thrift {
	struct pd_buf *to;
	int last[PC_THRIFT_DEPTH];	/* field ids of the structs that are open */
	unsigned int depth;
};

/* Fields of the struct that is open; ids must grow. */
void pc_thrift_bool(struct pc_thrift *t, int id, bool value);
void pc_thrift_byte(struct pc_thrift *t, int id, int8_t value);
void pc_thrift_i32(struct pc_thrift *t, int id, int32_t value);
void pc_thrift_i64(struct pc_thrift *t, int id, int64_t value);
void pc_thrift_bytes(struct pc_thrift *t, int id, struct pd_bytes value);
void pc_thrift_text(struct pc_thrift *t, int id, const char *value);
/* A list, whose n items follow. */
void pc_thrift_list(struct pc_thrift *t, int id, enum pc_thrift_type type, size_t n);
/* A struct, whose fields follow; pc_thrift_end() ends it. */
void pc_thrift_struct(struct pc_thrift *t, int id);

/* Items of a list. */
void pc_thrift_text_item(struct pc_thrift *t, const char *value);
void pc_thrift_i32_item(struct pc_thrift *t, int32_t value);
void pc_thrift_struct_item(struct pc_thrift *t);

void pc_thrift_end(struct pc_thrift *t);

#endif
