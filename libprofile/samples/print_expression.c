/* print_expression.c - parses the expressions of a print format: see print_parse.h. */
#include "samples/print_parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "samples/print_evaluate.h"

enum { NODES_MOST = 16384, HEIGHT_MOST = 200, NESTED_MOST = 200 };

/* --- tokens --- */

static void skip_blanks(struct pp_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool pp_accept(struct pp_parser *p, const char *token)
{
	const size_t size = strlen(token);

	skip_blanks(p);
	if (strncmp(p->at, token, size) != 0 ||
	    (is_in_word(token[size - 1]) && is_in_word(p->at[size])))
		return false;
	p->at += size;
	return true;
}

/* Takes a word. Returns its size, 0: there is none. */
static size_t take_word(struct pp_parser *p, const char **word)
{
	skip_blanks(p);
	*word = p->at;
	if (isdigit((unsigned char)*p->at))
		return 0;
	while (is_in_word(*p->at))
		p->at++;
	return (size_t)(p->at - *word);
}

static bool is_word(const char *word, size_t size, const char *text)
{
	return size == strlen(text) && memcmp(word, text, size) == 0;
}

bool pp_add_character(struct pp_parser *p, char c)
{
	char *texts = pp_memory_grow(p->memory, p->f->texts, &p->f->capacity, p->f->size + 1, 1);

	if (!texts)
		return false;
	p->f->texts = texts;
	texts[p->f->size++] = c;
	return true;
}

/* Returns what a character after a backslash means; 0: both mean themselves. */
static char unescaped(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' :
	       c == '"' || c == '\\' ? c : '\0';
}

bool pp_take_string(struct pp_parser *p, uint32_t *text, uint32_t *size)
{
	*text = (uint32_t)p->f->size;
	if (!pp_accept(p, "\""))
		return false;
	do {
		for (; *p->at && *p->at != '"'; p->at++) {
			const char c = *p->at == '\\' ? unescaped(p->at[1]) : '\0';

			p->at += c != '\0';
			if (!pp_add_character(p, c ? c : *p->at))
				return false;
		}
		if (!*p->at++)
			return false;
	} while (pp_accept(p, "\""));
	*size = (uint32_t)p->f->size - *text;
	return true;
}

/* --- nodes --- */

static struct pp_node *node_at(const struct pp_parser *p, uint32_t i)
{
	return &p->f->nodes[i];
}

static uint16_t height_of(const struct pp_parser *p, uint32_t i)
{
	return i == PP_NONE ? 0 : node_at(p, i)->height;
}

/* Adds a node above others. Returns PP_NONE if it can't be. */
static uint32_t add_node(struct pp_parser *p, struct pp_node node)
{
	const uint32_t below[] = { node.first, node.second, node.third };
	struct pp_node *nodes = NULL;

	for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++)
		if (height_of(p, below[i]) >= node.height)
			node.height = (uint16_t)(height_of(p, below[i]) + 1);
	if (p->f->nr_nodes < NODES_MOST && node.height < HEIGHT_MOST)
		nodes = pp_memory_grow(p->memory, p->f->nodes, &p->f->nodes_capacity,
				       p->f->nr_nodes + 1, sizeof(*nodes));
	if (!nodes)
		return PP_NONE;
	p->f->nodes = nodes;
	nodes[p->f->nr_nodes] = node;
	return (uint32_t)p->f->nr_nodes++;
}

static struct pp_node node_of(enum pp_node_kind kind, uint64_t number, uint32_t first,
			      uint32_t second)
{
	return (struct pp_node){ .kind = (uint8_t)kind, .number = number, .first = first,
				 .second = second, .third = PP_NONE, .next = PP_NONE };
}

static bool is_number(const struct pp_parser *p, uint32_t i)
{
	return node_at(p, i)->kind == PP_NODE_NUMBER;
}

static uint32_t add_binary(struct pp_parser *p, enum pp_operator op, uint32_t a, uint32_t b)
{
	if (a == PP_NONE || b == PP_NONE)
		return PP_NONE;
	if (is_number(p, a) && is_number(p, b)) {
		struct pp_node *left = node_at(p, a);

		left->size |= node_at(p, b)->size;
		return pp_calculate(op, left->size ? PP_UNSIGNED : PP_SIGNED, left->number,
				    node_at(p, b)->number, &left->number) ? a : PP_NONE;
	}
	return add_node(p, node_of(PP_NODE_BINARY, op, a, b));
}

/* --- operands --- */

static uint32_t parse_number(struct pp_parser *p)
{
	struct pp_node node = node_of(PP_NODE_NUMBER, 0, PP_NONE, PP_NONE);
	char *end;

	node.number = strtoull(p->at, &end, 0);
	if (end == p->at)
		return PP_NONE;
	node.size = node.number > INT64_MAX;
	for (; *end && strchr("uUlL", *end); end++)
		node.size |= *end == 'u' || *end == 'U';
	p->at = end;
	return is_in_word(*end) ? PP_NONE : add_node(p, node);
}

