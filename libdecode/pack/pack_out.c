/* pack_out.c - append bytes and report errors of a pack run. */
#include "pack/pack_internal.h"

#include <stdio.h>
#include <string.h>

static void render_path(struct pd_packer *p, const char *last)
{
	char *at = p->e->path, *end = at + sizeof(p->e->path);

	*at = '\0';
	for (unsigned int i = 0; i < p->depth && at < end; i++)
		at += p->names[i] ?
			snprintf(at, (size_t)(end - at), "%s%s", i ? "." : "", p->names[i])
				  : snprintf(at, (size_t)(end - at), "[%zu]", p->indices[i]);
	if (last && *last && at < end)
		snprintf(at, (size_t)(end - at), "%s%s", p->depth ? "." : "", last);
}

int pd_pack_fail(struct pd_packer *p, const char *last, enum pd_code code, const char *text)
{
	if (p->e->code != PD_OK)
		return -1;
	p->e->code = code;
	render_path(p, last);
	snprintf(p->e->text, sizeof(p->e->text), "%s", text);
	return -1;
}

int pd_packer_fail(struct pd_packer *p, enum pd_code code, const char *text)
{
	return pd_pack_fail(p, NULL, code, text);
}

void pd_packer_append(struct pd_packer *p, struct pd_bytes bytes)
{
	pd_buf_append(p->out, bytes.data, bytes.size);
}

int pd_pack_enter(struct pd_packer *p, const char *name, size_t index)
{
	if (p->depth == PD_PACK_DEPTH)
		return pd_pack_fail(p, name, PD_E_ARGUMENT, "nested too deeply");
	p->names[p->depth] = name;
	p->indices[p->depth++] = index;
	return 0;
}

void pd_pack_store(struct pd_packer *p, uint64_t v, unsigned int width)
{
	uint8_t bytes[8];

	pd_store(bytes, v, width, p->swap);
	pd_buf_append(p->out, bytes, width);
}

int pd_unhex(struct pd_bytes text, struct pd_buf *out)
{
	uint8_t *at = text.size % 2 ? NULL : pd_buf_reserve(out, text.size / 2);

	if (!at)
		return -1;
	for (size_t i = 0; i < text.size; i++) {
		uint8_t c = text.data[i], d = (uint8_t)(c | 0x20);
		uint8_t v = c >= '0' && c <= '9' ? c - '0' : d >= 'a' && d <= 'f' ? d - 'a' + 10 :
			16;

		if (v > 15)
			return -1;
		at[i / 2] = (uint8_t)(i % 2 ? at[i / 2] << 4 | v : v);
	}
	out->size += text.size / 2;
	return 0;
}

int pd_pack_append_blob(struct pd_packer *p, pd_node n)
{
	if (p->v->type(n) == PD_NODE_BYTES) {
		pd_packer_append(p, p->v->text(n));
		return 0;
	}
	return p->v->type(n) == PD_NODE_TEXT ? pd_unhex(p->v->text(n), p->out) : -1;
}

size_t pd_pack_blob_size(const struct pd_values *v, pd_node n)
{
	switch (v->type(n)) {
	case PD_NODE_BYTES:
		return v->text(n).size;
	case PD_NODE_TEXT:
		return v->text(n).size / 2;
	default:
		return 0;
	}
}

pd_node pd_pack_suffixed(struct pd_packer *p, pd_node object, const char *name, const char *suffix)
{
	char key[96];

	if (snprintf(key, sizeof(key), "%s%s", name, suffix) >= (int)sizeof(key))
		return NULL;
	return p->v->member(object, key);
}

int pd_pack_append_text(struct pd_packer *p, struct pd_pack_scope *s, const struct pd_field *f,
			pd_node n, size_t *size)
{
	pd_node hex = f->name[0] ? pd_pack_suffixed(p, s->object, f->name, "_hex") : NULL;
	size_t start = p->out->size;

	if (hex) {
		if (pd_pack_append_blob(p, hex))
			return pd_pack_fail(p, f->name, PD_E_ARGUMENT,
					    "its _hex member is not hex");
	} else if (n) {
		if (p->v->type(n) != PD_NODE_TEXT && p->v->type(n) != PD_NODE_BYTES)
			return pd_pack_fail(p, f->name, PD_E_ARGUMENT, "expected a string");
		pd_packer_append(p, p->v->text(n));
	}
	*size = p->out->size - start;
	return 0;
}

int pd_pack_append_padding(struct pd_packer *p, struct pd_pack_scope *s, size_t n)
{
	struct pd_bytes *padding = &s->in->padding;
	size_t kept = n < padding->size ? n : padding->size;
	uint8_t *at = pd_buf_reserve(p->out, n);

	if (!at)
		return pd_pack_fail(p, "padding", PD_E_LIMIT, "too many bytes");
	if (kept) {
		memcpy(at, padding->data, kept);
		padding->data += kept;
		padding->size -= kept;
	}
	memset(at + kept, 0, n - kept);
	p->out->size += n;
	return 0;
}
