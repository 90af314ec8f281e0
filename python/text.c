/* text.c - output that is collected in memory. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

int pdpy_text_write(void *text, const void *p, size_t n)
{
	struct pdpy_text *t = text;
	size_t more = t->capacity ? t->capacity : 4096;
	char *bytes;

	while (more - t->size < n)
		more *= 2;
	if (more != t->capacity) {
		bytes = realloc(t->bytes, more);
		if (!bytes)
			return -1;
		t->bytes = bytes;
		t->capacity = more;
	}
	memcpy(t->bytes + t->size, p, n);
	t->size += n;
	return 0;
}

PyObject *pdpy_text_take(struct pdpy_text *t)
{
	PyObject *text = PyUnicode_DecodeUTF8(t->bytes ? t->bytes : "", (Py_ssize_t)t->size,
					      "replace");

	free(t->bytes);
	*t = (struct pdpy_text){ NULL };
	return text;
}