static uint32_t parse_text(struct pp_parser *p)
{
	struct pp_node node = node_of(PP_NODE_TEXT, 0, PP_NONE, PP_NONE);

	return pp_take_string(p, &node.text, &node.size) ? add_node(p, node) : PP_NONE;
}

/* Returns the slot of a field, which it may share; PP_NONE: there are too many. */
static uint32_t find_slot(struct pp_parser *p, const char *name, size_t size)
{
	struct pp_print_format *f = p->f;
	struct pp_slot *slot = &f->slots[f->nr_slots];

	for (uint32_t i = 0; i < f->nr_slots; i++)
		if (f->slots[i].size == size &&
		    memcmp(f->texts + f->slots[i].text, name, size) == 0)
			return i;
	if (f->nr_slots == PP_PRINT_SLOTS)
		return PP_NONE;
	*slot = (struct pp_slot){ (uint32_t)f->size, (uint32_t)size };
	for (size_t i = 0; i < size; i++)
		if (!pp_add_character(p, name[i]))
			return PP_NONE;
	return (uint32_t)f->nr_slots++;
}

static uint32_t parse_field_name(struct pp_parser *p)
{
	const char *name;
	const size_t size = take_word(p, &name);
	const uint32_t slot = size ? find_slot(p, name, size) : PP_NONE;

	return slot == PP_NONE ? PP_NONE :
		add_node(p, node_of(PP_NODE_FIELD, slot, PP_NONE, PP_NONE));
}

/* After REC->: NAME or NAME[INDEX]. */
static uint32_t parse_field(struct pp_parser *p)
{
	const uint32_t field = parse_field_name(p);
	uint32_t index;

	if (field == PP_NONE || !pp_accept(p, "["))
		return field;
	index = pp_parse_expression(p);
	return index == PP_NONE || !pp_accept(p, "]") ? PP_NONE :
		add_node(p, node_of(PP_NODE_ELEMENT, 0, field, index));
}

/* --- the kernel's functions, after their names and '(' --- */

static uint32_t parse_named_field(struct pp_parser *p)
{
	const uint32_t field = parse_field_name(p);

	return pp_accept(p, ")") ? field : PP_NONE;
}

/* Formats may name a constant of the kernel, whose value is not known. */
static uint32_t parse_pair_value(struct pp_parser *p)
{
	const char *start = p->at, *word;

	if (take_word(p, &word) && pp_accept(p, ",")) {
		p->at--;
		return add_node(p, node_of(PP_NODE_UNKNOWN, 0, PP_NONE, PP_NONE));
	}
	p->at = start;
	return pp_parse_expression(p);
}

/* Takes "NAME", or the ((void *)0) of a pair that ends the list: it has no name, and no value. */
static bool take_pair_name(struct pp_parser *p, struct pp_node *node)
{
	skip_blanks(p);
	if (*p->at == '"')
		return pp_take_string(p, &node->text, &node->size);
	if (pp_parse_expression(p) == PP_NONE)
		return false;
	node->first = add_node(p, node_of(PP_NODE_UNKNOWN, 0, PP_NONE, PP_NONE));
	return node->first != PP_NONE;
}

/* Takes {VALUE, "NAME"}, {VALUE, "NAME"}, ... Returns the first, PP_NONE if there is none, or an
 * error. */
static uint32_t parse_pairs(struct pp_parser *p)
{
	uint32_t first = PP_NONE, last = PP_NONE;

	while (pp_accept(p, ",")) {
		struct pp_node node = node_of(PP_NODE_PAIR, 0, PP_NONE, PP_NONE);
		uint32_t pair;

		if (!pp_accept(p, "{"))
			return PP_NONE;
		node.first = parse_pair_value(p);
		if (node.first == PP_NONE || !pp_accept(p, ",") || !take_pair_name(p, &node) ||
		    !pp_accept(p, "}"))
			return PP_NONE;
		pair = add_node(p, node);
		if (pair == PP_NONE)
			return PP_NONE;
		if (last == PP_NONE)
			first = pair;
		else
			node_at(p, last)->next = pair;
		last = pair;
	}
	return first;
}

static uint32_t parse_flags(struct pp_parser *p)
{
	struct pp_node node = node_of(PP_NODE_FLAGS, 0, PP_NONE, PP_NONE);

	node.first = pp_parse_expression(p);
	if (node.first == PP_NONE || !pp_accept(p, ",") ||
	    !pp_take_string(p, &node.text, &node.size))
		return PP_NONE;
	node.second = parse_pairs(p);
	return node.second != PP_NONE && pp_accept(p, ")") ? add_node(p, node) : PP_NONE;
}

