/* minidebug.c - decompresses .gnu_debugdata by liblzma, within limits. */
#include "image/minidebug.h"

#include <lzma.h>

#define DECODER_MEMORY (64u << 20)
#define STEP 65536

static enum ps_status expand_section(lzma_stream *z, struct pd_buf *out)
{
	for (;;) {
		uint8_t *room = pd_buf_reserve(out, STEP);
		lzma_ret ret;

		if (!room)
			return PS_OVER_LIMIT;
		z->next_out = room;
		z->avail_out = STEP;
		ret = lzma_code(z, LZMA_FINISH);
		out->size += STEP - z->avail_out;
		if (ret == LZMA_STREAM_END)
			return PS_OK;
		if (ret == LZMA_MEM_ERROR || ret == LZMA_MEMLIMIT_ERROR)
			return PS_OVER_LIMIT;
		if (ret != LZMA_OK)
			return PS_BAD_FILE;
	}
}

enum ps_status ps_elf_expand_minidebug(const struct ps_elf *e, struct pd_buf *out)
{
	const struct ps_section *s = ps_elf_section_named(e, ".gnu_debugdata");
	lzma_stream z = LZMA_STREAM_INIT;
	enum ps_status status;
	struct pd_bytes in;

	if (!s)
		return PS_NOT_ELF;
	in = ps_elf_section_bytes(e, s);
	if (!in.size)
		return PS_BAD_FILE;
	if (lzma_stream_decoder(&z, DECODER_MEMORY, 0) != LZMA_OK)
		return PS_OVER_LIMIT;
	z.next_in = in.data;
	z.avail_in = in.size;
	status = expand_section(&z, out);
	lzma_end(&z);
	return status;
}
