/* cli.c - parse a command line by a table of options. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_find.h"
#include "cli/cli_print.h"

struct parser {
	const struct cli_tool *tool;
	char **argv;
	int at;			/* index of the next argument; argv ends with NULL */
	void *settings;
	char bare[80];		/* the last option that was followed by no value of it */
	const char *no_value;	/* what followed; NULL: nothing yet */
};

/* An option on the command line: its row and how the user wrote it. */
struct given {
	const struct cli_option *option;
	char spelled[80];	/* for messages */
	const char *value;	/* NULL: none */
	bool negated;
};

_Noreturn void cli_die_of(int signal_number)
{
	sigset_t set;

	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_number);
	_exit(128 + signal_number);
}

enum cli_exit cli_finish(const struct cli_tool *tool, enum cli_exit status)
{
	bool failed;

	errno = 0;
	failed = ferror(stdout);
	if (fflush(stdout) == 0 && !failed)
		return status;
	if (errno == EPIPE)
		cli_die_of(SIGPIPE);
	cli_error(tool, "standard output: %s", strerror(errno ? errno : EIO));
	return CLI_OUTPUT;
}

/* Opens a missing stdin for writing and a missing stdout for reading: using them then fails with
 * EBADF as before, and lost output is not taken for success. */
static void fill_standard_fds(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };

	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", modes[fd]) != fd)
			_exit(CLI_OUTPUT);
	}
}

void cli_list_free(struct cli_list *list)
{
	free(list->items);
	list->items = NULL;
	list->count = 0;
}

const char *cli_next_item(const char **rest, size_t *length)
{
	const char *item = *rest;

	if (!item)
		return NULL;
	*length = strcspn(item, ",");
	*rest = item[*length] ? item + *length + 1 : NULL;
	return item;
}

static void list_add(const struct cli_tool *tool, struct cli_list *list, const char *item)
{
	const char **items = realloc(list->items, (list->count + 1) * sizeof(*items));

	if (!items) {
		cli_error(tool, "out of memory");
		exit(CLI_OUTPUT);
	}
	items[list->count++] = item;
	list->items = items;
}

/* Reads decimal digits and returns the end of them. */
static const char *read_digits(const char *text, uint64_t *n, bool *too_large)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): read_value() checked it */
	for (*n = 0; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*n, 10, n) ||
		    __builtin_add_overflow(*n, (unsigned int)(*text - '0'), n))
			*too_large = true;
	return text;
}

/* Moves *text over a K, M, G or T, which may be followed by B or iB; returns its power of two. */
static unsigned int read_suffix(const char **text)
{
	static const char letters[] = "KMGT";
	const char *found = **text ? strchr(letters, **text & ~0x20) : NULL;

	if (!found)
		return 0;
	++*text;
	if (strcmp(*text, "iB") == 0)
		*text += 2;
	else if (strcmp(*text, "B") == 0)
		*text += 1;
	return 10 * (unsigned int)(found - letters + 1);
}

static void store_number(const struct parser *p, const struct given *g)
{
	const struct cli_option *o = g->option;
	void *field = (char *)p->settings + o->offset;
	uint64_t limit = UINT64_MAX >> (64 - 8 * o->width);
	unsigned int shift = 0;
	bool too_large = false;
	uint64_t n;
	const char *end = read_digits(g->value, &n, &too_large);

	if (end > g->value && o->kind == CLI_KIND_SIZE)
		shift = read_suffix(&end);
	if (end == g->value || *end)
		exit(cli_usage(p->tool, "'%s' needs a %s, not '%s'", g->spelled,
			       o->kind == CLI_KIND_SIZE ? "size such as 64M" : "number", g->value));
	if (too_large || n > limit >> shift)
		exit(cli_usage(p->tool, "'%s': %s is too large", g->spelled, g->value));
	n <<= shift;
	if (o->width == sizeof(n))
		memcpy(field, &n, sizeof(n));
	else
		memcpy(field, &(unsigned int){ (unsigned int)n }, sizeof(unsigned int));
}

