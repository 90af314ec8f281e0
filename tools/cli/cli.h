/* cli.h - the command line of every tool: a tool is a table of options.
 *
 * An option is one row. Parsing, --help, --man and --completion all read the same rows, so they
 * can't disagree. Every tool also has --help, --version, --man
 * and --completion, which need no row.
 *
 *	struct settings { const char *output; bool strict; };
 *	static const struct cli_option options[] = {
 *		CLI_GROUP("Output"),
 *		CLI_STRING('o', "output", "FILE", settings, output, "write to FILE"),
 *		CLI_FLAG(0, "strict", settings, strict, "stop at the first damaged record"),
 *		CLI_END
 *	};
 */
#ifndef PD_TOOLS_CLI_H
#define PD_TOOLS_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit statuses of the tools, except precord, which returns its child's. */
enum cli_exit {
	CLI_OK = 0,
	CLI_ERRORS = 1,		/* the output is complete except for what its `errors` list */
	CLI_USAGE = 2,
	CLI_INPUT = 3,		/* the input can't be opened or is not a perf.data file */
	CLI_OUTPUT = 4,		/* the output could not be written */
};

enum cli_kind {
	CLI_KIND_END,
	CLI_KIND_GROUP,		/* a heading; the rows after it belong to it */
	CLI_KIND_FLAG,
	CLI_KIND_SWITCH,	/* a flag with a --no- form */
	CLI_KIND_STRING,
	CLI_KIND_OPTIONAL,	/* a string with an optional value: --name or --name=VALUE */
	CLI_KIND_LIST,
	CLI_KIND_NUMBER,
	CLI_KIND_SIZE,
	CLI_KIND_CHOICE,
	CLI_KIND_REFUSED,	/* known, but not supported; .help is the reason */
	CLI_KIND_HELP,		/* from here on: options of every tool */
	CLI_KIND_VERSION,
	CLI_KIND_MAN,
	CLI_KIND_COMPLETION,
};

/* The values of a repeatable option, in order. The strings are borrowed from argv; release the
 * array with cli_list_free(). */
struct cli_list {
	const char **items;
	size_t count;
};

/* Fill in rows with the macros below: they check the type of the field at compile time. */
struct cli_option {
	enum cli_kind kind;
	char letter;		/* 0: there is no short form */
	const char *name;	/* without the dashes */
	const char *value;	/* placeholder in help; FILE and DIR also select completion */
	const char *help;	/* lower case, no full stop; the default belongs here */
	size_t offset, width;	/* of the field in the tool's settings */
	const char *const *choices;
	const char *bare;	/* OPTIONAL: the value when it is omitted; NUMBER, CHOICE: the same,
				 * NULL if it can't be, "" if the field stays as it is then */
	bool exact;		/* its long name can't be abbreviated */
};

#define CLI_MEMBER(S, f) (((struct S *)0)->f)
#define CLI_AT(S, f, type) \
	.offset = _Generic(CLI_MEMBER(S, f), type: offsetof(struct S, f)), \
	.width = sizeof(CLI_MEMBER(S, f))
#define CLI_AT_UNSIGNED(S, f) \
	.offset = _Generic(CLI_MEMBER(S, f), unsigned int: offsetof(struct S, f), \
			   unsigned long: offsetof(struct S, f), \
			   unsigned long long: offsetof(struct S, f)), \
	.width = sizeof(CLI_MEMBER(S, f))

#define CLI_END { .kind = CLI_KIND_END }
#define CLI_GROUP(title) { .kind = CLI_KIND_GROUP, .help = title }
/* bool: set to true. */
#define CLI_FLAG(c, n, S, f, text) \
	{ .kind = CLI_KIND_FLAG, .letter = c, .name = n, .help = text, CLI_AT(S, f, bool) }
/* bool: --name sets it and --no-name clears it, the last one wins. A row that is itself named
 * "no-name" clears the field, and --name sets it. */
