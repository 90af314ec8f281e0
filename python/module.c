/* module.c - perfdata._perfdata: what perfdata/__init__.py is made of. */
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pd/history.h"

struct object {
	PyObject_HEAD
	struct pdpy_source *source;
	pid_t learner;		/* process whose thread learns, without the GIL; 0: none */
};

/* Set once, when the module is imported first. */
static PyObject *module_object;

/* --- arguments --- */

/* Reads a list of pairs (from, to). Returns 0 or -1. */
static int read_ranges(PyObject *list, struct pd_range **out, size_t *count)
{
	const Py_ssize_t n = PyList_Size(list);

	*out = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(**out));
	if (!*out)
		return -1;
	for (Py_ssize_t i = 0; i < n; i++) {
		unsigned long long from, to;

		if (!PyArg_ParseTuple(PyList_GetItem(list, i), "KK", &from, &to))
			return -1;
		(*out)[i] = (struct pd_range){ from, to };
	}
	*count = (size_t)n;
	return 0;
}

static int read_texts(PyObject *list, char ***out, size_t *count)
{
	const Py_ssize_t n = PyList_Size(list);

	*out = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(**out));
	if (!*out)
		return -1;
	for (Py_ssize_t i = 0; i < n; i++) {
		const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);

		(*out)[i] = text ? strdup(text) : NULL;
		if (!(*out)[i])
			return -1;
		++*count;
	}
	return 0;
}

static int read_filter(struct pdpy_filter *f, PyObject *of[6], PyObject *time)
{
	unsigned long long from, to;

	if (read_ranges(of[0], &f->types, &f->nr_types) ||
	    read_ranges(of[1], &f->pids, &f->nr_pids) ||
	    read_ranges(of[2], &f->tids, &f->nr_tids) ||
	    read_ranges(of[3], &f->cpus, &f->nr_cpus) ||
	    read_texts(of[4], &f->comms, &f->nr_comms) ||
	    read_texts(of[5], &f->events, &f->nr_events))
		return -1;
	if (time != Py_None) {
		if (!PyArg_ParseTuple(time, "KK", &from, &to))
			return -1;
		f->time = (struct pd_range){ from, to };
		f->has_time = true;
	}
	f->is_given = f->nr_types || f->nr_pids || f->nr_tids || f->nr_cpus || f->nr_comms ||
		      f->nr_events || f->has_time;
	return 0;
}

/* --- the source --- */

/* Opens the input: a descriptor of a file, which is duplicated; the path of a directory; or
 * bytes. */
static int open_input(struct pdpy_source *s, int fd, PyObject *path, PyObject *bytes)
{
	PyObject *name = NULL;

	if (bytes != Py_None) {
		s->has_bytes = !PyObject_GetBuffer(bytes, &s->bytes, PyBUF_SIMPLE);
		return s->has_bytes ? 0 : -1;
	}
	if (path != Py_None) {
		if (PyUnicode_FSConverter(path, &name))
			s->path = strdup(PyBytes_AsString(name));
		Py_XDECREF(name);
		return s->path ? 0 : -1;
	}
	s->start = lseek(fd, 0, SEEK_CUR);
	if (s->start >= 0)
		s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (s->fd < 0)
		PyErr_SetFromErrno(PyExc_OSError);
	return s->fd < 0 ? -1 : 0;
}

static PyObject *source_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	PyObject *path, *bytes, *of[6], *time;
	unsigned long long memory;
	int fd, strict;
	struct pdpy_source *s;
	struct object *o;

	(void)keywords;
	if (!PyArg_ParseTuple(args, "iOOKpO!O!O!O!O!O!O", &fd, &path, &bytes, &memory, &strict,
			      &PyList_Type, &of[0], &PyList_Type, &of[1], &PyList_Type, &of[2],
			      &PyList_Type, &of[3], &PyList_Type, &of[4], &PyList_Type, &of[5],
			      &time))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return PyErr_NoMemory();
	*s = (struct pdpy_source){ .users = 1, .fd = -1, .memory = memory, .is_strict = strict };
	pthread_mutex_init(&s->lock, NULL);
	o = read_filter(&s->filter, of, time) || open_input(s, fd, path, bytes) ? NULL :
		(struct object *)PyType_GenericNew(type, NULL, NULL);
	if (o) {
		o->source = s;
		return (PyObject *)o;
	}
	pdpy_source_release(s);
	return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static void source_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	pdpy_source_release(((struct object *)self)->source);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* Waits until no other thread learns. A fork copies no other thread: one that learned then never
 * ends in the child. Returns 0, or -1 after an exception. */
