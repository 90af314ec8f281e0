/* history_images.c - what is mapped: a file, the kernel, memory. Maps of the same path and file
 * have the same image. */
#include <string.h>

#include "model/history_guests.h"

/* An image, and the path that it shares with others. */
struct node {
	struct pd_image image;	/* first */
	struct pd_known_path *path;
};

/* Identity of an image. All bytes are compared. */
struct key {
	struct pd_known_path *path;
	const char *symbol;
	uint64_t ino, ino_generation;
	uint32_t maj, min, kind;
	uint8_t build_id[PD_BUILD_ID_MAX], build_id_size, has_inode, padding[6];
};

/* Most paths differ in the second byte: a call of memcmp() would take longer. */
static bool begins_with(struct pd_bytes path, const char *with)
{
	size_t i = 0;

	while (with[i] && i < path.size && path.data[i] == (uint8_t)with[i])
		i++;
	return !with[i];
}

static bool ends_with(struct pd_bytes path, const char *with)
{
	const size_t n = strlen(with);

	return path.size >= n && memcmp(path.data + path.size - n, with, n) == 0;
}

enum pd_image_kind pd_image_kind_of(struct pd_bytes path, enum pd_space_of of)
{
	static const struct {
		const char *begins;
		enum pd_image_kind kind;
	} kinds[] = {
		{ "//anon", PD_IMAGE_ANONYMOUS }, { "/dev/zero", PD_IMAGE_ANONYMOUS },
		{ "/anon_hugepage", PD_IMAGE_ANONYMOUS }, { "/SYSV", PD_IMAGE_ANONYMOUS },
		{ "[anon", PD_IMAGE_ANONYMOUS }, { "/memfd:", PD_IMAGE_MEMFD },
		{ "anon_inode:", PD_IMAGE_SPECIAL }, { "[heap]", PD_IMAGE_HEAP },
		{ "[stack", PD_IMAGE_STACK }, { "[vdso", PD_IMAGE_VDSO },
		{ "[vsyscall]", PD_IMAGE_VSYSCALL }, { "[", PD_IMAGE_SPECIAL },
	};

	if (of == PD_SPACE_OF_KERNEL || of == PD_SPACE_OF_GUEST_KERNEL)
		return begins_with(path, "[kernel") || begins_with(path, "[guest.kernel") ?
			       PD_IMAGE_KERNEL : PD_IMAGE_MODULE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (begins_with(path, kinds[i].begins))
			return kinds[i].kind;
	if (!path.size)
		return PD_IMAGE_ANONYMOUS;
	return ends_with(path, PD_DELETED) ? PD_IMAGE_DELETED : PD_IMAGE_FILE;
}

/* Splits "[kernel.kallsyms]_text", or "[kernel.kallsyms._text]" of perf before 2.6.35, into the
 * name of the kernel and the symbol. */
static struct pd_bytes split_kernel(struct pd_bytes path, char name[64], struct pd_bytes *symbol)
{
	static const char old[] = "[kernel.kallsyms.";
	const uint8_t *end = path.size ? memchr(path.data, ']', path.size) : NULL;
	size_t n;

	*symbol = (struct pd_bytes){ NULL, 0 };
	if (!end)
		return path;
	n = (size_t)(end - path.data) + 1;
	if (begins_with(path, old) && n == path.size && n > sizeof(old)) {
		*symbol = (struct pd_bytes){ path.data + sizeof(old) - 1, n - sizeof(old) };
		memcpy(name, old, sizeof(old) - 2);
		name[sizeof(old) - 2] = ']';
		return (struct pd_bytes){ (const uint8_t *)name, sizeof(old) - 1 };
	}
	*symbol = (struct pd_bytes){ path.data + n, path.size - n };
	return (struct pd_bytes){ path.data, n };
}

/* Paths of processes, the kernel and virtual machines are kept apart. */
static struct pd_known_path *keep_path(struct pd_history *h, uint8_t machine, enum pd_space_of of,
				       struct pd_bytes path)
{
	struct pd_kept *k = pd_history_keep(h, &h->path_of, path);
	struct pd_kept *own;
	struct pd_known_path *p;
	struct {
		const struct pd_kept *text;
		uint64_t of;
	} key = { k, pd_space_key(machine, of, 0) };

	if (!k)
		return NULL;
	own = pd_history_keep(h, &h->image_of,
			      (struct pd_bytes){ (const uint8_t *)&key, sizeof(key) });
	if (!own)
		return NULL;
	if (own->value)
		return own->value;
	p = pd_arena_alloc(&h->arena, sizeof(*p));
	if (!p)
		return NULL;
	p->text = (const char *)k->bytes;
	own->value = p;
	return p;
}

