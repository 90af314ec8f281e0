/* print_nodes.h - a compiled print format: expressions as nodes of an array, and the conversions
 * that show them. */
#ifndef PP_PRINT_NODES_H
#define PP_PRINT_NODES_H

#include "samples/print_format.h"

enum pp_node_kind {
	PP_NODE_NUMBER,		/* number; size: not 0 if it is unsigned */
	PP_NODE_UNKNOWN,	/* a number that is not known */
	PP_NODE_TEXT,		/* text */
	PP_NODE_FIELD,		/* number: its slot */
	PP_NODE_ELEMENT,	/* first[second] */
	PP_NODE_CAST,		/* number: bits, those of signed types plus PP_CAST_SIGNED */
	PP_NODE_NOT, PP_NODE_INVERT, PP_NODE_NEGATE,	/* of first */
	PP_NODE_BINARY,		/* number: the operator of first and second */
	PP_NODE_CHOICE,		/* first ? second : third */
	PP_NODE_FLAGS,		/* names of the bits of first, with text between; second: pairs */
	PP_NODE_SYMBOL,		/* the name of first; second: pairs */
	PP_NODE_PAIR,		/* first is called text; next */
	PP_NODE_HEX,		/* second bytes of first, separated by text */
	PP_NODE_ARRAY,		/* second numbers of first, of third bytes */
};

enum { PP_CAST_SIGNED = 128 };

enum pp_operator {
	PP_OR, PP_AND, PP_BIT_OR, PP_BIT_XOR, PP_BIT_AND, PP_EQUAL, PP_UNEQUAL, PP_AT_MOST,
	PP_AT_LEAST, PP_LEFT, PP_RIGHT, PP_LESS, PP_MORE, PP_PLUS, PP_MINUS, PP_TIMES, PP_BY,
	PP_REST,
};

struct pp_node {
	uint8_t kind;
	uint16_t height;	/* of the nodes below: bounds the recursion */
	uint32_t first, second, third, next;	/* PP_NONE: none */
	uint32_t text, size;	/* in `texts` */
	uint64_t number;
};

/* A conversion of the format string, and the text before it. */
struct pp_conversion {
	uint32_t text, size;
	char letter;		/* as in printf(); %pS: 'S', %ps: 'F', %pI4: '4', %pI6c: '6',
				 * %pISpc: 'I', %pM: 'M', %pU: 'U'; 0: the end */
	bool is_left, has_zeros, has_plus, has_blank, has_prefix;
	uint8_t bits;		/* of its number */
	int width, precision;	/* -1: none */
	uint32_t width_from, precision_from, from;	/* nodes; PP_NONE: none */
};

/* Names of fields are compared with all of them. */
enum { PP_PRINT_SLOTS = 64 };

struct pp_print_format {
	char *texts;
	size_t size, capacity;
	struct pp_node *nodes;
	size_t nr_nodes, nodes_capacity;
	struct pp_conversion *conversions;
	size_t nr_conversions, conversions_capacity;
	struct pp_slot {
		uint32_t text, size;
	} slots[PP_PRINT_SLOTS];
	size_t nr_slots;
};

#endif