static int await_others(const struct object *o)
{
	while (o->learner) {
		if (o->learner != getpid()) {
			PyErr_SetString(PyExc_RuntimeError, "the process was forked while another "
					"thread read the recording: open it again");
			return -1;
		}
		Py_BEGIN_ALLOW_THREADS
		usleep(1000);
		Py_END_ALLOW_THREADS
		if (PyErr_CheckSignals())
			return -1;
	}
	return 0;
}

/* Returns the source with its history, or NULL after an exception. */
static struct pdpy_source *learned(PyObject *self)
{
	struct object *o = (struct object *)self;
	struct pd_error e;
	int ret;

	if (await_others(o))
		return NULL;
	if (o->source->history)
		return o->source;
	o->learner = getpid();
	Py_BEGIN_ALLOW_THREADS
	ret = pdpy_source_learn(o->source, &e);
	Py_END_ALLOW_THREADS
	o->learner = 0;
	if (!ret)
		return o->source;
	if (!PyErr_Occurred())
		pdpy_raise(&e);
	return NULL;
}

/* Appends errors to a list. Returns 0 or -1. */
static int append_errors(PyObject *list, const struct pdpy_errors *errors)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < errors->count; i++) {
		PyObject *error = pdpy_error(&errors->items[i].e, errors->items[i].text);

		ret = error ? PyList_Append(list, error) : -1;
		Py_XDECREF(error);
	}
	return ret;
}

static PyObject *source_errors(PyObject *self, PyObject *ignored)
{
	struct pdpy_source *s = learned(self);
	PyObject *list = s ? PyList_New(0) : NULL;
	struct pdpy_errors payloads;

	(void)ignored;
	if (!list)
		return NULL;
	payloads = pdpy_source_payloads(s);
	if (append_errors(list, &s->errors) || append_errors(list, &payloads))
		Py_CLEAR(list);
	free(payloads.items);
	return list;
}

/* Reads what all functions for tables take: number, columns, groups, int64, file_id, path. */
static int read_table(PyObject *args, size_t *table, struct pc_options *o)
{
	unsigned long long columns;
	unsigned int with;
	Py_ssize_t number;
	int int64;

	if (!PyArg_ParseTuple(args, "nKIpzz", &number, &columns, &with, &int64, &o->file_id,
			      &o->path))
		return -1;
	if (number < 0 || (size_t)number >= pc_nr_tables()) {
		PyErr_SetString(PyExc_ValueError, "no such table");
		return -1;
	}
	*table = (size_t)number;
	o->size = sizeof(*o);
	o->tables = 1ull << number;
	o->with = with;
	o->columns = columns;
	o->uint64 = int64 ? PC_AS_INT64 : PC_UNSIGNED;
	return 0;
}

/* Returns what `make` makes of a table: a capsule. */
static PyObject *make_capsule(PyObject *self, PyObject *args,
			      PyObject *(*make)(struct pdpy_source *s, size_t table,
						const struct pc_options *o))
{
	struct pc_options o = { 0 };
	struct pdpy_source *s;
	size_t table;

	if (read_table(args, &table, &o))
		return NULL;
	s = learned(self);
	return s ? make(s, table, &o) : NULL;
}

static PyObject *source_stream(PyObject *self, PyObject *args)
{
	return make_capsule(self, args, pdpy_stream);
}

static PyObject *source_schema(PyObject *self, PyObject *args)
{
	return make_capsule(self, args, pdpy_schema);
}

static PyObject *source_records(PyObject *self, PyObject *ignored)
{
	struct pdpy_source *s = learned(self);

	(void)ignored;
	return s ? pdpy_records(module_object, s) : NULL;
}

/* --- JSON --- */

static struct pd_sink *make_stats(struct pdpy_pass *p, void *to)
{
	return pd_sink_new_stats(PD_STATS_OPTIONS(.filter = p->filter),
				 (struct pd_output){ pdpy_text_write, to });
}

static struct pd_sink *make_header(struct pdpy_pass *p, void *to)
{
	(void)p;
	return pd_sink_new_json(PD_JSON_OPTIONS(.shape = PD_JSON_LINES, .parts = PD_JSON_HEADER),
				(struct pd_output){ pdpy_text_write, to });
}

/* pd_pump(), except that signals end it, and without records if they are not needed. */
static int pump_records(struct pdpy_pass *p, bool with_records)
{
	struct pd_reader *r = p->in.reader;
	const struct pd_record *record;
	struct pd_error e;
	int ret = with_records, failed = pd_sink_begin(p->sink, r);

	while (!failed && ret > 0 && !(failed = pd_sink_batch(p->sink, r)) &&
	       (ret = pd_reader_next(r, &record, &e)) > 0)
		failed = pd_sink_record(p->sink, record) || pdpy_is_interrupted();
	if (!failed && ret < 0) {
		e.severity = PD_FATAL;
		failed = pd_sink_error(p->sink, &e);
	}
	return failed ? failed : pd_sink_finish(p->sink, r);
}

