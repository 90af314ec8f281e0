/* images.h - what the programs share that unwind: images by path, with their call frame
 * information. */
#ifndef IMAGES_H
#define IMAGES_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "image/elf_symbols.h"
#include "unwind/unwind.h"

#define MAX_IMAGES 4096

struct image {
	struct ps_elf elf;
	struct ps_symtab functions;
	struct ps_cfi *cfi;
	enum ps_end why;	/* without cfi */
	bool opened;
};

struct images {
	struct pd_budget budget;
	struct image all[MAX_IMAGES];	/* by the caller's number */
};

/* The vdso of this process is that of any other; its size is not known, but it starts with what is
 * needed. */
static enum ps_status open_vdso(struct images *images, struct image *image)
{
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);

	return p ? ps_elf_open_bytes(&image->elf, (struct pd_bytes){ p, 8192 }, &images->budget)
		 : PS_NOT_ELF;
}

static struct image *image_of(struct images *images, unsigned int number, const char *path)
{
	struct image *image = &images->all[number];
	enum ps_status status = PS_NOT_ELF;
	int fd;

	if (image->opened)
		return image;
	image->opened = true;
	image->why = strncmp(path, "//", 2) == 0 ? PS_END_NO_CFI : PS_END_NO_FILE;
	if (strcmp(path, "[vdso]") == 0) {
		status = open_vdso(images, image);
	} else if ((fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0) {
		status = ps_elf_open_fd(&image->elf, fd, &images->budget);
		close(fd);
	}
	if (status != PS_OK)
		return image;
	image->cfi = ps_cfi_new(&image->elf, &images->budget);
	if (!image->cfi)
		return image;
	ps_cfi_add_debug_frame(image->cfi, &image->elf);
	image->functions.budget = &images->budget;
	ps_elf_add_symbols(&image->elf, SHT_SYMTAB, PS_FUNCTIONS, PS_FROM_SYMTAB,
			   &image->functions);
	ps_elf_add_symbols(&image->elf, SHT_DYNSYM, PS_FUNCTIONS, PS_FROM_DYNSYM,
			   &image->functions);
	if (!ps_symtab_seal(&image->functions))
		ps_cfi_set_functions(image->cfi, &image->functions);
	return image;
}

/* Fills in the place of an address in a mapping of the image. */
static inline void place_in(struct images *images, unsigned int number, const char *path,
			    const struct ps_mapping *map, uint64_t end, uint64_t address,
			    struct ps_place *out)
{
	const struct image *image = image_of(images, number, path);
	uint64_t vaddr;

	out->start = map->addr;
	out->end = end;
	out->image = number;
	out->file_bias = map->addr - map->pgoff;
	out->vaddr_bias = out->file_bias;
	out->why = image->why;
	if (!image->cfi || !ps_elf_address(&image->elf, map, address - out->file_bias, &vaddr))
		return;
	out->vaddr_bias = address - vaddr;
	out->cfi = image->cfi;
}

static inline void close_images(struct images *images)
{
	for (size_t i = 0; i < MAX_IMAGES; i++) {
		struct image *image = &images->all[i];

		if (!image->cfi)
			continue;
		ps_cfi_free(image->cfi);
		ps_symtab_free(&image->functions);
		ps_elf_close(&image->elf);
	}
}

#endif
