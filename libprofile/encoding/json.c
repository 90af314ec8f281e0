/* json.c - strings of JSON. */
#include "encoding/json.h"

#include <string.h>

void pp_json_string(struct pp_out *out, struct pd_bytes text)
{
	pp_put_text(out, "\"");
	while (text.size) {
		const char *start = (const char *)text.data;
		const uint32_t c = pp_next_character(&text);

		if (c == '"' || c == '\\')
			pp_printf(out, "\\%c", (int)c);
		else if (c >= 0x110000)
			pp_put_text(out, "\\ufffd");
		else if (pp_is_control(c))
			pp_printf(out, "\\u%04x", c);
		else
			pp_put(out, start, (size_t)((const char *)text.data - start));
	}
	pp_put_text(out, "\"");
}

void pp_json_text(struct pp_out *out, const char *text)
{
	pp_json_string(out, (struct pd_bytes){ (const uint8_t *)text, strlen(text) });
}
