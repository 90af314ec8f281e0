/* script_bpf.c - what a BPF program wrote: see script_bpf.h.
 *
 * perf writes the characters of Latin-1 as single bytes, which are no text where that is UTF-8.
 * Here they are dots beside the numbers; in a string they are what they are in UTF-8.
 */
#include "formats/script_bpf.h"

#include <inttypes.h>

enum { BYTES_OF_LINE = 8 };

static bool is_ascii(uint8_t c)
{
	return c >= 0x20 && c < 0x7f;
}

static void put_line(struct pp_out *out, size_t offset, struct pd_bytes line)
{
	pp_printf(out, "%17s %04zx:", offset ? "" : "BPF output:", offset);
	for (size_t i = 0; i < BYTES_OF_LINE; i++)
		if (i < line.size)
			pp_printf(out, " %02x", line.data[i]);
		else
			pp_put_text(out, "   ");
	pp_put_text(out, "  ");
	for (size_t i = 0; i < BYTES_OF_LINE; i++) {
		const char c = (char)(i >= line.size ? ' ' :
				      is_ascii(line.data[i]) ? line.data[i] : '.');

		pp_put(out, &c, 1);
	}
	pp_put_text(out, "\n");
}

/* Returns whether the bytes are printable ones with nothing but NULs after them, one at least. */
static bool is_string(struct pd_bytes bytes, size_t *length)
{
	size_t i = 0;

	while (i < bytes.size && (is_ascii(bytes.data[i]) || bytes.data[i] >= 0xa0))
		i++;
	*length = i;
	while (i < bytes.size && !bytes.data[i])
		i++;
	return i == bytes.size && *length < i;
}

void pp_put_bpf_output(struct pp_out *out, struct pd_bytes bytes)
{
	size_t length;

	for (size_t i = 0; i < bytes.size; i += BYTES_OF_LINE) {
		const size_t left = bytes.size - i;

		put_line(out, i, (struct pd_bytes){
				 bytes.data + i, left < BYTES_OF_LINE ? left : BYTES_OF_LINE });
	}
	if (is_string(bytes, &length)) {
		pp_printf(out, "%17s \"", "BPF string:");
		pp_put_clean(out, (struct pd_bytes){ bytes.data, length });
		pp_put_text(out, "\"\n");
	}
	pp_put_text(out, "\n");
}
