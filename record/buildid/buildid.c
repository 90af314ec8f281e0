/* buildid.c - build ids: the GNU note that linkers put into a file, and into the kernel. */
#include "buildid/buildid.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define BYTES_MOST (8u << 20)	/* of tables and notes: more than any linker makes */
#define START 4096		/* usually has all of them */

/* An ELF file, or one in memory. libelf converts and walks its tables and notes, but never reads
 * the file itself: it would allocate what the file's owner asks for, who may change the file
 * between two reads. */
struct image {
	int fd;				/* -1: memory */
	const char *start;
	size_t size;			/* of start */
	size_t budget;			/* bytes that may still be read */
	Elf *elf;			/* of start */
	bool lacks_memory;
};

/* Reads a part of the file and converts it to this machine's byte order. part->d_buf is for free(),
 * also after a failure. */
static bool read_part(struct image *im, uint64_t offset, uint64_t size, Elf_Type type,
		      Elf_Data *part)
{
	*part = (Elf_Data){ .d_type = type, .d_version = EV_CURRENT };
	if (!size || size > im->budget)
		return false;
	im->budget -= size;
	part->d_size = size;
	part->d_buf = malloc(size);
	im->lacks_memory |= !part->d_buf;
	if (!part->d_buf)
		return false;
	if (offset <= im->size && size <= im->size - offset)
		memcpy(part->d_buf, im->start + offset, size);
	else if (im->fd < 0 || offset > INT64_MAX - size ||
		 pread(im->fd, part->d_buf, size, (off_t)offset) != (ssize_t)size)
		return false;
	return gelf_xlatetom(im->elf, part, part, elf_getident(im->elf, NULL)[EI_DATA]) != NULL;
}

static bool find_in_notes(Elf_Data *notes, struct buildid *out)
{
	GElf_Nhdr note;
	size_t at = 0, name, desc;

	while ((at = gelf_getnote(notes, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    !note.n_descsz || note.n_descsz > BUILDID_MAX ||
		    memcmp((char *)notes->d_buf + name, "GNU", sizeof("GNU")) != 0)
			continue;
		memset(out, 0, sizeof(*out));
		memcpy(out->data, (char *)notes->d_buf + desc, note.n_descsz);
		out->size = (uint8_t)note.n_descsz;
		return true;
	}
	return false;
}

struct extent {
	uint64_t offset, size, align;
};

#define SEGMENT(p) \
	((p)->p_type != PT_NOTE ? none : \
	 (struct extent){ (p)->p_offset, (p)->p_filesz, (p)->p_align })
#define SECTION(s) \
	((s)->sh_type != SHT_NOTE ? none : \
	 (struct extent){ (s)->sh_offset, (s)->sh_size, (s)->sh_addralign })

/* Returns where the notes are that entry i of the table describes; size 0 if it describes something
 * else. */
static struct extent notes_of_entry(const Elf_Data *table, bool is_64bit, size_t i)
{
	const struct extent none = { 0 };

	if (table->d_type == ELF_T_PHDR)
		return is_64bit ? SEGMENT((const Elf64_Phdr *)table->d_buf + i) :
				  SEGMENT((const Elf32_Phdr *)table->d_buf + i);
	return is_64bit ? SECTION((const Elf64_Shdr *)table->d_buf + i) :
			  SECTION((const Elf32_Shdr *)table->d_buf + i);
}

static bool find_in_entry(struct image *im, struct extent at, struct buildid *out)
{
	const Elf_Type type = at.align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
	Elf_Data notes;
	bool found;

	found = read_part(im, at.offset, at.size, type, &notes) && find_in_notes(&notes, out);
	free(notes.d_buf);
	return found;
}

/* n entries of the type at offset. */
static bool find_in_table(struct image *im, uint64_t offset, size_t n, Elf_Type type,
			  struct buildid *out)
{
	const bool is_64bit = gelf_getclass(im->elf) == ELFCLASS64;
	Elf_Data table;
	size_t size = gelf_fsize(im->elf, type, n, EV_CURRENT);
	bool readable = read_part(im, offset, size, type, &table), found = false;

	for (size_t i = 0; readable && i < n && !found; i++)
		found = find_in_entry(im, notes_of_entry(&table, is_64bit, i), out);
	free(table.d_buf);
	return found;
}

/* Programs and libraries have segments; object files (modules) have only sections. */
static bool find_in_image(struct image *im, struct buildid *out)
{
	GElf_Ehdr header;
	bool found;

	elf_version(EV_CURRENT);
	im->elf = elf_memory((char *)im->start, im->size);
	found = im->elf && gelf_getehdr(im->elf, &header) &&
		(find_in_table(im, header.e_phoff, header.e_phnum, ELF_T_PHDR, out) ||
		 find_in_table(im, header.e_shoff, header.e_shnum, ELF_T_SHDR, out));
	elf_end(im->elf);
	out->lacks_memory = !found && im->lacks_memory;
	return found;
}

bool buildid_of_fd(int fd, struct buildid *out)
{
	_Alignas(Elf64_Ehdr) char start[START];
	struct image im = { .fd = fd, .start = start, .budget = BYTES_MOST };
	ssize_t n;

	out->size = 0;
	n = pread(fd, start, sizeof(start), 0);
	im.size = n > 0 ? (size_t)n : 0;
	return n > 0 && find_in_image(&im, out);
}

/* A file of sysfs that has notes and nothing else. */
static bool find_in_notes_file(const char *path, struct buildid *out)
{
	_Alignas(GElf_Nhdr) char bytes[8192];
	Elf_Data notes = { .d_buf = bytes, .d_type = ELF_T_NHDR, .d_version = EV_CURRENT };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	out->size = 0;
	if (fd < 0)
		return false;
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	notes.d_size = n > 0 ? (size_t)n : 0;
	return find_in_notes(&notes, out);
}

bool buildid_of_kernel(struct buildid *out)
{
	return find_in_notes_file("/sys/kernel/notes", out);
}

bool buildid_of_module(const char *name, struct buildid *out)
{
	char path[128];

	out->size = 0;
	if (strchr(name, '/'))
		return false;
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	return find_in_notes_file(path, out);
}

bool buildid_of_vdso(struct buildid *out)
{
	/* Its first page, which has the headers and notes. */
	struct image im = {
		.fd = -1, .start = (const char *)getauxval(AT_SYSINFO_EHDR), .budget = BYTES_MOST,
		.size = (size_t)sysconf(_SC_PAGESIZE),
	};

	out->size = 0;
	return im.start && find_in_image(&im, out);
}