static void store_choice(const struct parser *p, const struct given *g)
{
	const struct cli_option *o = g->option;
	char names[CLI_SPELLING_MAX];
	struct cli_option bare = *o;
	const char *near;

	for (unsigned int i = 0; o->choices[i]; i++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): as store_number() */
		if (strcmp(o->choices[i], g->value) == 0) {
			memcpy((char *)p->settings + o->offset, &i, sizeof(i));
			return;
		}
	}
	bare.value = NULL;
	near = cli_nearest_word(p->tool, o, g->value);
	exit(cli_usage(p->tool, "'%s' must be one of %s, not '%s'%s%s%s", g->spelled,
		       cli_value(&bare, names, sizeof(names)), g->value,
		       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ""));
}

static void print_and_exit(const struct parser *p, const struct given *g)
{
	bool known = false;

	switch (g->option->kind) {
	case CLI_KIND_HELP:
		cli_print_help(p->tool, stdout);
		break;
	case CLI_KIND_VERSION:
		cli_print_version(p->tool, stdout);
		break;
	case CLI_KIND_MAN:
		cli_print_man(p->tool, stdout);
		break;
	default:
		for (size_t i = 0; cli_shells[i]; i++)
			/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): likewise */
			known = known || strcmp(cli_shells[i], g->value) == 0;
		if (!known)
			exit(cli_usage(p->tool, "'%s' must be one of bash|zsh|fish, not '%s'",
				       g->spelled, g->value));
		cli_print_completion(p->tool, g->value, stdout);
		break;
	}
	exit(cli_finish(p->tool, CLI_OK));
}

static void store_value(const struct parser *p, const struct given *g)
{
	const struct cli_option *o = g->option;
	void *field = (char *)p->settings + o->offset;

	switch (o->kind) {
	case CLI_KIND_FLAG:
	case CLI_KIND_SWITCH:
		*(bool *)field = (strncmp(o->name, "no-", 3) == 0 && o->kind == CLI_KIND_SWITCH) ==
				 g->negated;
		break;
	case CLI_KIND_STRING:
		*(const char **)field = g->value;
		break;
	case CLI_KIND_OPTIONAL:
		*(const char **)field = g->value ? g->value : o->bare;
		break;
	case CLI_KIND_LIST:
		list_add(p->tool, (struct cli_list *)field, g->value);
		break;
	case CLI_KIND_NUMBER:
	case CLI_KIND_SIZE:
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): likewise */
		if (g->value != o->bare || *o->bare)
			store_number(p, g);
		break;
	case CLI_KIND_CHOICE:
		store_choice(p, g);
		break;
	case CLI_KIND_REFUSED:
		exit(cli_usage(p->tool, "'%s' is not supported: %s", g->spelled, o->help));
	case CLI_KIND_END:
	case CLI_KIND_GROUP:
		break;
	case CLI_KIND_HELP:
	case CLI_KIND_VERSION:
	case CLI_KIND_MAN:
	case CLI_KIND_COMPLETION:
		print_and_exit(p, g);
	}
}

/* Returns whether an argument can be the value of an option that may lack one. */
static bool can_be_value(const struct cli_option *o, const char *arg)
{
	if (!arg || o->kind == CLI_KIND_NUMBER)
		return arg && *arg && !arg[strspn(arg, "0123456789")];
	for (size_t i = 0; o->choices[i]; i++)
		if (strcmp(o->choices[i], arg) == 0)
			return true;
	return strchr(arg, ',');	/* perf's graph,0.5,caller is refused as a value */
}

