/* notes.c - the build id among ELF notes. */
#include "kernel/notes.h"

#include <elf.h>
#include <string.h>

#include "base/cursor.h"

static size_t padded(uint64_t n)
{
	return (size_t)(n + 3) & ~(size_t)3;
}

struct pd_bytes ps_notes_build_id(struct pd_bytes notes)
{
	struct pd_cursor c = pd_cursor(notes, PD_SWAP_NO);
	uint64_t name_size, size, type;

	while (pd_take_number(&c, 4, &name_size) && pd_take_number(&c, 4, &size) &&
	       pd_take_number(&c, 4, &type)) {
		const uint8_t *name = pd_take(&c, padded(name_size));
		const uint8_t *id = name ? pd_take(&c, padded(size)) : NULL;

		if (!id)
			break;
		if (type == NT_GNU_BUILD_ID && name_size == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			return (struct pd_bytes){ id, (size_t)size };
	}
	return (struct pd_bytes){ NULL, 0 };
}
