/* filter.c - parse the lists and times of pdecode's filters. */
#include "recording/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS 1000000000ull
/* Whole numbers from here on are ns: as seconds they would be more than 300 years. */
#define MIN_NS 10000000000ull
#define ITEM_MAX 1024	/* names of events have up to 512 bytes */
#define NAMES_SHOWN 20

/* A parsed list option: ranges of numbers, or words. */
struct list {
	struct pd_range *ranges;
	char **words;
	size_t count;
};

typedef bool (*item_parser)(const char *item, struct pd_range *out);

static void list_free(struct list *l)
{
	for (size_t i = 0; l->words && i < l->count; i++)
		free(l->words[i]);
	free(l->words);
	free(l->ranges);
}

static const char *parse_number(const char *text, uint64_t *n)
{
	for (*n = 0; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*n, 10, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(*text - '0'), n))
			return NULL;
	return text;
}

/* Parses "5" or "0-3", 32 bits each. */
static bool parse_range(const char *item, struct pd_range *out)
{
	const char *end = parse_number(item, &out->from);

	if (!end || end == item)
		return false;
	out->to = out->from;
	if (*end == '-') {
		item = end + 1;
		end = parse_number(item, &out->to);
		if (!end || end == item)
			return false;
	}
	return !*end && out->from <= out->to && out->to <= UINT32_MAX;
}

static bool parse_type(const char *item, struct pd_range *out)
{
	uint32_t type;

	if (parse_range(item, out))
		return true;
	if (!pd_record_type_parse(item, &type))
		return false;
	out->from = out->to = type;
	return true;
}

static bool is_word(const char *item, struct pd_range *out)
{
	(void)out;
	return *item != '\0';
}

static int add_item(struct list *l, const char *item, const struct pd_range *range,
		    item_parser read)
{
	void *bigger;

	if (read == is_word) {
		bigger = realloc(l->words, (l->count + 1) * sizeof(*l->words));
		if (!bigger)
			return -1;
		l->words = bigger;
		l->words[l->count] = strdup(item);
		if (!l->words[l->count])
			return -1;
	} else {
		bigger = realloc(l->ranges, (l->count + 1) * sizeof(*l->ranges));
		if (!bigger)
			return -1;
		l->ranges = bigger;
		l->ranges[l->count] = *range;
	}
	l->count++;
	return 0;
}

/* Takes the next item of a list. Commas are part of a name between the slashes of a PMU's event,
 * cpu/event=0x3c,umask=1/, and after a backslash, which fnmatch(3) removes. mem:0x1000/8:w has a
 * slash after a colon, which no PMU's name contains. */
static const char *next_item(const char **rest, size_t *length, item_parser read)
{
	const char *item = *rest;
	bool inside = false, colon = false;
	size_t n;

	if (read != is_word || !item)
		return cli_next_item(rest, length);
	for (n = 0; item[n] && (inside || item[n] != ','); n++) {
		colon |= item[n] == ':';
		if (item[n] == '\\' && item[n + 1])
			n++;
		else if (item[n] == '/')
			inside = !inside && !colon && strchr(item + n + 1, '/');
	}
	*length = n;
	*rest = item[n] ? item + n + 1 : NULL;
	return item;
}

/* Parses every item of a list option; `what` describes a valid item, for the message. */
static enum cli_exit parse_list(const struct cli_tool *tool, const struct cli_list *given,
				const char *option,
				const char *what, item_parser read, struct list *out)
{
	for (size_t i = 0; i < given->count; i++) {
		const char *rest = given->items[i], *at;
		char item[ITEM_MAX];
		struct pd_range range;
		size_t n;

		while ((at = next_item(&rest, &n, read)) != NULL) {
			snprintf(item, sizeof(item), "%.*s", (int)(n < ITEM_MAX ? n : ITEM_MAX - 1),
				 at);
			if (n >= ITEM_MAX || !read(item, &range))
				return cli_usage(tool, "'%s' needs %s, not '%s'", option, what,
						 item);
			if (add_item(out, item, &range, read))
				return cli_usage(tool, "out of memory");
		}
	}
	return CLI_OK;
}

