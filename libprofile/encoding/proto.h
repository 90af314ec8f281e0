/* proto.h - messages of protocol buffers, written field by field. */
#ifndef PP_PROTO_H
#define PP_PROTO_H

#include "store/memory.h"
#include "pd/bytes.h"
#include "store/strings.h"

struct pp_message {
	uint8_t *bytes;
	size_t size, capacity;
};

/* State shared by all messages of a file. */
struct pp_proto {
	struct pp_memory *memory;
	int failed;	/* 0, or -1 without memory: later calls do nothing */
};

void pp_proto_bytes(struct pp_proto *c, struct pp_message *m, const void *data, size_t size);
void pp_proto_varint(struct pp_proto *c, struct pp_message *m, uint64_t n);
/* So many varints of 0. */
void pp_proto_zeros(struct pp_proto *c, struct pp_message *m, size_t nr);

/* A number; 0 is left out, as it is what readers assume. */
void pp_proto_number(struct pp_proto *c, struct pp_message *m, unsigned int field, uint64_t n);

/* Adds the bytes as a field, and empties `part`. */
void pp_proto_part(struct pp_proto *c, struct pp_message *m, unsigned int field,
		   struct pp_message *part);

/* A string: bytes that are no UTF-8 become U+FFFD, as readers refuse them. */
void pp_proto_string(struct pp_proto *c, struct pp_message *m, unsigned int field,
		     struct pd_bytes text);

/* Returns the number of a string in the file's table, to which it is added; 0, which is "", without
 * memory. */
uint32_t pp_proto_number_of(struct pp_proto *c, struct pp_strings *strings, struct pd_bytes text);

void pp_proto_free(struct pp_proto *c, struct pp_message *m);

#endif
