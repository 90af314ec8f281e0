/* event_breakpoint.c - mem:ADDR[/LEN][:ACCESS]: breakpoints of the hardware. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_kinds.h"
#include "event_terms.h"

/* linux/hw_breakpoint.h: R 1, W 2, X 4. 0: other letters. */
static uint32_t access_bits(const char *text, size_t size)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < size; i++) {
		switch (text[i]) {
		case 'r': bits |= 1; break;
		case 'w': bits |= 2; break;
		case 'x': bits |= 4; break;
		default: return 0;
		}
	}
	return bits;
}

static int wrong(const struct event_list *l, const char *text)
{
	say(l->say, SAY_ERROR, "breakpoint '%s' is not mem:ADDR[/LEN][:r|w|rw|x]", text);
	return -1;
}

int event_breakpoint(struct event_list *l, const char *text)
{
	uint32_t access = 3, given;
	uint64_t address, length = 0;
	struct event *e;
	size_t size;
	char *end;

	errno = 0;
	address = strtoull(text + 4, &end, 0);
	if (errno || end == text + 4)
		return wrong(l, text);
	if (*end == '/') {
		length = strtoull(end + 1, &end, 0);
		if (!length)
			return wrong(l, text);
	}
	size = *end == ':' ? strcspn(end + 1, ":") : 0;
	given = access_bits(end + 1, size);
	if (size && given) {
		access = given;
		end += 1 + size;
	}
	e = events_add(l, text, PERF_TYPE_BREAKPOINT, 0);
	if (!e)
		return event_no_memory(l);
	e->attr.bp_type = access;
	e->attr.config1 = address;
	e->attr.config2 = length ? length : access == 4 ? sizeof(long) : 4;
	e->attr.sample_period = 1;
	if (!*end || (*end == ':' && event_modifiers(l, l->n - 1, end + 1)))
		return 0;
	return wrong(l, text);
}
