/* synth_btf.c - names of functions in BPF type information (linux/btf.h).
 *
 * The kernel has verified it, but lengths are checked again.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/synth_bpf_prog.h"

#define BTF_MOST (256u << 20)

/* BTF_KIND_* that have data after struct btf_type. The headers of the build machine may lack the
 * latest. */
enum {
	KIND_INT = 1, KIND_ARRAY = 3, KIND_STRUCT = 4, KIND_UNION = 5, KIND_ENUM = 6,
	KIND_FUNC_PROTO = 13, KIND_VAR = 14, KIND_DATASEC = 15,
	KIND_DECL_TAG = 17, /* 5.16 */
	KIND_ENUM64 = 19, /* 6.0 */
};

bool bpf_btf_read(struct bpf_btf *b, int fd, uint32_t id)
{
	struct bpf_btf_info info = { 0 };
	union bpf_attr attr;

	*b = (struct bpf_btf){ .id = id };
	for (int pass = 0; pass < 2; pass++) {
		memset(&attr, 0, sizeof(attr));
		attr.info.bpf_fd = (uint32_t)fd;
		attr.info.info_len = sizeof(info);
		attr.info.info = (uintptr_t)&info;
		if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) != 0)
			break;
		if (pass == 1) {
			b->size = info.btf_size;
			return true;
		}
		if (info.btf_size == 0 || info.btf_size > BTF_MOST)
			break;
		b->data = malloc(info.btf_size);
		b->lacks_memory = !b->data;
		info = (struct bpf_btf_info){ .btf = (uintptr_t)b->data,
					      .btf_size = info.btf_size };
		if (!b->data)
			break;
	}
	free(b->data);
	b->data = NULL;
	return false;
}

/* Returns the size of the data after struct btf_type. */
static size_t data_size(uint32_t info)
{
	size_t n = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case KIND_INT:
	case KIND_VAR:
	case KIND_DECL_TAG:
		return 4;
	case KIND_ARRAY:
		return 12;
	case KIND_STRUCT:
	case KIND_UNION:
	case KIND_DATASEC:
	case KIND_ENUM64:
		return 12 * n;
	case KIND_ENUM:
	case KIND_FUNC_PROTO:
		return 8 * n;
	default:
		return 0;
	}
}

static const char *string_at(const struct bpf_btf *b, const struct btf_header *h, uint32_t offset)
{
	uint64_t start = (uint64_t)h->hdr_len + h->str_off, end = start + h->str_len;
	const char *text;

	if (end > b->size || start + offset >= end)
		return NULL;
	text = (const char *)b->data + start + offset;
	return text[0] && memchr(text, 0, end - start - offset) ? text : NULL;
}

const char *bpf_btf_function(const struct bpf_btf *b, uint32_t type)
{
	struct btf_header h;
	struct btf_type t;
	uint64_t at, end;

	if (type == 0 || b->size < sizeof(h))
		return NULL;
	memcpy(&h, b->data, sizeof(h));
	at = (uint64_t)h.hdr_len + h.type_off;
	end = at + h.type_len;
	if (h.magic != BTF_MAGIC || end > b->size)
		return NULL;
	for (uint32_t id = 1; at + sizeof(t) <= end; id++) {
		memcpy(&t, b->data + at, sizeof(t));
		if (id == type)
			return string_at(b, &h, t.name_off);
		at += sizeof(t) + data_size(t.info);
	}
	return NULL;
}
