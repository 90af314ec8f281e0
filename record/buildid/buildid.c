/* buildid.c - build ids: the GNU note that linkers put into a file, and into the kernel. */
#include "buildid/buildid.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/regular_file.h"

#define BYTES_MOST (8u << 20)	/* of headers and notes, read or looked at again: more than any linker makes */
#define START 4096		/* mostly has all that is looked for */

static size_t aligned(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* What is read of: a file whose first bytes are here already, or memory. */
struct image {
	int fd;				/* -1: memory */
	const uint8_t *start;
	size_t size;			/* of start */
	size_t budget;			/* bytes that may still be looked at */
	bool wide, swap;		/* 64 bits; not in this machine's byte order */
};

static uint64_t number_at(const struct image *im, const uint8_t *p, size_t width)
{
	uint64_t value = 0;
	uint32_t half;
	uint16_t quarter;

	if (width == 8) {
		memcpy(&value, p, 8);
		return im->swap ? __builtin_bswap64(value) : value;
	}
	if (width == 4) {
		memcpy(&half, p, 4);
		return im->swap ? __builtin_bswap32(half) : half;
	}
	memcpy(&quarter, p, 2);
	return im->swap ? __builtin_bswap16(quarter) : quarter;
}

/* size bytes at offset: of what is here, or read into *own, for free(). NULL: not there, or over the budget. */
static const uint8_t *part(struct image *im, uint64_t offset, uint64_t size, uint8_t **own)
{
	*own = NULL;
	if (size > im->budget)
		return NULL;
	im->budget -= size;
	if (offset <= im->size && size <= im->size - offset)
		return im->start + offset;
	if (im->fd < 0 || offset > INT64_MAX - size)
		return NULL;
	*own = malloc(size + 1);
	if (*own && pread(im->fd, *own, size, (off_t)offset) == (ssize_t)size)
		return *own;
	free(*own);
	return *own = NULL;
}

/* Notes one after another. */
static bool in_notes(const struct image *im, const uint8_t *p, size_t size, size_t align,
		     struct buildid *out)
{
	while (size >= sizeof(Elf32_Nhdr)) {
		size_t names = number_at(im, p, 4), descs = number_at(im, p + 4, 4), desc;
		const uint8_t *name = p + sizeof(Elf32_Nhdr);

		if (names > size || descs > size)
			return false;
		desc = aligned(sizeof(Elf32_Nhdr) + names, align);
		if (desc > size || descs > size - desc)
			return false;
		if (number_at(im, p + 8, 4) == NT_GNU_BUILD_ID && names == 4 && descs > 0 &&
		    descs <= BUILDID_MAX && memcmp(name, "GNU", 4) == 0) {
			memset(out, 0, sizeof(*out));
			memcpy(out->data, p + desc, descs);
			out->size = (uint8_t)descs;
			return true;
		}
		desc = aligned(desc + descs, align);
		if (desc >= size)
			return false;
		p += desc;
		size -= desc;
	}
	return false;
}

/* Where a table's entries have what matters: type, offset in the file, size, alignment. */
struct table {
	size_t entry;			/* bytes of one */
	size_t type, offset, size, align;
	size_t width;			/* of all but the type */
	uint32_t notes;			/* the type */
};

#define TABLE(header, t, o, s, a, kind) { \
	sizeof(header), offsetof(header, t), offsetof(header, o), offsetof(header, s), \
	offsetof(header, a), sizeof(((header *)0)->o), kind }
static const struct table segments[] = {
	TABLE(Elf32_Phdr, p_type, p_offset, p_filesz, p_align, PT_NOTE),
	TABLE(Elf64_Phdr, p_type, p_offset, p_filesz, p_align, PT_NOTE),
};
static const struct table sections[] = {
	TABLE(Elf32_Shdr, sh_type, sh_offset, sh_size, sh_addralign, SHT_NOTE),
	TABLE(Elf64_Shdr, sh_type, sh_offset, sh_size, sh_addralign, SHT_NOTE),
};

