/* firefox_text.c - strings, numbers and commas in a file of the Firefox Profiler. */

#include "formats/firefox.h"

uint32_t pp_firefox_string(struct pp_firefox *c, struct pd_bytes text)
{
	const uint32_t id = pp_strings_add(&c->strings, c->memory, (const char *)text.data,
					   text.size);

	if (id == PP_NONE)
		c->failed = -1;
	return id == PP_NONE ? 0 : id;
}

void pp_firefox_separator(struct pp_firefox *c, size_t *nr)
{
	if ((*nr)++)
		pp_put(c->out, ",", 1);
}

void pp_firefox_ms(struct pp_firefox *c, uint64_t ns)
{
	pp_put_number(c->out, ns / PP_NS_PER_MS, 1, ' ');
	pp_put(c->out, ".", 1);
	pp_put_number(c->out, ns % PP_NS_PER_MS, 6, '0');
}