/* Parses decimals as billionths; further digits are dropped. */
static const char *parse_decimals(const char *text, uint64_t *billionths)
{
	uint64_t unit = NS / 10;

	for (*billionths = 0; *text >= '0' && *text <= '9'; text++, unit /= 10)
		*billionths += (uint64_t)(*text - '0') * unit;
	return text;
}

/* Parses "12.5" and "12" as seconds, like perf, "12s", "12ms", "12us" and "12ns" by unit, and long
 * whole numbers as ns. */
static bool parse_time(const char *text, uint64_t *ns)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "s", NS }, { "ms", NS / 1000 }, { "us", NS / 1000000 }, { "ns", 1 },
	};
	uint64_t whole, part = 0, unit = 0;
	const char *end = parse_number(text, &whole), *decimals = NULL;

	if (!end)
		return false;
	if (*end == '.') {
		decimals = end + 1;
		end = parse_decimals(decimals, &part);
	}
	if (end == text || (decimals && end == decimals && decimals - text == 1))
		return false;
	if (!*end)
		unit = decimals || whole < MIN_NS ? NS : 1;
	for (size_t i = 0; *end && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0)
			unit = units[i].ns;
	if (!unit || __builtin_mul_overflow(whole, unit, ns))
		return false;
	return !__builtin_add_overflow(*ns, part / (NS / unit), ns);
}

/* Parses "a,b"; either end may be omitted. */
static bool parse_span(const char *text, struct pd_range *out)
{
	const char *comma = strchr(text, ',');
	char from[64];

	if (!comma || (size_t)(comma - text) >= sizeof(from) || strchr(comma + 1, ','))
		return false;
	memcpy(from, text, (size_t)(comma - text));
	from[comma - text] = '\0';
	*out = (struct pd_range){ 0, UINT64_MAX };
	if (!from[0] && !comma[1])
		return false;
	return (!from[0] || parse_time(from, &out->from)) &&
	       (!comma[1] || parse_time(comma + 1, &out->to)) && out->from <= out->to;
}

/* Parses "10%-20%", or "10%/2", the second tenth. */
static bool parse_part(const char *text, struct filter_part *part)
{
	double a, b;
	int end = 0;

	if (strspn(text, "0123456789.%-/") != strlen(text))
		return false;
	if (sscanf(text, "%lf%%-%lf%%%n", &a, &b, &end) == 2 && end && !text[end]) {
		*part = (struct filter_part){ a / 100, b / 100 };
	} else if (end = 0, sscanf(text, "%lf%%/%lf%n", &a, &b, &end) == 2 && end && !text[end] &&
		   b >= 1) {
		*part = (struct filter_part){ a * (b - 1) / 100, a * b / 100 };
	} else {
		return false;
	}
	return part->from >= 0 && part->from < part->to && part->to <= 1;
}

static enum cli_exit parse_time_option(const struct cli_tool *tool, const char *text,
				       struct pd_range *time,
				       struct filter_part *part)
{
	if (strchr(text, '%')) {
		if (!parse_part(text, part))
			return cli_usage(tool, "'--time' needs a part such as 10%%-20%%, not '%s'",
					 text);
		*time = (struct pd_range){ 0, UINT64_MAX };
		return CLI_OK;
	}
	if (!parse_span(text, time))
		return cli_usage(tool,
				 "'--time' needs a span such as 12.5,13 or 12.5, (open), not '%s'",
				 text);
	return CLI_OK;
}

static bool has_filters(const struct filter_settings *s)
{
	return s->types.count || s->pids.count || s->tids.count || s->cpus.count ||
	       s->comms.count || s->events.count || s->time || symbol_filter_is_given(&s->places);
}