#define CLI_SWITCH(c, n, S, f, text) \
	{ .kind = CLI_KIND_SWITCH, .letter = c, .name = n, .help = text, CLI_AT(S, f, bool) }
/* The same, but abbreviations of its name mean another option. */
#define CLI_SWITCH_EXACT(c, n, S, f, text) \
	{ .kind = CLI_KIND_SWITCH, .letter = c, .name = n, .help = text, .exact = true, \
	  CLI_AT(S, f, bool) }
/* const char *: unchanged when the option is absent. */
#define CLI_STRING(c, n, v, S, f, text) \
	{ .kind = CLI_KIND_STRING, .letter = c, .name = n, .value = v, .help = text, \
	  CLI_AT(S, f, const char *) }
/* const char *: the value must be attached (-z3, -z=3, --level=3); without one it is b. */
#define CLI_OPTIONAL(c, n, v, S, f, b, text) \
	{ .kind = CLI_KIND_OPTIONAL, .letter = c, .name = n, .value = v, .help = text, .bare = b, \
	  CLI_AT(S, f, const char *) }
/* struct cli_list: each occurrence adds one string; commas do not split it. */
#define CLI_LIST(c, n, v, S, f, text) \
	{ .kind = CLI_KIND_LIST, .letter = c, .name = n, .value = v, .help = text, \
	  CLI_AT(S, f, struct cli_list) }
/* unsigned, unsigned long or uint64_t: decimal; an error if the field can't hold it. */
#define CLI_NUMBER(c, n, v, S, f, text) \
	{ .kind = CLI_KIND_NUMBER, .letter = c, .name = n, .value = v, .help = text, \
	  CLI_AT_UNSIGNED(S, f) }
/* The same, in bytes, with an optional K, M, G or T (powers of 1024). */
#define CLI_SIZE(c, n, v, S, f, text) \
	{ .kind = CLI_KIND_SIZE, .letter = c, .name = n, .value = v, .help = text, \
	  CLI_AT_UNSIGNED(S, f) }
/* enum: the index of the name in list, a NULL-terminated array. If v is NULL, help shows the
 * names. */
#define CLI_CHOICE(c, n, v, S, f, list, text) \
	{ .kind = CLI_KIND_CHOICE, .letter = c, .name = n, .value = v, .help = text, \
	  .choices = list, CLI_AT(S, f, unsigned int) }
/* The same two, but the next argument is the value only if it can be one; else it is b. */
#define CLI_NUMBER_OR(c, n, v, S, f, b, text) \
	{ .kind = CLI_KIND_NUMBER, .letter = c, .name = n, .value = v, .help = text, .bare = b, \
	  CLI_AT_UNSIGNED(S, f) }
#define CLI_CHOICE_OR(c, n, v, S, f, list, b, text) \
	{ .kind = CLI_KIND_CHOICE, .letter = c, .name = n, .value = v, .help = text, \
	  .choices = list, .bare = b, CLI_AT(S, f, unsigned int) }
/* An option of similar tools that is refused with a reason. Not in help. */
#define CLI_REFUSED(c, n, reason) \
	{ .kind = CLI_KIND_REFUSED, .letter = c, .name = n, .help = reason }

enum cli_operands {
	CLI_NONE,
	CLI_AT_MOST_ONE,
	CLI_MANY,
	CLI_COMMAND,		/* options end at the first operand: the rest is a command */
};

/* An example and its purpose, a status and its meaning, or a heading and its text. A list of these
 * ends with a NULL name. */
struct cli_note {
	const char *name;
	const char *text;
};

/* Values that completion offers in addition to the option's choices and the lower-case alternatives
 * of its `value`. The list ends with a NULL option. */