static bool is_same_inode(const struct pd_known_path *p, const struct pd_image_facts *f)
{
	return p->maj == f->maj && p->min == f->min && p->ino == f->ino &&
	       (!p->ino_generation || !f->ino_generation ||
		p->ino_generation == f->ino_generation);
}

static void see_inode(struct pd_known_path *p, const struct pd_image_facts *f)
{
	if (!f->has_inode)
		return;
	if (p->has_inode && !is_same_inode(p, f))
		p->is_ambiguous = true;
	p->has_inode = true;
	p->maj = f->maj;
	p->min = f->min;
	p->ino = f->ino;
	if (f->ino_generation)
		p->ino_generation = f->ino_generation;
}

/* Fills in the key; `symbol` and the path are kept. */
static int make_key(struct pd_history *h, const struct pd_image_facts *f, struct key *key)
{
	struct pd_bytes path = f->path, symbol = { NULL, 0 };
	char name[64];
	struct pd_kept *k;

	memset(key, 0, sizeof(*key));
	if (f->kind == PD_IMAGE_KERNEL)
		path = split_kernel(path, name, &symbol);
	key->path = keep_path(h, f->machine, f->space_of, path);
	if (!key->path)
		return -1;
	if (symbol.size) {
		k = pd_history_keep(h, &h->path_of, symbol);
		if (!k)
			return -1;
		key->symbol = (const char *)k->bytes;
	}
	key->kind = f->kind;
	if (f->build_id.size) {
		key->build_id_size = (uint8_t)f->build_id.size;
		memcpy(key->build_id, f->build_id.data, f->build_id.size);
	}
	key->has_inode = f->has_inode;
	if (f->has_inode) {
		key->maj = f->maj;
		key->min = f->min;
		key->ino = f->ino;
		key->ino_generation = f->ino_generation;
	}
	return 0;
}

static struct node *make_node(struct pd_history *h, const struct pd_image_facts *f,
			      const struct key *key, const struct pd_kept *kept)
{
	struct node *n = pd_arena_alloc(&h->arena, sizeof(*n));
	struct pd_image **list = n ? pd_array_add(&h->images, 1) : NULL;

	if (!list)
		return NULL;
	*list = &n->image;
	n->path = key->path;
	n->image = (struct pd_image){
		.index = h->images.nr - 1, .kind = (uint8_t)key->kind, .path = key->path->text,
		.is_guest = f->machine || f->space_of == PD_SPACE_OF_GUEST_PROCESS ||
			    f->space_of == PD_SPACE_OF_GUEST_KERNEL,
		.machine_pid = pd_history_machine_pid(h, f->machine),
		.has_inode = key->has_inode, .maj = key->maj, .min = key->min, .ino = key->ino,
		.ino_generation = key->ino_generation, .symbol = key->symbol,
	};
	if (key->build_id_size) {
		n->image.build_id_source = PD_BUILD_ID_OF_MAP;
		n->image.build_id = (struct pd_bytes){
			kept->bytes + offsetof(struct key, build_id), key->build_id_size };
	}
	return n;
}

/* Gives an image without a build id that of the header. */
static void apply_build_id(struct node *n)
{
	if (n->image.build_id.size || !n->path->build_id_size || n->path->is_ambiguous)
		return;
	n->image.build_id = (struct pd_bytes){ n->path->build_id, n->path->build_id_size };
	n->image.build_id_source = PD_BUILD_ID_OF_HEADER;
}

static struct pd_kept *keep_key(struct pd_history *h, const struct key *key)
{
	return pd_history_keep(h, &h->image_of,
			       (struct pd_bytes){ (const uint8_t *)key, sizeof(*key) });
}

static int64_t add_node(struct pd_history *h, const struct pd_image_facts *f,
			const struct key *key, const struct pd_kept *kept)
{
	struct node *n = make_node(h, f, key, kept);

	if (!n)
		return -1;
	if (h->live)	/* asked for before the history is sealed */
		apply_build_id(n);
	return n->image.index;
}

/* Recorders synthesize maps without a generation, as /proc/PID/maps has none: it is that of the
 * first map with the same inode that has one. */
int64_t pd_history_add_image(struct pd_history *h, const struct pd_image_facts *f)
{
	struct pd_kept *k, *synthesized;
	struct key key;
	int64_t item;

	if (make_key(h, f, &key))
		return -1;
	k = keep_key(h, &key);
	if (!k)
		return -1;
	if (k->item != PD_NOTHING)
		return k->item;
	key.ino_generation = 0;
	synthesized = keep_key(h, &key);
	if (!synthesized)
		return -1;
	see_inode(key.path, f);
	if (synthesized->item != PD_NOTHING &&
	    !pd_image_at(h, synthesized->item)->ino_generation) {
		k->item = synthesized->item;
		pd_image_at(h, k->item)->ino_generation = f->ino_generation;
		return k->item;
	}
	key.ino_generation = f->ino_generation;
	item = add_node(h, f, &key, k);
	if (item < 0)
		return -1;
	k->item = (uint32_t)item;
	if (synthesized->item == PD_NOTHING)
		synthesized->item = k->item;
	return item;
}

