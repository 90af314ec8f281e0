/* preport_applies.c - the formats that each option is for: see preport_applies.h. */
#include "preport/preport_applies.h"

#include <stdio.h>

#define BIT(word) (UINT32_C(1) << (word))

/* Sets of formats, by their words. */
enum {
	TOP = BIT(WORD_TOP), TREE = BIT(WORD_TREE), FOLDED = BIT(WORD_FOLDED),
	PAGE = BIT(WORD_FLAMEGRAPH), PPROF = BIT(WORD_PPROF), CHROME = BIT(WORD_CHROME),
	SPEEDSCOPE = BIT(WORD_SPEEDSCOPE), SCRIPT = BIT(WORD_SCRIPT),
	COLUMNS = BIT(WORD_CSV) | BIT(WORD_JSON),
	TABLES = TOP | COLUMNS,
	PICTURES = PAGE | BIT(WORD_SVG),
	HEADED = TOP | TREE | PICTURES | BIT(WORD_FIREFOX) | SPEEDSCOPE,
	/* Addresses can't be left out of stacks: functions inlined there would go with them. */
	ADDRESSED = PPROF | BIT(WORD_CALLGRIND) | BIT(WORD_FIREFOX) | BIT(WORD_OTLP),
	ALL = BIT(WORDS) - 1,
	MERGED = ALL & ~SCRIPT,	/* samples are not written one by one */
	/* Something is above the functions: tables have columns in its place, and each profile of
	 * speedscope and each track of chrome is of a thread. */
	GROUPED = MERGED & ~(COLUMNS | SPEEDSCOPE | CHROME),
	LINED = ADDRESSED | PAGE | SPEEDSCOPE,
};

struct rule {
	const char *name;	/* of the option */
	bool is_given;
	uint32_t formats;	/* that it is for */
	const char *instead;	/* follows the message; NULL: nothing */
};

enum { WORDS_ROOM = 128 };

static unsigned int count_words(uint32_t set)
{
	return (unsigned int)__builtin_popcount(set);
}

/* Writes the words of a set: "top, csv and json". */
static void write_words(uint32_t set, char text[WORDS_ROOM])
{
	size_t n = 0;

	for (unsigned int i = 0; i < WORDS; i++) {
		if (!(set & BIT(i)))
			continue;
		set &= ~BIT(i);
		n += (size_t)snprintf(text + n, WORDS_ROOM - n, "%s%s", format_words[i],
				      count_words(set) > 1 ? ", " : set ? " and " : "");
	}
}

/* The message names the formats that the option is for, or the others, if these are fewer. */
static enum cli_exit refuse_option(const struct rule *r)
{
	const uint32_t others = ALL & ~r->formats;
	const bool is_for_most = count_words(others) < count_words(r->formats);
	char words[WORDS_ROOM];

	write_words(is_for_most ? others : r->formats, words);
	return cli_usage(&preport, "'--%s' is%s for -f %s%s", r->name, is_for_most ? " not" : "",
			 words, r->instead ? r->instead : "");
}

enum cli_exit applies_check(const struct settings *s, const struct format *format)
{
	const struct rule rules[] = {
		{ "fields", s->fields, SCRIPT },
		{ "ns", s->ns, SCRIPT },
		{ "header", s->header, SCRIPT },
		{ "layout", s->layout != UNSET, SCRIPT },
		{ "compat", s->like, SCRIPT },
		{ "title", s->title, HEADED },
		{ "theme", s->theme, PAGE },
		{ "stacks", s->stacks, CHROME },
		{ "open", s->open, PICTURES },
		{ "idle", s->idle != UNSET, MERGED },
		{ "off-cpu", s->off_cpu, MERGED },
		{ "wall", s->wall, MERGED },
		{ "base", s->base, TABLES | PAGE | PPROF },
		{ "absolute", s->absolute, TOP | PAGE },
		{ "fail-above", s->limits.count, MERGED },
		{ "weight", s->weight, MERGED },
		{ "group", s->groups.count, ALL & ~COLUMNS, ": '--sort comm,pid,sym' has columns" },
		{ "group", s->groups.count, GROUPED },
		{ "labels", s->labels, PPROF },
		{ "parent", s->parent, MERGED },
		{ "max-stack", s->max_stack, ALL & ~ADDRESSED },
		{ "cut-after", s->cut_after, MERGED & ~ADDRESSED },
		{ "fold-recursion", s->fold_recursion, MERGED & ~ADDRESSED },
		{ "min", s->min, FOLDED | PICTURES, "; '--percent-limit' for top and tree" },
		{ "callers", s->callers, TREE | FOLDED | PICTURES },
		{ "inverted", s->inverted, PICTURES },
		{ "heatmap", s->heatmap, PAGE },
		{ "annotate", s->annotate, FOLDED },
		{ "raw-names", s->raw_names, FOLDED },
		{ "addrs", s->addrs, MERGED },
		{ "lines", s->lines, LINED | (s->sort ? TABLES : 0),
		  "; tables have '--sort srcline'" },
		{ "sort", s->sort, TABLES },
		{ "children", s->children, TABLES },
		{ "graph", s->graph, TOP },
		{ "rows", s->rows != ROWS_UNSET, TABLES },
		{ "percent-limit", s->percent_limit, TOP | TREE },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].is_given && !(rules[i].formats & BIT(format_word(format))))
			return refuse_option(&rules[i]);
	return CLI_OK;
}
