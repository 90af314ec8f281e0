/* buildid.c - build ids: the GNU note that linkers put into a file, and into the kernel. */
#include "buildid.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostinfo_read.h"

#define NOTES_MAX (1u << 20)

static size_t aligned(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* Notes one after another, in this machine's byte order. */
static bool in_notes(const uint8_t *p, size_t size, size_t align, struct buildid *out)
{
	Elf32_Nhdr note;

	while (size >= sizeof(note)) {
		size_t name, desc;

		memcpy(&note, p, sizeof(note));
		if (note.n_namesz > size || note.n_descsz > size)
			return false;
		desc = aligned(sizeof(note) + note.n_namesz, align);
		name = sizeof(note);
		if (desc > size || note.n_descsz > size - desc)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz > 0 &&
		    note.n_descsz <= BUILDID_MAX && memcmp(p + name, "GNU", 4) == 0) {
			memset(out, 0, sizeof(*out));
			memcpy(out->data, p + desc, note.n_descsz);
			out->size = (uint8_t)note.n_descsz;
			return true;
		}
		desc = aligned(desc + note.n_descsz, align);
		if (desc >= size)
			return false;
		p += desc;
		size -= desc;
	}
	return false;
}

static bool of_elf(Elf *elf, struct buildid *out)
{
	size_t n;

	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		Elf_Data *data;
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE ||
		    ph.p_filesz > NOTES_MAX)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz,
					    ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (data && in_notes(data->d_buf, data->d_size, ph.p_align == 8 ? 8 : 4, out))
			return true;
	}
	return false;
}

/* Object files (modules) have sections only. */
static bool of_sections(Elf *elf, struct buildid *out)
{
	Elf_Scn *section = NULL;
	GElf_Shdr sh;

	while (elf && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_NOTE || sh.sh_size > NOTES_MAX)
			continue;
		data = elf_getdata(section, NULL);
		if (data && in_notes(data->d_buf, data->d_size, sh.sh_addralign == 8 ? 8 : 4, out))
			return true;
	}
	return false;
}

bool buildid_of_fd(int fd, struct buildid *out)
{
	struct stat st;
	bool found;
	Elf *elf;

	out->size = 0;
	/* A device might wait, or do something, when read. */
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	found = of_elf(elf, out) || of_sections(elf, out);
	elf_end(elf);
	return found;
}

bool buildid_of_path(const char *path, struct buildid *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
	uint8_t notes[8192];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	out->size = 0;
	if (fd < 0)
		return false;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	return n > 0 && in_notes(notes, (size_t)n, 4, out);
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
	FILE *maps = fopen("/proc/self/maps", "re");
	void *start = NULL, *end = NULL;
	char line[512];
	bool found = false;
	Elf *elf;

	out->size = 0;
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[vdso]") && sscanf(line, "%p-%p", &start, &end) == 2;
	if (maps)
		fclose(maps);
	if (!found || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	elf = elf_memory(start, (size_t)((char *)end - (char *)start));
	found = of_elf(elf, out);
	elf_end(elf);
	return found;
}
