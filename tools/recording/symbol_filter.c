/* symbol_filter.c - filters samples by the functions and images of their addresses: see
 * symbol_filter.h. */
#include "recording/symbol_filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "[unknown]"	/* what perf shows for no name, and no image */
#define ANSWERS 4096		/* a power of 2 */
#define MIN_LOCATIONS 128

/* Names, or patterns of them. */
struct names {
	char **items;
	size_t count;
};

/* Whether the functions at an address match. Their array is the key: a session keeps it. */
struct answer {
	const struct pd_function *functions;
	bool matches;
};

struct wanted_functions {
	struct names names;
	struct answer answers[ANSWERS];
};

enum image_answer { NOT_ASKED, WANTED, UNWANTED };

struct symbol_filter {
	const struct pd_history *history;
	struct ps_session *session;
	struct wanted_functions symbols, in;
	struct names dsos;
	uint8_t *images;		/* enum image_answer, by index */
	size_t nr_images;
	struct pd_location *locations;
	size_t capacity;
};

/* --- names --- */

bool symbol_filter_needs_names(const struct symbol_filter_settings *s)
{
	return s->symbols.count || s->in.count;
}

bool symbol_filter_is_given(const struct symbol_filter_settings *s)
{
	return symbol_filter_needs_names(s) || s->dsos.count;
}

/* Returns whether the text before a bracket is the word that makes it part of a name. */
static bool is_after_operator(const char *item, size_t n)
{
	static const char word[] = "operator";
	const size_t length = sizeof(word) - 1;

	while (n && strchr("<>-", item[n - 1]))
		n--;
	return n >= length && strncmp(item + n - length, word, length) == 0;
}

/* Takes the next name of a list. Commas between brackets are part of a name, as in
 * std::map<int, int>::find, and those after a backslash, which fnmatch(3) removes. */
static const char *next_name(const char **rest, size_t *length)
{
	const char *item = *rest;
	size_t depth = 0, n;

	if (!item)
		return NULL;
	for (n = 0; item[n] && (depth || item[n] != ','); n++) {
		if (item[n] == '\\' && item[n + 1])
			n++;
		else if (strchr("<({", item[n]) && !is_after_operator(item, n))
			depth++;
		else if (depth && strchr(">)}", item[n]) && !is_after_operator(item, n))
			depth--;
	}
	*length = n;
	*rest = item[n] ? item + n + 1 : NULL;
	return item;
}

static int add_name(struct names *names, const char *text, size_t length)
{
	char **bigger = realloc(names->items, (names->count + 1) * sizeof(*bigger));

	if (!bigger)
		return -1;
	names->items = bigger;
	bigger[names->count] = strndup(text, length);
	return bigger[names->count] ? (names->count++, 0) : -1;
}

static int read_names(const struct cli_list *given, struct names *out)
{
	for (size_t i = 0; i < given->count; i++) {
		const char *rest = given->items[i], *name;
		size_t length;

		while ((name = next_name(&rest, &length)))
			if (add_name(out, name, length))
				return -1;
	}
	return 0;
}

static enum cli_exit check_list(const struct cli_tool *tool, const struct cli_list *given,
				const char *option, const char *what)
{
	for (size_t i = 0; i < given->count; i++) {
		const char *rest = given->items[i];
		size_t length;

		while (next_name(&rest, &length))
			if (!length)
				return cli_usage(tool, "'%s' needs %s, not ''", option, what);
	}
	return CLI_OK;
}

enum cli_exit symbol_filter_check(const struct cli_tool *tool,
				  const struct symbol_filter_settings *s)
{
	static const char functions[] = "names of functions";
	enum cli_exit status = check_list(tool, &s->symbols, "--symbol", functions);

	if (status == CLI_OK)
		status = check_list(tool, &s->dsos, "--dso", "names of files");
	return status == CLI_OK ? check_list(tool, &s->in, "--in", functions) : status;
}

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

/* A name such as operator[] also matches as it is. */
static bool is_named(const struct names *names, const char *text)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], text) == 0 || fnmatch(names->items[i], text, 0) == 0)
			return true;
	return false;
}

/* --- addresses --- */

static bool is_function_named(const struct names *names, const struct pd_function *f)
{
	return (f->symbol && is_named(names, f->symbol)) ||
	       (f->linkage_name && is_named(names, f->linkage_name));
}

static bool ask_functions(const struct names *names, const struct pd_frame_names *found)
{
	if (!found->nr_functions)
		return is_named(names, UNKNOWN);
	for (size_t i = 0; i < found->nr_functions; i++)
		if (is_function_named(names, &found->functions[i]))
			return true;
	return false;
}