/* The header of a pipe comes with the records. */
static bool needs_records(const struct pdpy_pass *p, bool is_header)
{
	return !is_header || pd_reader_file(p->in.reader)->mode == PD_MODE_PIPE;
}

static PyObject *pump_source(struct pdpy_source *s,
			     struct pd_sink *(*make_sink)(struct pdpy_pass *p, void *to))
{
	struct pdpy_text text = { NULL };
	struct pd_error e;
	struct pdpy_pass *p;
	int ret = -1;

	if (!s)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	p = pdpy_pass_new(s, (struct pdpy_use){ .make_sink = make_sink, .ctx = &text }, &e);
	if (p) {
		ret = pump_records(p, needs_records(p, make_sink == make_header));
		e.code = PD_E_NOMEM;
		pdpy_pass_free(p);
	}
	Py_END_ALLOW_THREADS
	if (!ret)
		return pdpy_text_take(&text);
	free(text.bytes);
	return PyErr_Occurred() ? NULL : pdpy_raise(&e);
}

static PyObject *source_stats(PyObject *self, PyObject *ignored)
{
	(void)ignored;
	return pump_source(learned(self), make_stats);
}

static PyObject *source_header(PyObject *self, PyObject *ignored)
{
	(void)ignored;
	return pump_source(((struct object *)self)->source, make_header);
}

/* --- Parquet --- */

struct file {
	int fd;
	int error;
};

static int write_file(void *file, const void *bytes, size_t size)
{
	struct file *f = file;
	const char *p = bytes;

	while (size && !f->error) {
		const ssize_t n = write(f->fd, p, size);

		if (n < 0 && errno != EINTR)
			f->error = errno;
		if (n > 0) {
			p += n;
			size -= (size_t)n;
		}
	}
	return f->error;
}

/* Returns 0, or -1 and *e, or an errno. */
static int write_tables(struct pdpy_source *s, const struct pc_options *o,
			const struct pd_output *outputs, struct pd_error *e)
{
	struct pdpy_pass *p = pdpy_pass_new(s, (struct pdpy_use){ .columns = o }, e);
	int ret = p ? pc_write_parquet(p->columns, p->in.reader, outputs, e) : -1;

	if (!ret && e->code != PD_OK && s->is_strict)
		ret = -1;
	pdpy_pass_free(p);
	return ret;
}

/* Reads descriptors, -1: not this table. Returns 0 or -1. */
static int read_files(PyObject *list, struct file *files, struct pd_output *outputs,
		      uint64_t *tables)
{
	if (PyList_Size(list) != (Py_ssize_t)pc_nr_tables()) {
		PyErr_SetString(PyExc_ValueError, "a descriptor for each table is needed");
		return -1;
	}
	for (size_t i = 0; i < pc_nr_tables(); i++) {
		files[i].fd = (int)PyLong_AsLong(PyList_GetItem(list, (Py_ssize_t)i));
		if (PyErr_Occurred())
			return -1;
		if (files[i].fd < 0)
			continue;
		outputs[i] = (struct pd_output){ write_file, &files[i] };
		*tables |= 1ull << i;
	}
	return 0;
}

static PyObject *source_write_parquet(PyObject *self, PyObject *args)
{
	struct file files[64] = { { 0 } };
	struct pd_output outputs[64] = { { NULL } };
	struct pc_options o = { .size = sizeof(o), .on_read = pdpy_look_for_signals };
	struct pd_error e = { .code = PD_OK };
	struct pdpy_source *s;
	unsigned int with;
	PyObject *list;
	int int64, ret;

	if (!PyArg_ParseTuple(args, "O!Ipzz", &PyList_Type, &list, &with, &int64, &o.file_id,
			      &o.path) || read_files(list, files, outputs, &o.tables))
		return NULL;
	o.with = with;
	o.uint64 = int64 ? PC_AS_INT64 : PC_UNSIGNED;
	s = learned(self);
	if (!s)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = write_tables(s, &o, outputs, &e);
	Py_END_ALLOW_THREADS
	if (PyErr_Occurred())
		return NULL;
	if (ret > 0) {
		errno = ret;
		return PyErr_SetFromErrno(PyExc_OSError);
	}
	if (ret)
		return pdpy_raise(&e);
	Py_RETURN_NONE;
}

/* --- the module --- */

