/* csv.c - strings of CSV: see csv.h. */
#include "encoding/csv.h"

#include <string.h>

void pp_csv_string(struct pp_out *out, struct pd_bytes text)
{
	pp_put_text(out, text.size && strchr("=+-@", *text.data) ? "\"'" : "\"");
	while (text.size) {
		const uint8_t *quote = memchr(text.data, '"', text.size);
		const size_t size = quote ? (size_t)(quote - text.data) + 1 : text.size;
		struct pd_bytes part = { text.data, quote ? size - 1 : size };

		pp_put_name(out, part, 0);
		if (quote)
			pp_put_text(out, "\"\"");
		text = (struct pd_bytes){ text.data + size, text.size - size };
	}
	pp_put_text(out, "\"");
}