enum cli_exit filter_make(const struct cli_tool *tool, const struct filter_settings *s,
			  struct pd_filter **filter, struct filter_part *part)
{
	enum { TYPES, PIDS, TIDS, CPUS, COMMS, EVENTS, LISTS };
	const struct {
		const struct cli_list *given;
		const char *option, *what;
		item_parser read;
	} rows[LISTS] = {
		[TYPES] = { &s->types, "--types", "record types such as SAMPLE,MMAP2", parse_type },
		[PIDS] = { &s->pids, "--pid", "process ids such as 1,20-29", parse_range },
		[TIDS] = { &s->tids, "--tid", "thread ids such as 1,20-29", parse_range },
		[CPUS] = { &s->cpus, "--cpu", "cpus such as 0-3,5", parse_range },
		[COMMS] = { &s->comms, "--comm", "names of threads", is_word },
		[EVENTS] = { &s->events, "--event", "names of events", is_word },
	};
	struct list lists[LISTS] = { { NULL } };
	struct pd_range time;
	enum cli_exit status = CLI_OK;

	*filter = NULL;
	*part = (struct filter_part){ 0, 0 };
	if (!has_filters(s))
		return CLI_OK;
	for (size_t i = 0; i < LISTS && status == CLI_OK; i++)
		status = parse_list(tool, rows[i].given, rows[i].option, rows[i].what, rows[i].read,
				    &lists[i]);
	if (status == CLI_OK)
		status = symbol_filter_check(tool, &s->places);
	if (status == CLI_OK && s->time)
		status = parse_time_option(tool, s->time, &time, part);
	if (status == CLI_OK) {
		*filter = pd_filter_new(&(struct pd_filter_options){
			.size = sizeof(struct pd_filter_options),
			.types = { lists[TYPES].ranges, lists[TYPES].count },
			.pids = { lists[PIDS].ranges, lists[PIDS].count },
			.tids = { lists[TIDS].ranges, lists[TIDS].count },
			.cpus = { lists[CPUS].ranges, lists[CPUS].count },
			.comms = { (const char *const *)lists[COMMS].words, lists[COMMS].count },
			.events = { (const char *const *)lists[EVENTS].words, lists[EVENTS].count },
			.time = s->time ? &time : NULL,
		});
		if (!*filter)
			status = cli_usage(tool, "out of memory");
	}
	for (size_t i = 0; i < LISTS; i++)
		list_free(&lists[i]);
	return status;
}

enum cli_exit filter_set_part(const struct cli_tool *tool, struct pd_filter *filter,
			      struct filter_part part, struct pd_reader *reader)
{
	uint64_t first, last;

	if (part.to == 0)
		return CLI_OK;
	if (!pd_reader_time_span(reader, &first, &last))
		return cli_usage(tool,
				 "'--time' with %% needs a file that states the time of its first "
				 "and last sample; this one does not: use times, as in --time "
				 "12.5,13");
	/* records other than samples, and waits, may be before the first sample and after the
	 * last */
	pd_filter_set_time(filter, (struct pd_range){
		part.from > 0 ? first + (uint64_t)((double)(last - first) * part.from) : 0,
		part.to < 1 ? first + (uint64_t)((double)(last - first) * part.to) : UINT64_MAX,
	});
	return CLI_OK;
}

static bool has_event(const struct pd_reader *reader, const char *glob)
{
	for (size_t i = 0; i < pd_reader_nr_attrs(reader); i++)
		if (pd_event_name_matches(glob, pd_attr_name(pd_reader_attr(reader, i))))
			return true;
	return false;
}

/* Different names, to list them. */
struct names {
	const char *of[NAMES_SHOWN];
	size_t n;
};

/* Returns false if there is no room for another one. */
static bool add_name(struct names *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->of[i], name) == 0)
			return true;
	if (l->n == NAMES_SHOWN)
		return false;
	l->of[l->n++] = name;
	return true;
}