struct cli_values {
	const char *option;	/* its name; values of a CLI_LIST are separated by commas */
	const char *words;	/* NULL, or values separated by blanks */
	const char *command;	/* NULL, or arguments that make the tool print one value per line */
	/* NULL, or returns the i-th value, NULL at the end */
	const char *(*word)(size_t i, char *buf, size_t size);
	/* NULL, or other names of choices, which messages translate; ended by a NULL name */
	const struct cli_note *others;
};

struct cli_tool {
	const char *name;
	const char *version;
	const char *build;	/* NULL, or more lines for --version */
	const char *summary;	/* one sentence */
	const char *description; /* NULL, or the man page's; blank lines separate paragraphs */
	const char *usage;	/* NULL, or the operands for help: "[FILE|-]" */
	const char *operand_note; /* NULL, or a line for help: the default operands */
	enum cli_operands operands;
	const char *more_operands; /* NULL, or what to do with more: "--base compares two" */
	const struct cli_option *options;
	const struct cli_values *values; /* NULL, or for completion */
	const struct cli_note *examples; /* NULL, or commands */
	const struct cli_note *sections; /* NULL, or more sections for the man page */
	const struct cli_note *exits;	/* NULL: the five of enum cli_exit */
	const char *see_also;	/* NULL, or "pencode(1), perf-record(1)" */
};

/* Stores the options of argv in *settings, which holds the defaults. Returns the operands, ended by
 * NULL, in argv, which is rearranged. --help and the like print and exit; bad usage prints a line
 * and a hint and exits with CLI_USAGE. A long name may be cut where only one option begins so.
 *
 * Must be called before any file is opened: it replaces a closed descriptor 0, 1 or 2 by one on
 * which reading (0) or writing (1) fails, so that no file of the tool can get that number. */
char **cli_parse(const struct cli_tool *tool, int argc, char **argv, void *settings);

void cli_list_free(struct cli_list *list);

/* Returns the edit distance of `name` and the `length` bytes given, or SIZE_MAX if these are too
 * long. */
size_t cli_distance(const char *name, const char *given, size_t length);

/* Takes the next item of a comma list: moves *rest past it, sets *length and returns its start, or
 * NULL at the end. Empty items count. */
const char *cli_next_item(const char **rest, size_t *length);

enum { CLI_NO_CHARACTER = 0x110000 };

struct cli_character {
	uint32_t code;		/* from CLI_NO_CHARACTER on: plus a byte that is not UTF-8 */
	size_t size;		/* in bytes, at least 1 */
	bool is_printable;	/* it changes neither a terminal's state nor the order of text */
};

/* Returns the first character of a text, which must not be empty. */
struct cli_character cli_first_character(const char *text, size_t size);

/* Replaces with '?' characters that could change the state of a terminal or the order of its text:
 * control characters, controls of bidirectional text and bytes that are not UTF-8. Returns the new
 * size, which is never larger. */
size_t cli_make_printable(char *text, size_t size);

/* Prints "NAME: MESSAGE" as one line on stderr. All messages of all tools go through this,
 * cli_footer() or cli_usage(), which make them printable, since they may contain names from
 * untrusted input, and leave out the middle of more than some 900 bytes. */
void cli_error(const struct cli_tool *tool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void cli_verror(const struct cli_tool *tool, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Prints nothing if stderr is a full pipe, or if another thread is blocked on it. */
void cli_error_unless_blocked(const struct cli_tool *tool, const char *text);

/* Prints "[ NAME: MESSAGE ]" likewise. */
void cli_footer(const struct cli_tool *tool, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Like cli_error(), followed by a hint at --help. Returns CLI_USAGE, for `return
 * cli_usage(...)`. */
enum cli_exit cli_usage(const struct cli_tool *tool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Flushes stdio; the last thing main() does. Returns status, or prints an error and returns
 * CLI_OUTPUT when stdout could not be written. */
enum cli_exit cli_finish(const struct cli_tool *tool, enum cli_exit status);

/* Ends the process by the signal, even if that is ignored or blocked. */
_Noreturn void cli_die_of(int signal_number);

#endif
