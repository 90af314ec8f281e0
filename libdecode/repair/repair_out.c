/* repair_out.c - failures, and bytes on their way to the output. */
#include "repair/repair_internal.h"

int pd_repair_fail(struct pd_error *e, enum pd_code code, int error)
{
	*e = (struct pd_error){ .code = code, .severity = PD_FATAL, .have = (uint64_t)error };
	return -1;
}

int pd_repair_flush(struct pd_repair *p, struct pd_error *e)
{
	int failed = p->buf.failed;

	if (failed)
		return pd_repair_fail(e, PD_E_LIMIT, 0);
	failed = pd_out_append(&p->out, p->buf.data, p->buf.size);
	p->buf.size = 0;
	return failed ? pd_repair_fail(e, PD_E_IO, failed) : 0;
}
