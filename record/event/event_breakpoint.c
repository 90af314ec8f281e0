/* event_breakpoint.c - parse hardware breakpoints: mem:ADDR[/LEN][:ACCESS]. */
#include <string.h>

#include "event/event_kinds.h"
#include "event/event_terms.h"

/* linux/hw_breakpoint.h: R 1, W 2, X 4. Returns 0 for other or repeated letters. */
static uint32_t access_bits(const char *text, size_t size)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < size; i++) {
		uint32_t bit = text[i] == 'r' ? 1 : text[i] == 'w' ? 2 : text[i] == 'x' ? 4 : 0;

		if (!bit || bits & bit)
			return 0;
		bits |= bit;
	}
	return bits;
}

/* Where its parts are in the text; length and access are NULL where absent. */
struct breakpoint {
	const char *address, *length, *access;
	size_t address_size, length_size, access_size;
	size_t size;			/* of all parts */
};

static size_t number_size(const char *text)
{
	return strspn(text, "0123456789abcdefABCDEFxX");
}

static struct breakpoint split_breakpoint(const char *text)
{
	struct breakpoint b = { .address = text + strlen("mem:") };
	const char *at = b.address + strspn(b.address, " ");

	b.address = at;
	b.address_size = strncmp(at, "0x", 2) == 0 ? number_size(at) : strspn(at, "0123456789");
	at += b.address_size;
	if (*at == '/') {
		b.length = at + 1;
		b.length_size = strncmp(at + 1, "0x", 2) == 0 ? number_size(at + 1) :
				strspn(at + 1, "0123456789");
		at += 1 + b.length_size;
	}
	if (*at == ':' && at[1] && strchr("rwx", at[1])) {
		b.access = at + 1;
		b.access_size = strspn(at + 1, "rwx");
		at += 1 + b.access_size;
	}
	b.size = (size_t)(at - text);
	return b;
}

const char *breakpoint_modifiers(const char *text)
{
	const char *end = text + split_breakpoint(text).size, *letters = end + (*end == ':');

	return *end && (!*letters || is_modifiers(letters)) ? letters : NULL;
}

static bool number_of(const char *text, size_t size, uint64_t *number)
{
	char digits[32];

	if (size >= sizeof(digits))
		return false;
	memcpy(digits, text, size);
	digits[size] = '\0';
	return parse_event_number(digits, number);
}

static int log_malformed(const struct event_list *l, const char *text)
{
	log_at(l->log, LOG_ERROR, "breakpoint '%s' is not mem:ADDR[/LEN][:r|w|rw|x]", text);
	return -1;
}

int event_breakpoint(struct event_list *l, const char *name, const char *text)
{
	const struct breakpoint b = split_breakpoint(name);
	uint32_t access = b.access ? access_bits(b.access, b.access_size) : 3;
	uint64_t address, length = 0;
	struct event *e;

	if (!access || (name[b.size] && !breakpoint_modifiers(name)) ||
	    !number_of(b.address, b.address_size, &address) ||
	    (b.length && !number_of(b.length, b.length_size, &length)))
		return log_malformed(l, text);
	e = events_add(l, text, PERF_TYPE_BREAKPOINT, 0);
	if (!e)
		return event_no_memory(l);
	e->attr.bp_type = access;
	e->attr.config1 = address;
	e->attr.config2 = length ? length : access == 4 ? sizeof(long) : 4;
	e->attr.sample_period = 1;
	return 0;
}
