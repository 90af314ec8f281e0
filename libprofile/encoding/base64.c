/* base64.c - output as text of 64 characters: see base64.h. */
#include "encoding/base64.h"

enum { GROUP = 3 };	/* bytes that become four characters */

struct base64 {
	struct pp_out *to;
	uint8_t begun[GROUP];	/* of a group that is not yet whole */
	size_t nr_begun;
};

/* Writes the first `n` bytes of a group, 1 to 3. */
static void put_group(struct pp_out *out, const uint8_t *b, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint32_t bits = (uint32_t)b[0] << 16 | (n > 1 ? (uint32_t)b[1] << 8 : 0) |
			      (n > 2 ? b[2] : 0);
	char *text = pp_room(out);

	text[0] = digits[bits >> 18];
	text[1] = digits[bits >> 12 & 63];
	text[2] = n > 1 ? digits[bits >> 6 & 63] : '=';
	text[3] = n > 2 ? digits[bits & 63] : '=';
	pp_wrote(out, text + 4);
}

static int write_base64(void *ctx, const void *data, size_t size)
{
	struct base64 *b = ctx;
	const uint8_t *bytes = data;

	while (b->nr_begun && b->nr_begun < GROUP && size) {
		b->begun[b->nr_begun++] = *bytes++;
		size--;
	}
	if (b->nr_begun == GROUP) {
		put_group(b->to, b->begun, GROUP);
		b->nr_begun = 0;
	}
	for (; size >= GROUP; bytes += GROUP, size -= GROUP)
		put_group(b->to, bytes, GROUP);
	while (size--)
		b->begun[b->nr_begun++] = *bytes++;
	return b->to->error;
}

int pp_write_base64(struct pp_out *out, int (*write)(struct pp_out *out, void *ctx), void *ctx)
{
	struct base64 b = { .to = out };
	struct pp_out bytes = { .p = out->p, .o = out->o, .to = { write_base64, &b } };
	const int ret = write(&bytes, ctx);

	pp_flush(&bytes);
	if (b.nr_begun)
		put_group(out, b.begun, b.nr_begun);
	return ret;
}
