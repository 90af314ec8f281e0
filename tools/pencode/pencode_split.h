/* pencode_split.h - cut JSON text into parts that are encoded one by one, so that memory is
 * bounded.
 *
 * Accepts the document (`records` and `attrs` element by element, other members whole) and JSON
 * Lines.
 */
#ifndef PD_TOOLS_PENCODE_SPLIT_H
#define PD_TOOLS_PENCODE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct split_part {
	const char *key;	/* the document's member; "" for a line of JSON Lines */
	char *text;		/* JSON of `size` bytes; writable, valid until the next part */
	size_t size;
	size_t members;		/* number of keys at any depth */
	uint64_t cost;		/* bytes that it takes when it is parsed, at most */
	bool is_element;	/* of the array `key` */
	bool has_long_number;	/* 20 or more digits and sign: may exceed 64 bits */
	uint64_t line;		/* first line, from 1 */
	uint64_t index;		/* of the element */
};

struct split;

/* fd is borrowed. largest: the most bytes of one part. Returns NULL if out of memory. */
struct split *split_open(int fd, size_t largest);
void split_close(struct split *s);

/* Returns 1 and the next part, 0 at the end, or -1 with the reason in *why, at split_line(). */
int split_next(struct split *s, struct split_part *out, const char **why);
uint64_t split_line(const struct split *s);

#endif
