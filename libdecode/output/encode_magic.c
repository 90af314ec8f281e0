/* encode_magic.c - a damaged magic of the input, which comes back as it was. */
#include "output/encode.h"

#include <string.h>

#include "layout/container.h"

int pd_encode_read_magic(struct pd_encoder *enc, pd_node hex, struct pd_encode_error *e)
{
	struct pd_buf *magic = &enc->stated.damaged_magic;

	if (hex && (enc->v->type(hex) != PD_NODE_TEXT || pd_unhex(enc->v->text(hex), magic) ||
		    magic->size != PD_MAGIC_TEXT))
		return pd_encode_fail(e, PD_E_ARGUMENT, "file.magic_hex",
				      "expected 16 hex digits");
	return 0;
}

void pd_encode_magic(const struct pd_encoder *enc, struct pd_buf *header)
{
	const struct pd_buf *magic = &enc->stated.damaged_magic;

	if (magic->size && !enc->converts && !enc->swaps && header->size >= magic->size)
		memcpy(header->data, magic->data, magic->size);
}
