/* parse.h - parse numbers, sizes, times and lists of the command line. */
#ifndef RECORD_PARSE_H
#define RECORD_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a decimal, 0x... or 0... (octal) number that fills the text. */
bool parse_number(const char *text, uint64_t *out);
/* Parses "10M": a number and B, K, M, G or T. False: no such unit; *out is unchanged. */
bool parse_size(const char *text, uint64_t *out);
/* Parses "30s", "5m", "1h" or "1d" to ns. False: no such unit; *ns is unchanged. */
bool parse_time(const char *text, uint64_t *ns);
/* Parses "1.5" in units of `unit` ns. */
bool parse_fraction(const char *text, double unit, uint64_t *ns);

struct int_list {
	int *items;
	size_t n;
	bool lacks_memory;	/* for an item that is not in it */
};

int int_list_add(struct int_list *l, int item);		/* returns 0, or -1 if memory is short */
bool int_list_has(const struct int_list *l, int item);
void int_list_free(struct int_list *l);
void int_list_sort(struct int_list *l);			/* and removes duplicates */
/* Parses "0-3,5", numbers below `limit`; sorts them and removes duplicates. */
bool int_list_parse(struct int_list *l, const char *text, int limit);

#endif
