/* demangle_bounded.c - leaves libiberty's demanglers by longjmp() as soon as their output does not
 * fit: a name of 210 bytes can become 35 MB, because each substitution doubles it.
 *
 * This is the only jump of the library. The demanglers call back with pieces of the name while they
 * hold no lock, and no memory but for an identifier that Rust's has decoded from punycode: such a
 * piece, which is not all ASCII, is passed over.
 */
#include "image/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

struct bounded {
	char *buf;
	size_t size, used;
	bool is_full;
	jmp_buf full;
};

static bool is_ascii(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

static void append_piece(const char *text, size_t n, void *ctx)
{
	struct bounded *b = ctx;

	if (!n)
		return;
	if (n >= b->size - b->used)
		b->is_full = true;
	if (b->is_full) {
		if (is_ascii(text, n))
			longjmp(b->full, 1);
		return;
	}
	memcpy(b->buf + b->used, text, n);
	b->used += n;
}

static void ignore(const char *text, size_t n, void *ctx)
{
	(void)text;
	(void)n;
	(void)ctx;
}

/* Whether Rust's demangler has a limit of its own (1,024 levels), as those since 2022 have. The
 * name is "_RIC1aRR...RuE": a crate with a reference to a reference to ... the unit type. */
static bool rust_has_limit(void)
{
	char name[1200] = "_RIC1a";
	const size_t start = strlen(name);

	memset(name + start, 'R', sizeof(name) - start);
	memcpy(name + sizeof(name) - 3, "uE", 3);
	return !rust_demangle_callback(name, DMGL_NO_OPTS, ignore, NULL);
}

/* Without a limit, a place that refers to one around it is followed until the stack is full. */
static bool may_be_endless(const char *mangled)
{
	return !strncmp(mangled, "_R", 2) && (strchr(mangled, 'B') || strlen(mangled) > 1024) &&
	       !rust_has_limit();
}

/* Rust first: its older names are valid C++ ones, too. */
size_t ps_demangle_bounded(const char *mangled, char *buf, size_t size)
{
	struct bounded b = { .buf = buf, .size = size };

	if (may_be_endless(mangled) || setjmp(b.full))
		return 0;
	if (!rust_demangle_callback(mangled, DMGL_NO_OPTS, append_piece, &b)) {
		b.used = 0;
		if (!cplus_demangle_v3_callback(mangled, DMGL_NO_OPTS, append_piece, &b))
			return 0;
	}
	if (b.is_full)
		return 0;
	buf[b.used] = '\0';
	return b.used;
}