int pd_history_add_build_id(struct pd_history *h, uint16_t misc, struct pd_bytes path,
			    struct pd_bytes build_id)
{
	static const enum pd_space_of of[] = {
		[PD_CPUMODE_KERNEL] = PD_SPACE_OF_KERNEL,
		[PD_CPUMODE_GUEST_KERNEL] = PD_SPACE_OF_GUEST_KERNEL,
		[PD_CPUMODE_GUEST_USER] = PD_SPACE_OF_GUEST_PROCESS,
	};
	const unsigned int mode = misc & PD_MISC_CPUMODE;
	const enum pd_space_of space_of = mode < sizeof(of) / sizeof(*of) ? of[mode] :
									    PD_SPACE_OF_PROCESS;
	struct pd_known_path *p;
	struct pd_bytes symbol;
	char name[64];

	if (build_id.size > PD_BUILD_ID_MAX || pd_all_zero(build_id))
		return 0;
	if (pd_image_kind_of(path, space_of) == PD_IMAGE_KERNEL)
		path = split_kernel(path, name, &symbol);
	p = keep_path(h, PD_HOST, space_of, path);
	if (!p)
		return -1;
	p->build_id_size = (uint8_t)build_id.size;
	memcpy(p->build_id, build_id.data, build_id.size);
	return 0;
}

void pd_history_apply_build_ids(struct pd_history *h)
{
	for (uint32_t i = 0; i < h->images.nr; i++) {
		struct node *n = (struct node *)pd_image_at(h, i);

		n->image.is_path_ambiguous = n->path->is_ambiguous;
		apply_build_id(n);
	}
}

static uint64_t tag_of(struct pd_bytes tag)
{
	return pd_load64(tag.data, PD_SWAP_NO);
}

int pd_history_add_program(struct pd_history *h, struct pd_bytes tag, uint32_t id)
{
	uint32_t *known;

	if (tag.size != sizeof(uint64_t))
		return 0;
	known = pd_map_find(&h->programs, tag_of(tag));
	if (known) {
		*known = *known == id ? id : 0;
		return 0;
	}
	known = pd_arena_alloc(&h->arena, sizeof(*known));
	if (!known)
		return -1;
	*known = id;
	return pd_map_add(&h->programs, tag_of(tag), known);
}

/* Reads the tag of "bpf_prog_6deef7357e7b4530_name". */
static bool read_tag(const char *name, uint8_t tag[8])
{
	static const char prefix[] = "bpf_prog_";

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	name += sizeof(prefix) - 1;
	for (int i = 0; i < 16; i++) {
		const char *digits = "0123456789abcdef",
			   *digit = name[i] ? strchr(digits, name[i]) : NULL;

		if (!digit)
			return false;
		tag[i / 2] = (uint8_t)(tag[i / 2] << 4 | (digit - digits));
	}
	return true;
}

void pd_history_apply_programs(struct pd_history *h)
{
	for (uint32_t i = 0; i < h->images.nr; i++) {
		struct pd_image *image = pd_image_at(h, i);
		const uint32_t *id = NULL;
		uint8_t tag[8] = { 0 };

		if (image->kind == PD_IMAGE_BPF && read_tag(image->path, tag))
			id = pd_map_find(&h->programs, tag_of((struct pd_bytes){ tag, 8 }));
		image->bpf_id = id ? *id : 0;
	}
}

size_t pd_history_nr_images(const struct pd_history *h)
{
	return h ? h->images.nr : 0;
}

const struct pd_image *pd_history_image(const struct pd_history *h, size_t i)
{
	return h && i < h->images.nr ? pd_image_at(h, (uint32_t)i) : NULL;
}

const char *pd_image_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[PD_IMAGE_FILE] = "FILE", [PD_IMAGE_DELETED] = "DELETED",
		[PD_IMAGE_MEMFD] = "MEMFD", [PD_IMAGE_ANONYMOUS] = "ANONYMOUS",
		[PD_IMAGE_HEAP] = "HEAP", [PD_IMAGE_STACK] = "STACK", [PD_IMAGE_VDSO] = "VDSO",
		[PD_IMAGE_VSYSCALL] = "VSYSCALL", [PD_IMAGE_SPECIAL] = "SPECIAL",
		[PD_IMAGE_KERNEL] = "KERNEL", [PD_IMAGE_MODULE] = "MODULE", [PD_IMAGE_BPF] = "BPF",
		[PD_IMAGE_KERNEL_CODE] = "KERNEL_CODE",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "UNKNOWN";
}