static bool in_entry(struct image *im, const struct table *t, const uint8_t *entry,
		     struct buildid *out)
{
	uint64_t offset = number_at(im, entry + t->offset, t->width);
	uint64_t size = number_at(im, entry + t->size, t->width);
	uint64_t align = number_at(im, entry + t->align, t->width);
	const uint8_t *notes;
	uint8_t *own;
	bool found;

	if (number_at(im, entry + t->type, 4) != t->notes)
		return false;
	notes = part(im, offset, size, &own);
	found = notes && in_notes(im, notes, size, align == 8 ? 8 : 4, out);
	free(own);
	return found;
}

/* Where the file's header has a table: its offset, the size of an entry, how many. */
struct place {
	uint64_t offset, entry, n;
};

static bool in_table(struct image *im, const struct table *t, const struct place *at,
		     struct buildid *out)
{
	const uint8_t *entries;
	uint8_t *own;
	bool found = false;

	if (at->entry != t->entry || !at->n)
		return false;
	entries = part(im, at->offset, at->n * at->entry, &own);
	for (uint64_t i = 0; entries && i < at->n && !found; i++)
		found = in_entry(im, t, entries + i * at->entry, out);
	free(own);
	return found;
}

#define HEADER(im, field) \
	((im)->wide ? number_at(im, (im)->start + offsetof(Elf64_Ehdr, field), \
				sizeof(((Elf64_Ehdr *)0)->field)) : \
		      number_at(im, (im)->start + offsetof(Elf32_Ehdr, field), \
				sizeof(((Elf32_Ehdr *)0)->field)))

/* Programs and libraries have segments; object files (modules) have only sections. */
static bool in_image(struct image *im, struct buildid *out)
{
	const uint8_t *ident = im->start;
	struct place at;

	if (im->size < sizeof(Elf64_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return false;
	im->wide = ident[EI_CLASS] == ELFCLASS64;
	im->swap = (ident[EI_DATA] == ELFDATA2LSB) != (__BYTE_ORDER == __LITTLE_ENDIAN);
	at = (struct place){ HEADER(im, e_phoff), HEADER(im, e_phentsize), HEADER(im, e_phnum) };
	if (in_table(im, &segments[im->wide], &at, out))
		return true;
	at = (struct place){ HEADER(im, e_shoff), HEADER(im, e_shentsize), HEADER(im, e_shnum) };
	return in_table(im, &sections[im->wide], &at, out);
}

bool buildid_of_fd(int fd, struct buildid *out)
{
	uint8_t start[START];
	struct image im = { .fd = fd, .start = start, .budget = BYTES_MOST };
	ssize_t n;

	out->size = 0;
	n = pread(fd, start, sizeof(start), 0);
	im.size = n > 0 ? (size_t)n : 0;
	return in_image(&im, out);
}

bool buildid_of_path(const char *path, struct buildid *out)
{
	int fd = open_regular(AT_FDCWD, path, NULL);
	bool found;

	out->size = 0;
	if (fd < 0)
		return false;
	found = buildid_of_fd(fd, out);
	close(fd);
	return found;
}

static bool of_notes_file(const char *path, struct buildid *out)
{
	const struct image native = { .fd = -1 };
	uint8_t notes[8192];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	out->size = 0;
	if (fd < 0)
		return false;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	return n > 0 && in_notes(&native, notes, (size_t)n, 4, out);
}

bool buildid_of_kernel(struct buildid *out)
{
	return of_notes_file("/sys/kernel/notes", out);
}

bool buildid_of_module(const char *name, struct buildid *out)
{
	char path[128];

	out->size = 0;
	if (strchr(name, '/'))
		return false;
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	return of_notes_file(path, out);
}

bool buildid_of_vdso(struct buildid *out)
{
	/* Its first page, where the headers and notes are. */
	struct image im = {
		.fd = -1, .start = (const uint8_t *)getauxval(AT_SYSINFO_EHDR), .budget = BYTES_MOST,
		.size = (size_t)sysconf(_SC_PAGESIZE),
	};

	out->size = 0;
	return im.start && in_image(&im, out);
}
