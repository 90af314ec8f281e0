/* errors.c - the exception perfdata.Error. */
#include "module.h"

#include <string.h>

/* Set once, when the module is imported first. */
static PyObject *error_class;

static int set_attribute(PyObject *of, const char *name, PyObject *value)
{
	const int ret = value ? PyObject_SetAttrString(of, name, value) : -1;

	Py_XDECREF(value);
	return ret;
}

/* Returns a new reference; None for NULL. */
static PyObject *text_or_none(const char *text)
{
	if (text)
		return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
	Py_RETURN_NONE;
}

PyObject *pdpy_error(const struct pd_error *e, const char *text)
{
	static const char *const severities[] = { "", "note", "damaged", "fatal" };
	PyObject *message = text_or_none(text);
	PyObject *error = message ?
		PyObject_CallFunctionObjArgs(error_class, message, NULL) : NULL;

	Py_XDECREF(message);
	if (error &&
	    !set_attribute(error, "code", text_or_none(pd_code_name(e->code))) &&
	    !set_attribute(error, "severity", text_or_none(severities[e->severity & 3])) &&
	    !set_attribute(error, "offset", PyLong_FromUnsignedLongLong(e->offset)) &&
	    !set_attribute(error, "record", text_or_none(e->record)) &&
	    !set_attribute(error, "field", text_or_none(e->field)) &&
	    !set_attribute(error, "skipped", PyLong_FromUnsignedLongLong(e->skipped)))
		return error;
	Py_XDECREF(error);
	return NULL;
}

PyObject *pdpy_raise(const struct pd_error *e)
{
	char text[512];
	PyObject *error;

	if (e->code == PD_E_NOMEM)
		return PyErr_NoMemory();
	error = pdpy_error(e, pd_error_text(e, text, sizeof(text)));
	if (error)
		PyErr_SetObject(error_class, error);
	Py_XDECREF(error);
	return NULL;
}

int pdpy_errors_init(PyObject *module)
{
	if (!error_class)
		error_class = PyErr_NewExceptionWithDoc("perfdata.Error",
			"Damage, or why a recording can't be read. code, severity, offset, record, "
			"field and skipped say what and where.", NULL, NULL);
	return error_class ? PyModule_AddObjectRef(module, "Error", error_class) : -1;
}
