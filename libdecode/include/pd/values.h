/* values.h - the interface to trees of values that are to be encoded: the inverse of pd_visitor.
 * Sources are the tree of a JSON library, or struct pd_value (pd/write.h).
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
	PD_NODE_TEXT,		/* readable: names, hex */
	PD_NODE_BYTES,		/* raw bytes */
	PD_NODE_OBJECT,
	PD_NODE_ARRAY,
};

/* A value of the source; NULL: there is none. */
typedef const void *pd_node;

/* Functions that read a node of the type named with each. Nodes and their bytes must stay valid
 * until the library function that was given them returns. */
struct pd_values {
	enum pd_node_type (*type)(pd_node n);
	uint64_t (*number)(pd_node n);		/* NUMBER */
	double (*real)(pd_node n);		/* REAL; of a NUMBER only the sign is used */
	struct pd_bytes (*text)(pd_node n);	/* TEXT and BYTES */
	/* Returns the member of that name, or NULL: no such member, not an object, or no node. */
	pd_node (*member)(pd_node object, const char *name);
	size_t (*length)(pd_node array);
	/* Returns the i-th item of an array. If items are plain numbers without a node of their
	 * own, returns NULL and sets *number. */
	pd_node (*item)(pd_node array, size_t i, uint64_t *number);
	/* Gets the i-th member of an object; returns false after the last. */
	bool (*member_at)(pd_node object, size_t i, const char **name, pd_node *value);
};

#ifdef __cplusplus
}
#endif
#endif
