/* parse.h - numbers, sizes, times and lists as users write them. */
#ifndef RECORD_PARSE_H
#define RECORD_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text is a number: decimal, 0x or 0 octal. */
bool parse_number(const char *text, uint64_t *out);
/* "10M": with a B, K, M, G or T; false without one, and then *out is unchanged. */
bool parse_size(const char *text, uint64_t *out);
/* "30s", "5m", "1h", "1d": ns; false without a unit, and then *ns is unchanged. */
bool parse_time(const char *text, uint64_t *ns);
/* "1.5" times `unit` ns. */
bool parse_fraction(const char *text, double unit, uint64_t *ns);

struct int_list {
	int *items;
	size_t n;
};

int int_list_add(struct int_list *l, int item);		/* 0, or -1: no memory */
void int_list_free(struct int_list *l);
void int_list_unite(struct int_list *l);		/* ascending, none twice */
/* "0-3,5", in ascending order and without doubles, below `limit`. */
bool int_list_parse(struct int_list *l, const char *text, int limit);

#endif
