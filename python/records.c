/* records.c - records, one after the other. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "pd/tree.h"

/* The iterator. Its records are valid until the next one is read. */
struct records {
	PyObject_HEAD
	struct pdpy_pass *pass;
	struct pd_tree *tree;
	struct pd_sink *sink;		/* writes lines of JSON; NULL: not yet */
	struct pdpy_text line;
	const struct pd_record *record;
	unsigned long long number;	/* of the record */
	PyObject *record_type;
	bool is_busy;			/* a record is read, or made into objects */
	bool is_ended;
};

struct record {
	PyObject_HEAD
	struct records *of;
	unsigned long long number;
};

/* Returns the record, or NULL after an exception. */
static const struct pd_record *get_record(struct record *r)
{
	if (r->number == r->of->number && r->of->record && !r->of->is_busy)
		return r->of->record;
	PyErr_SetString(PyExc_ValueError, "a record is valid until the next one is read");
	return NULL;
}

/* --- values --- */

static PyObject *to_python(const struct pd_item *item, int depth);

static PyObject *to_list(const struct pd_item *item, int depth)
{
	PyObject *list = PyList_New(0);
	const struct pd_item *i = NULL;

	while (list && (i = pd_item_next(item, i))) {
		PyObject *value = to_python(i, depth + 1);

		if (!value || PyList_Append(list, value))
			Py_CLEAR(list);
		Py_XDECREF(value);
	}
	return list;
}

static PyObject *to_dict(const struct pd_item *item, int depth)
{
	PyObject *dict = PyDict_New();
	const struct pd_item *i = NULL;

	while (dict && (i = pd_item_next(item, i))) {
		PyObject *value = to_python(i, depth + 1);

		if (!value || PyDict_SetItemString(dict, i->name, value))
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	return dict;
}

/* Enumerations are their names, where these are known. */
static PyObject *to_python(const struct pd_item *item, int depth)
{
	const char *bytes = (const char *)item->bytes.data;

	if (depth > 32) {
		PyErr_SetString(PyExc_RecursionError, "values are nested too deeply");
		return NULL;
	}
	if (item->word)
		return PyUnicode_FromString(item->word);
	switch (item->kind) {
	case PD_ITEM_SIGNED:
		return PyLong_FromLongLong((long long)item->number);
	case PD_ITEM_REAL:
		return PyFloat_FromDouble(item->real);
	case PD_ITEM_TEXT:
		return PyUnicode_DecodeUTF8(bytes ? bytes : "", (Py_ssize_t)item->bytes.size,
					    "backslashreplace");
	case PD_ITEM_BYTES:
		return PyBytes_FromStringAndSize(bytes ? bytes : "",
						 (Py_ssize_t)item->bytes.size);
	case PD_ITEM_OBJECT:
		return to_dict(item, depth);
	case PD_ITEM_ARRAY:
		return to_list(item, depth);
	default:
		return PyLong_FromUnsignedLongLong(item->number);
	}
}

/* The path of a field, or NULL after an exception. */
static const char *path_of(PyObject *key)
{
	const char *path;
	Py_ssize_t size;

	if (!PyUnicode_Check(key)) {
		PyErr_SetString(PyExc_TypeError, "the path of a field is a text");
		return NULL;
	}
	path = PyUnicode_AsUTF8AndSize(key, &size);
	if (!path || strlen(path) == (size_t)size)
		return path;
	PyErr_SetObject(PyExc_KeyError, key);
	return NULL;
}

/* New objects can make Python collect garbage, and a finalizer can read the next record. */
static PyObject *to_object(struct records *of, const struct pd_item *item)
{
	PyObject *value;

	of->is_busy = true;
	value = to_python(item, 0);
	of->is_busy = false;
	return value;
}

static PyObject *record_item(PyObject *self, PyObject *key)
{
	struct record *r = (struct record *)self;
	const struct pd_record *record = get_record(r);
	const char *path = record ? path_of(key) : NULL;
	const struct pd_item *root, *item;
	struct pd_error e;

	if (!path)
		return NULL;
	root = pd_tree_read_record(r->of->tree, record, &e);
	if (!root)
		return pdpy_raise(&e);
	item = pd_item_get(root, path);
	if (item)
		return to_object(r->of, item);
	PyErr_SetObject(PyExc_KeyError, key);
	return NULL;
}

static PyObject *record_json(PyObject *self, PyObject *ignored)
{
	struct record *r = (struct record *)self;
	struct records *of = r->of;
	const struct pd_record *record = get_record(r);

	(void)ignored;
	if (!record)
		return NULL;
	if (!of->sink) {
		of->sink = pd_sink_new_json(PD_JSON_OPTIONS(.shape = PD_JSON_LINES,
							    .parts = PD_JSON_RECORDS),
					    (struct pd_output){ pdpy_text_write, &of->line });
		if (!of->sink || pd_sink_begin(of->sink, of->pass->in.reader))
			return PyErr_NoMemory();
		pd_sink_wait(of->sink);
	}
	of->line.size = 0;
	if (pd_sink_record(of->sink, record))
		return PyErr_NoMemory();
	pd_sink_wait(of->sink);
	while (of->line.size && of->line.bytes[of->line.size - 1] == '\n')
		of->line.size--;
	return PyUnicode_DecodeUTF8(of->line.bytes ? of->line.bytes : "",
				    (Py_ssize_t)of->line.size, "replace");
}

static PyObject *record_get_type(PyObject *self, void *ignored)
{
	const struct pd_record *record = get_record((struct record *)self);

	(void)ignored;
	return record ? PyUnicode_FromString(pd_record_name(record)) : NULL;
}

static PyObject *record_get_time(PyObject *self, void *ignored)
{
	const struct pd_record *record = get_record((struct record *)self);
	uint64_t time;

	(void)ignored;
	if (!record)
		return NULL;
	if (pd_record_time(record, &time))
		return PyLong_FromUnsignedLongLong(time);
	Py_RETURN_NONE;
}

static PyObject *record_get_offset(PyObject *self, void *ignored)
{
	const struct pd_record *record = get_record((struct record *)self);

	(void)ignored;
	return record ? PyLong_FromUnsignedLongLong(pd_record_offset(record)) : NULL;
}

static void free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_Free(self);
	Py_DECREF(type);
}

