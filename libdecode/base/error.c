/* error.c - the texts of errors; the library has no other messages. */
#include "pd/error.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PART 384		/* path and text of a writer's error are 160 bytes each */

static const char *const names[] = {
	[PD_OK] = "OK",
	[PD_E_IO] = "IO",
	[PD_E_NOMEM] = "NOMEM",
	[PD_E_LIMIT] = "LIMIT",
	[PD_E_MAGIC] = "MAGIC",
	[PD_E_SIZE] = "SIZE",
	[PD_E_TRUNCATED] = "TRUNCATED",
	[PD_E_COUNT] = "COUNT",
	[PD_E_NO_ATTR] = "NO_ATTR",
	[PD_E_UNKNOWN_TYPE] = "UNKNOWN_TYPE",
	[PD_E_CODEC] = "CODEC",
	[PD_E_UNFINISHED] = "UNFINISHED",
	[PD_E_TRAILING] = "TRAILING",
	[PD_E_PAYLOAD] = "PAYLOAD",
	[PD_E_GARBAGE] = "GARBAGE",
	[PD_E_DUPLICATE] = "DUPLICATE",
	[PD_E_FORMAT] = "FORMAT",
	[PD_E_ARGUMENT] = "ARGUMENT",
	[PD_E_RESTORED] = "RESTORED",
	[PD_E_MISMATCH] = "MISMATCH",
	[PD_E_AGAIN] = "AGAIN",
	[PD_E_CANCELLED] = "CANCELLED",
	[PD_E_ORDER] = "ORDER",
};

