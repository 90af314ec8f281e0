/* flatbuffer.h - flatbuffers, as far as the metadata of Arrow needs them.
 *
 * Written from front to back: a table with references has places for them, and what they refer to
 * follows. Source: the FlatBuffers internals document. */
#ifndef PC_FLATBUFFER_H
#define PC_FLATBUFFER_H

#include "encoding/little.h"

enum { PC_FB_FIELDS = 8 };

/* A field of a table: its number in the schema, its bytes, its value. */
struct pc_fb_field {
	unsigned int id;
	unsigned int width;	/* 0: a reference, for pc_fb_point() */
	uint64_t value;
};

/* Starts a buffer with the place of its root table, which must follow. */
void pc_fb_begin(struct pd_buf *b);

/* Appends a table; places[i] is where its i-th field is. Returns where it is. */
size_t pc_fb_table(struct pd_buf *b, const struct pc_fb_field *fields, size_t n, size_t *places);

/* Lets a reference point to `target`, which must be after it. */
void pc_fb_point(struct pd_buf *b, size_t reference, size_t target);

/* Appends a string. Returns where it is. */
size_t pc_fb_string(struct pd_buf *b, const char *text);

/* Appends a vector of n items of zeros. Returns where it is; the items are from 4 bytes later on,
 * aligned to 8 bytes if they have as many. */
size_t pc_fb_vector(struct pd_buf *b, size_t n, size_t width);

void pc_fb_align(struct pd_buf *b, size_t to);

#endif