static void record_free(PyObject *self)
{
	Py_DECREF(((struct record *)self)->of);
	free_object(self);
}

/* --- the iterator --- */

/* Returns 1, 0 at the end, or -1 and *e. Records that the filter drops are passed over. */
static int read_record(struct records *i, struct pd_error *e)
{
	int ret;

	while ((ret = pd_reader_next(i->pass->in.reader, &i->record, e)) > 0 && i->pass->filter &&
	       pd_filter_keeps(i->pass->filter, i->record) != 1)
		if (pdpy_is_interrupted())
			return -1;
	return ret;
}

static PyObject *records_next(PyObject *self)
{
	struct records *i = (struct records *)self;
	struct pd_error e;
	struct record *r;
	int ret;

	if (i->is_busy)
		PyErr_SetString(PyExc_ValueError, "the records are in use");
	if (i->is_ended || i->is_busy)
		return NULL;
	i->is_busy = true;
	Py_BEGIN_ALLOW_THREADS
	ret = read_record(i, &e);
	Py_END_ALLOW_THREADS
	i->is_busy = false;
	i->number++;
	if (ret <= 0) {
		i->is_ended = true;
		i->record = NULL;
		return ret < 0 && i->pass->source->is_strict && !PyErr_Occurred() ?
			pdpy_raise(&e) : NULL;
	}
	r = PyObject_New(struct record, (PyTypeObject *)i->record_type);
	if (!r)
		return NULL;
	r->of = i;
	r->number = i->number;
	Py_INCREF(self);
	return (PyObject *)r;
}

static PyObject *records_self(PyObject *self)
{
	Py_INCREF(self);
	return self;
}

static void records_free(PyObject *self)
{
	struct records *i = (struct records *)self;

	pd_sink_free(i->sink);
	pd_tree_free(i->tree);
	pdpy_pass_free(i->pass);
	free(i->line.bytes);
	Py_XDECREF(i->record_type);
	free_object(self);
}

static PyMethodDef record_methods[] = {
	{ "json", record_json, METH_NOARGS, "The record as a line of JSON, as pdecode writes it." },
	{ NULL }
};

static PyGetSetDef record_members[] = {
	{ "type", record_get_type, NULL, "the name of its type, \"MMAP2\"", NULL },
	{ "time", record_get_time, NULL, "ns of the recording's clock, or None", NULL },
	{ "offset", record_get_offset, NULL, "where it stands in the input", NULL },
	{ NULL }
};

static PyType_Slot record_slots[] = {
	{ Py_tp_doc, (void *)"A record, valid until the next one is read. r[\"filename\"] is a "
		     "field, by its path in the JSON." },
	{ Py_tp_dealloc, record_free }, { Py_tp_methods, record_methods },
	{ Py_tp_getset, record_members }, { Py_mp_subscript, record_item }, { 0, NULL }
};

static PyType_Slot records_slots[] = {
	{ Py_tp_doc, (void *)"An iterator over records." }, { Py_tp_dealloc, records_free },
	{ Py_tp_iter, records_self }, { Py_tp_iternext, records_next }, { 0, NULL }
};

static PyType_Spec record_spec = {
	"perfdata.Record", sizeof(struct record), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, record_slots
};

static PyType_Spec records_spec = {
	"perfdata.Records", sizeof(struct records), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, records_slots
};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
	PyObject *type = PyType_FromSpec(spec);
	const int ret = type ? PyModule_AddObjectRef(module, name, type) : -1;

	Py_XDECREF(type);
	return ret;
}

int pdpy_records_init(PyObject *module)
{
	return add_type(module, "Record", &record_spec) ||
	       add_type(module, "Records", &records_spec) ? -1 : 0;
}

PyObject *pdpy_records(PyObject *module, struct pdpy_source *s)
{
	PyObject *type = PyObject_GetAttrString(module, "Records");
	struct records *i = type ? PyObject_New(struct records, (PyTypeObject *)type) : NULL;
	struct pd_error e = { .code = PD_E_NOMEM };
	struct pdpy_pass *p;

	Py_XDECREF(type);
	if (!i)
		return NULL;
	memset((char *)i + sizeof(PyObject), 0, sizeof(*i) - sizeof(PyObject));
	Py_BEGIN_ALLOW_THREADS
	p = pdpy_pass_new(s, (struct pdpy_use){ NULL }, &e);
	Py_END_ALLOW_THREADS
	i->pass = p;
	i->tree = p ? pd_tree_new(NULL) : NULL;
	i->record_type = i->tree ? PyObject_GetAttrString(module, "Record") : NULL;
	if (i->record_type)
		return (PyObject *)i;
	if (!i->tree)
		pdpy_raise(&e);
	Py_DECREF(i);
	return NULL;
}