static uint32_t parse_symbol(struct pp_parser *p)
{
	struct pp_node node = node_of(PP_NODE_SYMBOL, 0, PP_NONE, PP_NONE);

	node.first = pp_parse_expression(p);
	if (node.first == PP_NONE)
		return PP_NONE;
	node.second = parse_pairs(p);
	return node.second != PP_NONE && pp_accept(p, ")") ? add_node(p, node) : PP_NONE;
}

static uint32_t parse_hex_with(struct pp_parser *p, const char *separator)
{
	struct pp_node node = node_of(PP_NODE_HEX, 0, PP_NONE, PP_NONE);

	node.text = (uint32_t)p->f->size;
	node.size = *separator != '\0';
	if (node.size && !pp_add_character(p, *separator))
		return PP_NONE;
	node.first = pp_parse_expression(p);
	if (node.first == PP_NONE || !pp_accept(p, ","))
		return PP_NONE;
	node.second = pp_parse_expression(p);
	return node.second != PP_NONE && pp_accept(p, ")") ? add_node(p, node) : PP_NONE;
}

static uint32_t parse_hex(struct pp_parser *p)
{
	return parse_hex_with(p, " ");
}

static uint32_t parse_hex_without_blanks(struct pp_parser *p)
{
	return parse_hex_with(p, "");
}

static uint32_t parse_array(struct pp_parser *p)
{
	struct pp_node node = node_of(PP_NODE_ARRAY, 0, PP_NONE, PP_NONE);

	node.first = pp_parse_expression(p);
	if (node.first == PP_NONE || !pp_accept(p, ","))
		return PP_NONE;
	node.second = pp_parse_expression(p);
	if (node.second == PP_NONE || !pp_accept(p, ","))
		return PP_NONE;
	node.third = pp_parse_expression(p);
	return node.third != PP_NONE && pp_accept(p, ")") ? add_node(p, node) : PP_NONE;
}

/* __builtin_expect(VALUE, LIKELY) */
static uint32_t parse_expected(struct pp_parser *p)
{
	const uint32_t node = pp_parse_expression(p);

	return node != PP_NONE && pp_accept(p, ",") && pp_parse_expression(p) != PP_NONE &&
	       pp_accept(p, ")") ? node : PP_NONE;
}

static const struct {
	const char *name;
	uint32_t (*parse)(struct pp_parser *p);
} functions[] = {
	{ "__builtin_expect", parse_expected },
	{ "__get_str", parse_named_field },
	{ "__get_rel_str", parse_named_field },
	{ "__get_dynamic_array", parse_named_field },
	{ "__get_rel_dynamic_array", parse_named_field },
	{ "__print_flags", parse_flags },
	{ "__print_flags_u64", parse_flags },
	{ "__print_symbolic", parse_symbol },
	{ "__print_symbolic_u64", parse_symbol },
	{ "__print_hex", parse_hex },
	{ "__print_hex_str", parse_hex_without_blanks },
	{ "__print_array", parse_array },
};

static uint32_t parse_call(struct pp_parser *p)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (pp_accept(p, functions[i].name))
			return pp_accept(p, "(") ? functions[i].parse(p) : PP_NONE;
	return PP_NONE;
}

/* --- casts --- */

static const struct type {
	const char *name;
	uint8_t bits;		/* 0: the value stays as it is, or another word has them */
	bool is_unsigned;
} types[] = {
	{ "char", 8, false }, { "short", 16, false }, { "int", 0, false }, { "long", 64, false },
	{ "u8", 8, true }, { "u16", 16, true }, { "u32", 32, true }, { "u64", 64, true },
	{ "s8", 8, false }, { "s16", 16, false }, { "s32", 32, false }, { "s64", 64, false },
	{ "__u8", 8, true }, { "__u16", 16, true }, { "__u32", 32, true }, { "__u64", 64, true },
	{ "unsigned", 0, true }, { "signed", 0, false }, { "bool", 64, true },
	{ "void", 64, true },
};

/* Adds what a word says to a type. Returns false if it is no word of one. */
static bool add_type_word(struct pp_parser *p, const char *word, size_t size, struct type *type)
{
	if (is_word(word, size, "const") || is_word(word, size, "volatile"))
		return true;
	if (is_word(word, size, "struct") || is_word(word, size, "enum") ||
	    is_word(word, size, "union")) {
		type->bits = 64;
		return take_word(p, &word) > 0;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!is_word(word, size, types[i].name))
			continue;
		if (types[i].bits)
			type->bits = types[i].bits;
		type->is_unsigned |= types[i].is_unsigned;
		return true;
	}
	type->bits = 64;
	return size > 2 && memcmp(word + size - 2, "_t", 2) == 0;
}