static bool matches_functions(struct symbol_filter *f, struct wanted_functions *wanted,
			      int32_t pid, const struct pd_location *l)
{
	struct pd_frame_names found;
	struct answer *a;

	ps_resolve(f->session, pid, l, &found);
	a = &wanted->answers[(uintptr_t)found.functions / sizeof(void *) & (ANSWERS - 1)];
	if (!found.nr_functions || a->functions != found.functions)
		*a = (struct answer){ found.functions, ask_functions(&wanted->names, &found) };
	return a->matches;
}

static bool ask_image(const struct symbol_filter *f, uint32_t index)
{
	const char *path = pd_history_image(f->history, index)->path;
	const char *slash = strrchr(path, '/');

	return is_named(&f->dsos, path) || (slash && is_named(&f->dsos, slash + 1));
}

/* Returns 1, 0, or -1 without memory. The images of a live history become more. */
static int matches_image(struct symbol_filter *f, const struct pd_location *l)
{
	if (l->image == PD_NO_IMAGE)
		return is_named(&f->dsos, UNKNOWN);
	if (l->image >= f->nr_images) {
		const size_t bigger = 2 * ((size_t)l->image + 32);
		uint8_t *p = realloc(f->images, bigger);

		if (!p)
			return -1;
		memset(p + f->nr_images, NOT_ASKED, bigger - f->nr_images);
		f->images = p;
		f->nr_images = bigger;
	}
	if (f->images[l->image] == NOT_ASKED)
		f->images[l->image] = ask_image(f, l->image) ? WANTED : UNWANTED;
	return f->images[l->image] == WANTED;
}

/* --- samples --- */

static int32_t pid_of(const struct pd_record *sample)
{
	uint64_t pid;

	return pd_record_get_number(sample, "pid", &pid) ? (int32_t)pid : -1;
}

/* Returns 1, 0, or -1 without memory. */
static int matches_own(struct symbol_filter *f, const struct pd_record *sample)
{
	struct pd_location own;

	if (!f->symbols.names.count && !f->dsos.count)
		return 1;
	if (!pd_history_frames(f->history, sample, &own, 1))
		return 0;
	if (f->symbols.names.count &&
	    !matches_functions(f, &f->symbols, pid_of(sample), &own))
		return 0;
	return f->dsos.count ? matches_image(f, &own) : 1;
}

/* Returns the number of frames of a sample, which are in f->locations; -1 without memory. */
static ptrdiff_t find_frames(struct symbol_filter *f, const struct pd_record *sample)
{
	enum ps_end end;
	size_t n = ps_frames(f->session, sample, f->locations, f->capacity, &end);
	void *bigger;

	if (n <= f->capacity)
		return (ptrdiff_t)n;
	n = n < MIN_LOCATIONS ? MIN_LOCATIONS : 2 * n;
	bigger = realloc(f->locations, n * sizeof(*f->locations));
	if (!bigger)
		return -1;
	f->locations = bigger;
	f->capacity = n;
	return (ptrdiff_t)ps_frames(f->session, sample, f->locations, f->capacity, &end);
}

static int matches_any_frame(struct symbol_filter *f, const struct pd_record *sample)
{
	const ptrdiff_t n = f->in.names.count ? find_frames(f, sample) : 0;
	const int32_t pid = pid_of(sample);

	if (n < 0)
		return -1;
	for (ptrdiff_t i = 0; i < n; i++)
		if (matches_functions(f, &f->in, pid, &f->locations[i]))
			return 1;
	return !f->in.names.count;
}

static int keeps_sample(void *ctx, const struct pd_record *sample)
{
	const int own = matches_own(ctx, sample);

	return own > 0 ? matches_any_frame(ctx, sample) : own;
}

/* --- the filter --- */

struct symbol_filter *symbol_filter_new(const struct symbol_filter_settings *s,
					const struct pd_history *history,
					struct ps_session *session, struct pd_filter *filter)
{
	struct symbol_filter *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->history = history;
	f->session = session;
	if (read_names(&s->symbols, &f->symbols.names) || read_names(&s->dsos, &f->dsos) ||
	    read_names(&s->in, &f->in.names)) {
		symbol_filter_free(f);
		return NULL;
	}
	pd_filter_set_test(filter, (struct pd_sample_test){ keeps_sample, f });
	return f;
}

void symbol_filter_free(struct symbol_filter *f)
{
	if (!f)
		return;
	free_names(&f->symbols.names);
	free_names(&f->in.names);
	free_names(&f->dsos);
	free(f->images);
	free(f->locations);
	free(f);
}

void symbol_filter_settings_free(struct symbol_filter_settings *s)
{
	cli_list_free(&s->symbols);
	cli_list_free(&s->dsos);
	cli_list_free(&s->in);
}