static PyMethodDef source_methods[] = {
	{ "errors", source_errors, METH_NOARGS, "Errors of the whole recording." },
	{ "stream", source_stream, METH_VARARGS, "A table as a capsule." },
	{ "schema", source_schema, METH_VARARGS, "Its schema as a capsule." },
	{ "records", source_records, METH_NOARGS, "An iterator over the records." },
	{ "stats", source_stats, METH_NOARGS, "Totals, as JSON." },
	{ "header", source_header, METH_NOARGS, "File, events and features, as JSON Lines." },
	{ "write_parquet", source_write_parquet, METH_VARARGS, "Writes tables to descriptors." },
	{ NULL }
};

static PyType_Slot source_slots[] = {
	{ Py_tp_doc, (void *)"A recording: perfdata.open() makes it." },
	{ Py_tp_new, source_new }, { Py_tp_dealloc, source_free },
	{ Py_tp_methods, source_methods }, { 0, NULL }
};

/* Not tracked for garbage: streams share the bytes, and clearing a cycle would take these from
 * them. A cycle through an object of the caller that has the bytes is never freed. */
static PyType_Spec source_spec = { "perfdata.Source", sizeof(struct object), 0,
				   Py_TPFLAGS_DEFAULT, source_slots };

/* Returns [(name, doc, [(column, number, group)])]. Members of structs are in their list. */
static PyObject *list_tables(PyObject *module, PyObject *ignored)
{
	PyObject *list = PyList_New(0);

	(void)module;
	(void)ignored;
	for (size_t i = 0; list && i < pc_nr_tables(); i++) {
		const struct pc_table *t = pc_table_at(i);
		PyObject *columns = PyList_New(0), *row;

		for (size_t k = 0; columns && k < t->nr_columns; k++) {
			const struct pc_column *c = &t->columns[k];

			if (c->list)
				continue;
			row = Py_BuildValue("(snI)", c->name, (Py_ssize_t)k,
					    (unsigned int)c->group);
			if (!row || PyList_Append(columns, row))
				Py_CLEAR(columns);
			Py_XDECREF(row);
		}
		row = columns ? Py_BuildValue("(ssN)", t->name, t->doc, columns) : NULL;
		if (!row || PyList_Append(list, row))
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	return list;
}

/* Returns the names of the groups of columns. */
static PyObject *list_groups(PyObject *module, PyObject *ignored)
{
	PyObject *list = PyList_New(0);

	(void)module;
	(void)ignored;
	for (size_t i = 0; list && pc_group_name(i); i++) {
		PyObject *name = PyUnicode_FromString(pc_group_name(i));

		if (!name || PyList_Append(list, name))
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	return list;
}

static PyObject *find_type(PyObject *module, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
	uint32_t type;

	(void)module;
	if (!text)
		return NULL;
	if (pd_record_type_parse(text, &type))
		return PyLong_FromUnsignedLong(type);
	Py_RETURN_NONE;
}

static PyObject *match_event(PyObject *module, PyObject *args)
{
	const char *glob, *name;

	(void)module;
	if (!PyArg_ParseTuple(args, "ss", &glob, &name))
		return NULL;
	return PyBool_FromLong(pd_event_name_matches(glob, name));
}

static PyMethodDef module_methods[] = {
	{ "tables", list_tables, METH_NOARGS, "The tables and their columns." },
	{ "groups", list_groups, METH_NOARGS, "The groups of columns." },
	{ "event_matches", match_event, METH_VARARGS, "Whether a pattern matches an event." },
	{ "record_type", find_type, METH_O, "The number of a record type, or None." },
	{ NULL }
};

/* Any thread may give memory of Python back, and PyGILState_Ensure() knows one interpreter. */
static int check_interpreter(void)
{
	if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
		return 0;
	PyErr_SetString(PyExc_ImportError, "perfdata can't be used in a subinterpreter");
	return -1;
}

static int fill_module(PyObject *module)
{
	PyObject *type;
	int ret;

	if (check_interpreter())
		return -1;
	type = PyType_FromSpec(&source_spec);
	ret = !type || PyModule_AddObjectRef(module, "Source", type) || pdpy_errors_init(module) ||
	      PyModule_AddStringConstant(module, "version", pd_version()) ||
	      pdpy_records_init(module) ? -1 : 0;
	Py_XDECREF(type);
	if (ret == 0 && !module_object) {
		Py_INCREF(module);
		module_object = module;
	}
	return ret;
}

static PyModuleDef_Slot module_slots[] = { { Py_mod_exec, fill_module }, { 0, NULL } };

static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, "perfdata._perfdata", NULL, 0,
					 module_methods, module_slots, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit__perfdata(void);

PyMODINIT_FUNC PyInit__perfdata(void)
{
	return PyModuleDef_Init(&definition);
}