/* Takes TYPE) after a parenthesis. Returns false, and takes nothing, if there is none. */
static bool take_type(struct pp_parser *p, struct type *type)
{
	const char *start = p->at, *word;
	size_t size, words = 0;

	*type = (struct type){ "", 0, false };
	for (; (size = take_word(p, &word)); words++) {
		if (!add_type_word(p, word, size, type)) {
			p->at = start;
			return false;
		}
	}
	while (words && pp_accept(p, "*"))
		type->bits = 64;
	if (words && pp_accept(p, ")")) {
		if (!type->bits)
			type->bits = 32;
		return true;
	}
	p->at = start;
	return false;
}

static uint32_t parse_unary(struct pp_parser *p);

/* After a parenthesis: a cast with its operand, or an expression. */
static uint32_t parse_in_parentheses(struct pp_parser *p)
{
	struct type type;
	uint32_t node;

	if (take_type(p, &type)) {
		node = parse_unary(p);
		return node == PP_NONE || (type.bits == 64 && !type.is_unsigned) ? node :
			add_node(p, node_of(PP_NODE_CAST,
					    type.bits | (type.is_unsigned ? 0 : PP_CAST_SIGNED),
					    node, PP_NONE));
	}
	node = pp_parse_expression(p);
	return pp_accept(p, ")") ? node : PP_NONE;
}

/* --- expressions --- */

static uint32_t parse_operand(struct pp_parser *p)
{
	skip_blanks(p);
	if (*p->at == '"')
		return parse_text(p);
	if (isdigit((unsigned char)*p->at))
		return parse_number(p);
	if (pp_accept(p, "REC->"))
		return parse_field(p);
	if (pp_accept(p, "("))
		return parse_in_parentheses(p);
	return parse_call(p);
}

static uint32_t parse_unary(struct pp_parser *p)
{
	static const struct {
		const char *token;
		enum pp_node_kind kind;
	} unary[] = { { "!", PP_NODE_NOT }, { "~", PP_NODE_INVERT }, { "-", PP_NODE_NEGATE } };
	const size_t nr = sizeof(unary) / sizeof(*unary);
	uint32_t node = PP_NONE;

	if (p->nested++ < NESTED_MOST) {
		size_t i = 0;

		while (i < nr && !pp_accept(p, unary[i].token))
			i++;
		if (i == nr)
			node = parse_operand(p);
		else if ((node = parse_unary(p)) != PP_NONE)
			node = add_node(p, node_of(unary[i].kind, 0, node, PP_NONE));
	}
	p->nested--;
	return node;
}

/* In the order of enum pp_operator; longer ones before their beginnings. */
static const struct {
	const char *token;
	int strength;
} operators[] = {
	{ "||", 1 }, { "&&", 2 }, { "|", 3 }, { "^", 4 }, { "&", 5 }, { "==", 6 }, { "!=", 6 },
	{ "<=", 7 }, { ">=", 7 }, { "<<", 8 }, { ">>", 8 }, { "<", 7 }, { ">", 7 }, { "+", 9 },
	{ "-", 9 }, { "*", 10 }, { "/", 10 }, { "%", 10 },
};

/* Takes an operator that is at least so strong. Returns its number, or that of operators. */
static size_t take_operator(struct pp_parser *p, int strength)
{
	size_t i = 0;

	skip_blanks(p);
	while (i < sizeof(operators) / sizeof(*operators) &&
	       strncmp(p->at, operators[i].token, strlen(operators[i].token)) != 0)
		i++;
	if (i == sizeof(operators) / sizeof(*operators) || operators[i].strength < strength)
		return sizeof(operators) / sizeof(*operators);
	p->at += strlen(operators[i].token);
	return i;
}

static uint32_t parse_binary(struct pp_parser *p, int strength)
{
	uint32_t left = parse_unary(p);
	size_t op;

	while (left != PP_NONE &&
	       (op = take_operator(p, strength)) < sizeof(operators) / sizeof(*operators))
		left = add_binary(p, (enum pp_operator)op, left,
				  parse_binary(p, operators[op].strength + 1));
	return left;
}

uint32_t pp_parse_expression(struct pp_parser *p)
{
	struct pp_node node = node_of(PP_NODE_CHOICE, 0, PP_NONE, PP_NONE);

	if (p->nested++ < NESTED_MOST) {
		node.first = parse_binary(p, 1);
		if (node.first != PP_NONE && pp_accept(p, "?")) {
			node.second = pp_parse_expression(p);
			node.third = pp_accept(p, ":") ? pp_parse_expression(p) : PP_NONE;
			node.first = node.second == PP_NONE || node.third == PP_NONE ? PP_NONE :
				     add_node(p, node);
		}
	}
	p->nested--;
	return node.first;
}
