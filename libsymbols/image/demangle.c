/* demangle.c - readable names, by libiberty and for OCaml by hand. */
#include "image/demangle.h"

#include <string.h>

#include "pd/symbols.h"

#define MANGLED_MAX 16384

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static unsigned int hex_value(char c)
{
	return (unsigned int)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* "camlStdlib__List__map_1234" is Stdlib.List.map_1234; "$2b" is '+'. Returns 0 if it does not
 * fit. */
static size_t demangle_ocaml(const char *name, char *buf, size_t size)
{
	size_t n = 0;

	for (const char *p = name + 4; *p; n++) {
		if (n + 1 >= size)
			return 0;
		if (p[0] == '_' && p[1] == '_' && p[2]) {
			buf[n] = '.';
			p += 2;
		} else if (p[0] == '$' && is_hex(p[1]) && is_hex(p[2])) {
			buf[n] = (char)(hex_value(p[1]) << 4 | hex_value(p[2]));
			p += 3;
		} else {
			buf[n] = *p++;
		}
	}
	buf[n] = '\0';
	return n;
}

/* "camlModule__...": a module's name begins with a capital. */
static bool is_ocaml(const char *name)
{
	return !strncmp(name, "caml", 4) && name[4] >= 'A' && name[4] <= 'Z' &&
	       strstr(name + 4, "__");
}

static bool may_be_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || !strncmp(name, "__Z", 3) ||
	       !strncmp(name, "_GLOBAL_", 8);
}

size_t ps_demangle(struct pd_bytes name, char *buf, size_t size)
{
	const size_t most = size < PS_NAME_MAX ? size : PS_NAME_MAX;
	char mangled[MANGLED_MAX + 1];
	const char *version;
	size_t n, more;

	if (!name.data || !buf || !size || name.size < 3 || name.size > MANGLED_MAX ||
	    memchr(name.data, 0, name.size))
		return 0;
	version = memchr(name.data, '@', name.size);	/* "_Znwm@@GLIBCXX_3.4", "_Znwm@plt" */
	n = version ? (size_t)(version - (const char *)name.data) : name.size;
	more = name.size - n;
	memcpy(mangled, name.data, n);
	mangled[n] = '\0';
	if (is_ocaml(mangled))
		n = demangle_ocaml(mangled, buf, most);
	else
		n = may_be_mangled(mangled) ? ps_demangle_bounded(mangled, buf, most) : 0;
	if (!n || more >= most - n)
		return 0;
	if (more)
		memcpy(buf + n, version, more);
	buf[n + more] = '\0';
	return n + more;
}
