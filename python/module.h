/* module.h - the objects of the module. */
#ifndef PDPY_MODULE_H
#define PDPY_MODULE_H

#include "source.h"

/* Adds perfdata.Error to the module. Returns 0 or -1. */
int pdpy_errors_init(PyObject *module);
/* Returns a perfdata.Error with this text. */
PyObject *pdpy_error(const struct pd_error *e, const char *text);
/* Raises perfdata.Error, or MemoryError. Returns NULL. */
PyObject *pdpy_raise(const struct pd_error *e);

/* Collects output in memory: a struct pd_output's write. */
struct pdpy_text {
	char *bytes;
	size_t size, capacity;
};
int pdpy_text_write(void *text, const void *p, size_t n);
/* Returns the text as a str, and frees it. */
PyObject *pdpy_text_take(struct pdpy_text *t);

/* Returns a capsule "arrow_array_stream" of a table, or NULL. Takes over nothing. */
PyObject *pdpy_stream(struct pdpy_source *s, size_t table, const struct pc_options *o);
/* Returns a capsule "arrow_schema". */
PyObject *pdpy_schema(struct pdpy_source *s, size_t table, const struct pc_options *o);

/* Adds the types of records. Returns 0 or -1. */
int pdpy_records_init(PyObject *module);
/* Returns an iterator over the records. `module` is borrowed. */
PyObject *pdpy_records(PyObject *module, struct pdpy_source *s);

#endif
