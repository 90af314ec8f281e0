/* frames.c - the distinct places in a profile: addresses in images, and names above the stacks. */
#include "calltree/frames.h"

#include <string.h>

#define LATELY_BITS 12

static bool is_same_frame(const void *ctx, uint32_t id, const void *key)
{
	const struct pp_frame *have = &((const struct pp_frames *)ctx)->items[id], *want = key;

	return have->kind == want->kind && have->text == want->text &&
	       have->at.image == want->at.image &&
	       have->at.file_offset == want->at.file_offset && have->pid == want->pid &&
	       have->since == want->since &&
	       have->at.cpumode == want->at.cpumode && have->at.flags == want->at.flags &&
	       have->at.why == want->at.why;
}

uint32_t pp_frames_add(struct pp_frames *f, struct pp_memory *m, const struct pp_frame *frame)
{
	const struct pd_location *at = &frame->at;
	uint64_t mixed = pp_index_hash(&f->index, at->file_offset ^ frame->since);
	struct pp_frame *items;
	uint32_t hash, found;

	mixed = pd_hash_mix(mixed, (uint64_t)at->image << 32 | frame->text);
	mixed = pd_hash_mix(mixed, (uint64_t)(uint32_t)frame->pid << 32 |
					   (uint32_t)(frame->kind << 24 | at->cpumode << 16 |
						      at->flags << 8 | at->why));
	hash = (uint32_t)mixed;
	found = pp_index_find(&f->index, hash, f, frame, is_same_frame);
	if (found != PP_NONE)
		return found;
	items = pp_memory_grow(m, f->items, &f->capacity, f->nr + 1, sizeof(*items));
	if (!items)
		return PP_NONE;
	f->items = items;
	if (f->nr >= PP_NONE - 1 || pp_index_add(&f->index, m, hash, (uint32_t)f->nr))
		return PP_NONE;
	f->items[f->nr] = *frame;
	return (uint32_t)f->nr++;
}

uint32_t pp_frames_add_text(struct pp_frames *f, struct pp_memory *m, enum pp_kind kind,
			    uint32_t text)
{
	return pp_frames_add(f, m, &(struct pp_frame){ .kind = (uint8_t)kind, .text = text,
						   .at.image = PD_NO_IMAGE });
}

static bool is_library(const char *path)
{
	const char *name = strrchr(path, '/'), *found = strstr(name ? name : path, ".so");

	return found && (!found[3] || found[3] == '.');
}

/* The kind of a frame of user code follows from what is mapped there. */
static enum pp_kind kind_of(const struct pd_image *image)
{
	switch ((enum pd_image_kind)image->kind) {
	case PD_IMAGE_ANONYMOUS:
	case PD_IMAGE_HEAP:
	case PD_IMAGE_STACK:
		return PP_KIND_JIT;
	case PD_IMAGE_KERNEL:
	case PD_IMAGE_MODULE:
	case PD_IMAGE_BPF:
	case PD_IMAGE_KERNEL_CODE:
		return PP_KIND_KERNEL;
	case PD_IMAGE_VDSO:
	case PD_IMAGE_VSYSCALL:
	case PD_IMAGE_SPECIAL:
		return PP_KIND_LIBRARY;
	case PD_IMAGE_FILE:
	case PD_IMAGE_DELETED:
	case PD_IMAGE_MEMFD:
		break;
	}
	return is_library(image->path) ? PP_KIND_LIBRARY : PP_KIND_PROGRAM;
}

/* Returns the kind of an image's frames, which is kept. */
static uint8_t kind_in(struct pp_frames *f, struct pp_memory *m, const struct pd_history *h,
		       const struct pd_image *image)
{
	if (!f->kinds) {
		f->nr_kinds = pd_history_nr_images(h);
		f->kinds = pp_memory_zeroed(m, f->nr_kinds, 1);
	}
	if (!f->kinds || image->index >= f->nr_kinds)
		return (uint8_t)kind_of(image);
	if (!f->kinds[image->index])
		f->kinds[image->index] = (uint8_t)(kind_of(image) + 1);
	return f->kinds[image->index] - 1;
}

static uint32_t add_address(struct pp_frames *f, struct pp_memory *m, const struct pd_history *h,
			    int32_t pid, const struct pd_location *at)
{
	const struct pd_image *image = pd_history_image(h, at->image);
	struct pp_frame frame = { .at = *at, .text = PP_NONE, .kind = PP_KIND_UNKNOWN };

	frame.at.of = 0;
	if (!image) {
		frame.at.file_offset = 0;
		return pp_frames_add(f, m, &frame);
	}
	frame.kind = kind_in(f, m, h, image);
	if (frame.kind == PP_KIND_JIT) {	/* the file offset says nothing there */
		frame.at.file_offset = at->addr;
		if (f->namer && f->namer->since)
			frame.since = f->namer->since(f->namer->ctx, pid, at);
	}
	if (frame.kind == PP_KIND_JIT || image->kind == PD_IMAGE_SPECIAL)
		frame.pid = pid;
	return pp_frames_add(f, m, &frame);
}

/* Returns where the frame of an address is kept, or NULL. */
static struct pp_lately *lately_at(struct pp_frames *f, struct pp_memory *m, uint64_t addr)
{
	if (!f->lately && pp_memory_has_room(m, 1u << LATELY_BITS, sizeof(*f->lately)))
		f->lately = pp_memory_written(m, 1u << LATELY_BITS, sizeof(*f->lately));
	return f->lately ?
		       &f->lately[addr * 0x9e3779b97f4a7c15 >> (64 - LATELY_BITS)] : NULL;
}

uint32_t pp_frames_add_address(struct pp_frames *f, struct pp_memory *m,
			       const struct pd_history *h, int32_t pid,
			       const struct pd_location *at)
{
	struct pp_lately *k = lately_at(f, m, at->addr);
	uint32_t frame;

	if (k && k->frame && k->addr == at->addr && k->file_offset == at->file_offset &&
	    k->image == at->image && k->pid == pid && k->cpumode == at->cpumode &&
	    k->why == at->why && k->flags == at->flags)
		return k->frame - 1;
	frame = add_address(f, m, h, pid, at);
	if (k && frame != PP_NONE && !f->items[frame].since)
		*k = (struct pp_lately){ at->addr, at->file_offset, at->image, pid,
					 at->cpumode, at->why, at->flags, frame + 1 };
	return frame;
}

void pp_frames_free(struct pp_frames *f, struct pp_memory *m)
{
	pp_memory_free(m, f->items, f->capacity, sizeof(*f->items));
	pp_memory_free(m, f->kinds, f->nr_kinds, 1);
	pp_memory_free(m, f->lately, f->lately ? 1u << LATELY_BITS : 0, sizeof(*f->lately));
	pp_index_free(&f->index, m);
	*f = (struct pp_frames){ 0 };
}