const char *pd_code_name(enum pd_code code)
{
	return (unsigned int)code < sizeof(names) / sizeof(names[0]) ? names[code] : "UNKNOWN";
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Returns whether the error is a mistake of the caller's, not damage of the input. With `want` set,
 * the text states why bytes are missing. */
static bool is_of_caller(const struct pd_error *e)
{
	return e->text && !e->want;
}

/* "data.3: SAMPLE at 9000: ", as far as it is known. A caller's mistake has no offset. */
static void format_place(const struct pd_error *e, char *buf)
{
	char record[PART / 2] = "", at[32] = "";

	if (e->record)
		snprintf(record, sizeof(record), "%s", e->record);
	else if (e->record_type)
		snprintf(record, sizeof(record), "record of type %" PRIu32, e->record_type);
	if (!is_of_caller(e) && (e->offset || e->record_type))
		snprintf(at, sizeof(at), "%sat %" PRIu64, record[0] ? " " : "", e->offset);
	snprintf(buf, PART, "%s%s%s%s%s", e->file ? e->file : "", e->file ? ": " : "", record, at,
		 record[0] || at[0] ? ": " : "");
}

/* Describes a field that needs more bytes than there are. */
static void format_shortage(const struct pd_error *e, const char *field, char *buf)
{
	const char *space = field[0] ? " " : "";

	if (e->want == UINT64_MAX)
		snprintf(buf, PART, "%s%sneeds more than the %" PRIu64 " byte%s left", field, space,
			 e->have, plural(e->have));
	else if (e->want)
		snprintf(buf, PART, "%s%sneeds %" PRIu64 " byte%s, %" PRIu64 " left", field, space,
			 e->want, plural(e->want), e->have);
	else
		snprintf(buf, PART, "%s%sis cut short", field, space);
}

static void format_size(const struct pd_error *e, const char *field, char *buf)
{
	if (e->record_type && strcmp(field, "size") == 0)
		snprintf(buf, PART,
			 "its size of %" PRIu64
			 " covers other records: its own fields take %" PRIu64 " bytes",
			 e->have, e->want);
	else if (e->text)
		snprintf(buf, PART, "%s", e->text);
	else
		snprintf(buf, PART, "%s%simpossible size", field, field[0] ? ": " : "");
}

static void format_limit(const struct pd_error *e, char *buf)
{
	if (e->want)
		snprintf(buf, PART, "the memory limit is too low for %" PRIu64 " more byte%s",
			 e->want, plural(e->want));
	else
		snprintf(buf, PART, "the memory limit is too low");
}

static void format_trailing(const struct pd_error *e, const char *field, char *buf)
{
	if (e->text)
		snprintf(buf, PART, "%s", e->text);
	else if (e->have)
		snprintf(buf, PART, "%" PRIu64 " byte%s after the last field", e->have,
			 plural(e->have));
	else
		snprintf(buf, PART, "bytes after the %s%s", field[0] ? field : "end",
			 field[0] ? " stream" : "");
}

/* Returns the text of errors that needs no more than the field's name. */
static const char *fixed_text(const struct pd_error *e)
{
	switch (e->code) {
	case PD_OK:
		return "no error";
	case PD_E_NOMEM:
		return "out of memory";
	case PD_E_MAGIC:
		return e->record || e->record_type ? "other bytes where its signature belongs"
						   : "not a perf.data file";
	case PD_E_NO_ATTR:
		return "belongs to no event of this file";
	case PD_E_UNKNOWN_TYPE:
		return "unknown; its bytes are kept as they are";
	case PD_E_UNFINISHED:
		return "the recorder did not finish: what it writes at the end is missing";
	case PD_E_GARBAGE:
		return "these bytes are not records";
	case PD_E_DUPLICATE:
		return "present twice; the first one counts";
	case PD_E_FORMAT:
		return "the format's text is damaged";
	case PD_E_ARGUMENT:
		return "the input does not allow what was asked for";
	case PD_E_RESTORED:
		return "zeroed in the header: this copy is used";
	case PD_E_MISMATCH:
		return e->text ? e->text : "this copy differs from the header's";
	case PD_E_AGAIN:
		return "more bytes are needed";
	case PD_E_CANCELLED:
		return "cancelled while it waited for input";
	default:
		return pd_code_name(e->code);
	}
}

static void format_problem(const struct pd_error *e, char *buf)
{
	const char *field = e->field ? e->field : "";

	if (is_of_caller(e) && e->code != PD_E_MAGIC) {
		snprintf(buf, PART, "%s%s%s", field, field[0] ? ": " : "", e->text);
		return;
	}
	switch (e->code) {
	case PD_E_MAGIC:
		snprintf(buf, PART, "%s%s%s", fixed_text(e), e->text ? ": " : "",
			 e->text ? e->text : "");
		break;
	case PD_E_IO:
		snprintf(buf, PART, "%s",
			 e->have ? strerror((int)e->have) : "reading or writing failed");
		break;
	case PD_E_LIMIT:
		if (e->text)
			snprintf(buf, PART, "%s", e->text);
		else
			format_limit(e, buf);
		break;
	case PD_E_SIZE:
		format_size(e, field, buf);
		break;
	case PD_E_TRUNCATED:
	case PD_E_COUNT:
		format_shortage(e, field, buf);
		if (e->text)
			snprintf(buf + strlen(buf), PART - strlen(buf), "; %s", e->text);
		break;
	case PD_E_PAYLOAD:
		format_shortage(e, "the data after it", buf);
		break;
	case PD_E_CODEC:
		snprintf(buf, PART, "the %s stream is damaged", field[0] ? field : "compressed");
		break;
	case PD_E_TRAILING:
		format_trailing(e, field, buf);
		break;
	case PD_E_GARBAGE:
		snprintf(buf, PART, "%s", e->text ? e->text : fixed_text(e));
		break;
	default:
		snprintf(buf, PART, "%s%s%s", field, field[0] ? ": " : "", fixed_text(e));
	}
}

char *pd_error_text(const struct pd_error *e, char *buf, size_t size)
{
	static const struct pd_error none = { .code = PD_OK };
	char place[PART], problem[PART], skipped[48] = "";

	if (!buf || !size)
		return buf;
	if (!e)
		e = &none;
	format_place(e, place);
	format_problem(e, problem);
	if (e->skipped)
		snprintf(skipped, sizeof(skipped), "; %" PRIu64 " byte%s skipped", e->skipped,
			 plural(e->skipped));
	snprintf(buf, size, "%s%s%s", place, problem, skipped);
	return buf;
}
