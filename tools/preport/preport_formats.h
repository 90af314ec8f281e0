/* preport_formats.h - what preport writes, and the names of outputs that select it. */
#ifndef PREPORT_FORMATS_H
#define PREPORT_FORMATS_H

#include "pd/profile.h"

enum format_use { FOR_PEOPLE, FOR_PROGRAMS };

enum { UNSET = 99 };	/* of options with a choice, which the user has not made */

struct format {
	enum pp_format format;
	enum format_use use;
	const char *ends[3];	/* of names of outputs, also before .gz */
	const char *file;	/* written if standard output is a terminal */
	enum pp_keep keep;
	uint32_t groups;	/* without --group */
	bool has_one_event;
	bool is_script;		/* the samples one by one, no profile: `format` does not count */
	uint64_t most;		/* bytes that the site opens; 0: any number */
	const char *viewer;	/* a command that opens the file, which follows; NULL: none */
	const char *site;	/* the same, a web page that loads the file */
};

/* The words of -f, in their order there. */
enum format_word {
	WORD_TOP, WORD_TREE, WORD_FOLDED, WORD_FLAMEGRAPH, WORD_PPROF, WORD_CSV, WORD_JSON,
	WORD_SVG, WORD_CALLGRIND, WORD_FIREFOX, WORD_SPEEDSCOPE, WORD_CHROME, WORD_SCRIPT,
	WORD_OTLP,
	WORDS	/* how many */
};

extern const char *const format_words[];	/* NULL after the last */

/* Returns the word of a format that format_choose() returned. */
enum format_word format_word(const struct format *f);

/* Returns the format of a word, or if it is UNSET the one that an output's name selects; it may be
 * NULL. A flame graph is a picture if the name is that of one. */
const struct format *format_choose(unsigned int word, const char *output);

/* Returns whether an output's name, which may be NULL, has an ending that no format has. */
bool format_is_unknown(const char *output);

/* Returns whether a file of this name is compressed; it may be NULL. */
enum pp_compression format_compression(const char *output);

enum { OUTPUT_NAME_MAX = 4096 };

/* Writes the name of a format's file beside the input, or in the current directory if the input is
 * a stream or a descriptor, or files can't be made beside it. Returns it, or NULL if the format has
 * none. */
const char *format_file(const struct format *f, const char *input, char name[OUTPUT_NAME_MAX]);

/* Returns the layout that was chosen, or if it is UNSET that of an output's name, which may be
 * NULL. */
enum pp_layout format_layout(unsigned int chosen, const char *output);

#endif
