/* pencode_split.h - cuts JSON text into the parts that are encoded one by one, so that memory does not grow with it.
 *
 * Takes the document (its `records`, `attrs` element by element, other members whole) and JSON Lines alike.
 */
#ifndef PD_TOOLS_PENCODE_SPLIT_H
#define PD_TOOLS_PENCODE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct split_part {
	const char *key;	/* of the member it is or is an element of; "" for a line of JSON Lines */
	char *text;		/* JSON, `size` bytes; valid until the next part, the caller's to change until then */
	size_t size;
	size_t members;		/* keys in it, in whatever depth */
	bool is_element;	/* of an array that is taken apart */
	bool has_long_number;	/* one of 20 digits or more, a minus sign included: may exceed 64 bits */
	uint64_t line;		/* where it begins, from 1 */
	uint64_t index;		/* of an element */
};

struct split;

/* fd is borrowed. largest: bytes that one part may have. NULL: no memory. */
struct split *split_open(int fd, size_t largest);
void split_close(struct split *s);

/* 1 and the next part, 0 at the end, -1: *why says what is wrong, s's line says where. */
int split_next(struct split *s, struct split_part *out, const char **why);
uint64_t split_line(const struct split *s);

#endif