/* The value is the next argument when the option needs one and it isn't attached. */
static void read_value(struct parser *p, struct given *g)
{
	char value[CLI_SPELLING_MAX];

	if (g->value || !cli_takes_value(g->option))
		return;
	if (g->option->bare && !can_be_value(g->option, p->argv[p->at])) {
		g->value = g->option->bare;
		memcpy(p->bare, g->spelled, sizeof(p->bare));
		p->no_value = p->argv[p->at];
		return;
	}
	if (!p->argv[p->at])
		exit(cli_usage(p->tool, "'%s' needs a value (%s)", g->spelled,
			       cli_value(g->option, value, sizeof(value))));
	g->value = p->argv[p->at++];
}

static const struct cli_option *find_letter(const struct cli_option *o, char letter)
{
	for (; o->kind != CLI_KIND_END; o++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

static void parse_long(struct parser *p, const char *arg)
{
	const char *name = arg + 2;
	size_t length = strcspn(name, "=");
	const struct cli_match found = cli_find_long(p->tool, name, length);
	struct given g = { .option = found.option, .negated = found.form == CLI_NEGATED };

	cli_long_name(&found, g.spelled, sizeof(g.spelled));
	if (name[length])
		g.value = name + length + 1;
	if (g.value && g.option->kind != CLI_KIND_OPTIONAL &&
	    g.option->kind != CLI_KIND_REFUSED && !cli_takes_value(g.option))
		exit(cli_usage(p->tool, "'%s' takes no value", g.spelled));
	read_value(p, &g);
	store_value(p, &g);
}

/* Parses a cluster of letters; the first one that takes a value takes the rest of the argument. */
static void parse_short(struct parser *p, const char *arg)
{
	for (const char *c = arg + 1; *c; c++) {
		struct given g = { .option = find_letter(p->tool->options, *c) };

		snprintf(g.spelled, sizeof(g.spelled), "-%c", *c);
		if (!g.option)
			g.option = find_letter(cli_builtin, *c);
		if (!g.option)
			exit(cli_usage(p->tool, "unknown option '%s'", g.spelled));
		if (g.option->kind == CLI_KIND_OPTIONAL || cli_takes_value(g.option)) {
			if (c[1])
				g.value = c + 1;
			if (c[1] == '=' && g.option->kind == CLI_KIND_OPTIONAL)
				g.value = c + 2;
			read_value(p, &g);
			store_value(p, &g);
			return;
		}
		store_value(p, &g);
	}
}

static bool is_full(enum cli_operands operands, int count)
{
	return operands == CLI_NONE || (operands == CLI_AT_MOST_ONE && count == 1);
}

/* One of the two operands may have been meant for an option. */
static _Noreturn void refuse_operand(const struct parser *p, const char *arg)
{
	if (p->no_value && (p->no_value == p->argv[1] || p->no_value == arg))
		exit(cli_usage(p->tool, "too many operands: '%s'; '%s' is no value of '%s'", arg,
			       p->no_value, p->bare));
	if (p->tool->more_operands)
		exit(cli_usage(p->tool, "too many operands: '%s'; %s", arg,
			       p->tool->more_operands));
	exit(cli_usage(p->tool, "too many operands: '%s'", arg));
}

char **cli_parse(const struct cli_tool *tool, int argc, char **argv, void *settings)
{
	struct parser p = { .tool = tool, .argv = argv, .at = 1, .settings = settings };
	bool only_operands = false;
	int count = 0;

	fill_standard_fds();
	if (argc < 1)
		return argv;
	while (argv[p.at]) {
		char *arg = argv[p.at++];

		if (!only_operands && strcmp(arg, "--") == 0) {
			only_operands = true;
		} else if (!only_operands && arg[0] == '-' && arg[1] == '-') {
			parse_long(&p, arg);
		} else if (!only_operands && arg[0] == '-' && arg[1]) {
			parse_short(&p, arg);
		} else if (is_full(tool->operands, count)) {
			refuse_operand(&p, arg);
		} else {
			argv[1 + count++] = arg;	/* never passes p.at */
			only_operands = only_operands || tool->operands == CLI_COMMAND;
		}
	}
	argv[1 + count] = NULL;
	return argv + 1;
}
