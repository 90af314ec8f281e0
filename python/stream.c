/* stream.c - tables as capsules of Arrow's PyCapsule interface.
 *
 * Source: "The Arrow PyCapsule interface" of the Arrow project. */
#include "module.h"

#include <errno.h>
#include <stdlib.h>

static const char stream_name[] = "arrow_array_stream", schema_name[] = "arrow_schema";

/* A stream that ends where reading can't continue: that is an error of the recording, and no
 * failure, unless it is strict. Arrow does not ask that threads can share a stream, but no use of
 * Python may crash it. A lock is no way to that: who waits for it may have the GIL, which a reader
 * takes, too. */
struct wrapped {
	struct ArrowArrayStream inner;
	bool is_strict;
	atomic_uint state;
};

enum { IS_READ = 1, IS_RELEASED = 2 };

/* The stream that last refused this thread; only compared. */
static _Thread_local const struct wrapped *refused;

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
	struct wrapped *w = s->private_data;

	return w->inner.get_schema(&w->inner, out);
}

static void free_wrapped(struct wrapped *w)
{
	w->inner.release(&w->inner);
	free(w);
}

static int read_next(struct wrapped *w, struct ArrowArray *out)
{
	const int error = w->inner.get_next(&w->inner, out);

	if (error == EINTR)
		pdpy_defer_interrupt();
	return error == EIO && !w->is_strict ? 0 : error;
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
	struct wrapped *w = s->private_data;
	const bool is_busy = atomic_fetch_or(&w->state, IS_READ) & IS_READ;
	int error;

	out->release = NULL;
	refused = is_busy ? w : NULL;
	if (is_busy)
		return EBUSY;
	error = read_next(w, out);
	if (atomic_fetch_and(&w->state, ~(unsigned int)IS_READ) & IS_RELEASED)
		free_wrapped(w);
	return error;
}

static const char *get_last_error(struct ArrowArrayStream *s)
{
	struct wrapped *w = s->private_data;

	if (w && w == refused)
		return "another thread reads the stream";
	return w ? w->inner.get_last_error(&w->inner) : NULL;
}

/* While another thread reads, that one frees the stream. */
static void release(struct ArrowArrayStream *s)
{
	struct wrapped *w = s->private_data;

	s->release = NULL;
	s->private_data = NULL;
	if (!(atomic_fetch_or(&w->state, IS_RELEASED) & IS_READ))
		free_wrapped(w);
}

/* Returns 0 or -1 after an exception. */
static int open_stream(struct pdpy_source *s, size_t table, const struct pc_options *o,
		       struct ArrowArrayStream *out)
{
	struct wrapped *w = calloc(1, sizeof(*w));
	struct pc_options options = *o;
	struct pd_error e = { .code = PD_E_NOMEM };
	struct pdpy_pass *p;
	int ret = -1;

	Py_BEGIN_ALLOW_THREADS
	options.on_read = pdpy_look_for_signals;
	p = w ? pdpy_pass_new(s, (struct pdpy_use){ .columns = &options }, &e) : NULL;
	if (p)
		ret = pc_open_stream(p->columns, p->in.reader, table,
				     (struct pc_owner){ pdpy_pass_free, p }, &w->inner, &e);
	if (p && ret)
		pdpy_pass_free(p);
	Py_END_ALLOW_THREADS
	if (ret) {
		free(w);
		pdpy_raise(&e);
		return -1;
	}
	w->is_strict = s->is_strict;
	*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, w };
	return 0;
}

static void free_stream(PyObject *capsule)
{
	struct ArrowArrayStream *s = PyCapsule_GetPointer(capsule, stream_name);

	if (s->release)
		s->release(s);
	free(s);
}

static void free_schema(PyObject *capsule)
{
	struct ArrowSchema *s = PyCapsule_GetPointer(capsule, schema_name);

	if (s->release)
		s->release(s);
	free(s);
}

PyObject *pdpy_stream(struct pdpy_source *s, size_t table, const struct pc_options *o)
{
	struct ArrowArrayStream *stream = calloc(1, sizeof(*stream));
	PyObject *capsule;

	if (!stream)
		return PyErr_NoMemory();
	if (open_stream(s, table, o, stream)) {
		free(stream);
		return NULL;
	}
	capsule = PyCapsule_New(stream, stream_name, free_stream);
	if (!capsule) {
		stream->release(stream);
		free(stream);
	}
	return capsule;
}

PyObject *pdpy_schema(struct pdpy_source *s, size_t table, const struct pc_options *o)
{
	struct ArrowSchema *schema = calloc(1, sizeof(*schema));
	struct ArrowArrayStream stream;
	PyObject *capsule = NULL;
	int error;

	if (!schema)
		return PyErr_NoMemory();
	if (open_stream(s, table, o, &stream)) {
		free(schema);
		return NULL;
	}
	error = stream.get_schema(&stream, schema);
	stream.release(&stream);
	if (error)
		PyErr_NoMemory();
	else
		capsule = PyCapsule_New(schema, schema_name, free_schema);
	if (!capsule) {
		if (!error)
			schema->release(schema);
		free(schema);
	}
	return capsule;
}
