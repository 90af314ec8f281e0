/* values.h - where packing takes values from: the mirror of the visitor. A JSON library's tree is one source, struct
 * pd_value (pd/write.h) another.
 */
#ifndef PD_VALUES_H
#define PD_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pd_node_type {
	PD_NODE_NULL,
	PD_NODE_NUMBER,		/* an integer; negative ones in two's complement */
	PD_NODE_REAL,
	PD_NODE_TEXT,		/* of people: names, hex */
	PD_NODE_BYTES,		/* the very bytes */
	PD_NODE_OBJECT,
	PD_NODE_ARRAY,
};

/* A value of the source; NULL: there is none. */
typedef const void *pd_node;

struct pd_values {
	enum pd_node_type (*type)(pd_node n);
	uint64_t (*number)(pd_node n);
	double (*real)(pd_node n);		/* of NUMBER too: whether it was given as a negative one */
	struct pd_bytes (*text)(pd_node n);	/* of TEXT and BYTES */
	/* NULL where it has none: what is no object has none, nor has NULL. */
	pd_node (*member)(pd_node object, const char *name);
	size_t (*length)(pd_node array);
	/* Of arrays. An item that is no node of its own (an array of plain numbers) comes in *number, and NULL. */
	pd_node (*item)(pd_node array, size_t i, uint64_t *number);
	/* The members of an object, one by one: false behind the last. */
	bool (*member_at)(pd_node object, size_t i, const char **name, pd_node *value);
};

#ifdef __cplusplus
}
#endif
#endif