/* Returns the text "a, b, c". */
static const char *join_names(const struct names *l, bool is_all, char *text, size_t size)
{
	size_t n = 0, i;

	for (i = 0; i < l->n && n + strlen(l->of[i]) + sizeof(", , ...") <= size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", i ? ", " : "", l->of[i]);
	snprintf(text + n, size - n, "%s", is_all && i == l->n ? "" : i ? ", ..." : "...");
	return text;
}

static const char *list_events(const struct pd_reader *reader, char *text, size_t size)
{
	struct names l = { .n = 0 };
	bool is_all = true;

	for (size_t i = 0; is_all && i < pd_reader_nr_attrs(reader); i++)
		is_all = add_name(&l, pd_attr_name(pd_reader_attr(reader, i)));
	return join_names(&l, is_all, text, size);
}

const char *filter_list_comms(const struct pd_history *h, char *text, size_t size)
{
	struct names l = { .n = 0 };
	struct pd_task t;
	bool is_all = true;

	/* of a whole machine the first ones are threads of the kernel */
	for (size_t i = pd_history_nr_tasks(h); is_all && i-- > 0;)
		if (pd_history_task_at(h, i, &t) && t.comm)
			is_all = add_name(&l, t.comm);
	return join_names(&l, is_all, text, size);
}

bool filter_wants_event(const struct filter_settings *s, const char *name)
{
	char item[ITEM_MAX];

	for (size_t i = 0; i < s->events.count; i++) {
		const char *rest = s->events.items[i], *at;
		size_t n;

		while ((at = next_item(&rest, &n, is_word)) != NULL) {
			snprintf(item, sizeof(item), "%.*s", (int)n, at);
			if (pd_event_name_matches(item, name))
				return true;
		}
	}
	return s->events.count == 0;
}

void filter_report_unknown_events(const struct cli_tool *tool, const struct filter_settings *s,
				  const struct pd_reader *reader)
{
	char names[1024], item[ITEM_MAX];

	for (size_t i = 0; i < s->events.count; i++) {
		const char *rest = s->events.items[i], *at;
		size_t n;

		while ((at = next_item(&rest, &n, is_word)) != NULL) {
			snprintf(item, sizeof(item), "%.*s", (int)n, at);
			if (has_event(reader, item))
				continue;
			if (pd_reader_nr_attrs(reader))
				cli_error(tool, "--event: no event matches '%s'; the events are %s",
					  item,
					  list_events(reader, names, sizeof(names)));
			else
				cli_error(tool,
					  "--event: no event matches '%s'; there are no "
					  "events", item);
		}
	}
}

void filter_report_no_match(const struct cli_tool *tool, const struct filter_settings *s,
			    const struct pd_filter *filter)
{
	const struct { const char *name; const struct cli_list *list; } options[] = {
		{ "--comm", &s->comms }, { "--pid", &s->pids }, { "--tid", &s->tids },
		{ "--cpu", &s->cpus }, { "--symbol", &s->places.symbols },
		{ "--dso", &s->places.dsos }, { "--in", &s->places.in },
	};
	char given[256];
	size_t n = 0;

	/* With --types other than SAMPLE no samples are expected. */
	if (s->types.count || pd_filter_samples(filter) || !pd_filter_dropped(filter))
		return;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		for (size_t k = 0; k < options[i].list->count && n < sizeof(given); k++)
			n += (size_t)snprintf(given + n, sizeof(given) - n, " %s %s",
					      options[i].name, options[i].list->items[k]);
	if (n)
		cli_error(tool, "no sample matches%s", given);
}

void filter_settings_free(struct filter_settings *s)
{
	cli_list_free(&s->types);
	cli_list_free(&s->pids);
	cli_list_free(&s->tids);
	cli_list_free(&s->cpus);
	cli_list_free(&s->comms);
	cli_list_free(&s->events);
	symbol_filter_settings_free(&s->places);
}
