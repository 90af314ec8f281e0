/* encode_fail.c - the errors of encoding. */
#include <stdio.h>
#include <string.h>

#include "output/encode.h"

int pd_encode_fail(struct pd_encode_error *e, enum pd_code code, const char *path, const char *text)
{
	*e = (struct pd_encode_error){ .code = code };
	snprintf(e->path, sizeof(e->path), "%s", path);
	snprintf(e->text, sizeof(e->text), "%s", text);
	return -1;
}

int pd_encode_io(struct pd_encode_error *e, int error)
{
	*e = (struct pd_encode_error){ .code = PD_E_IO, .have = (uint64_t)error };
	return -1;
}

int pd_encode_no_memory(struct pd_encode_error *e)
{
	return pd_encode_fail(e, PD_E_LIMIT, "", "the memory limit is too low");
}

int pd_encode_fail_pack(struct pd_encode_error *e, const struct pd_pack_error *p,
			const char *prefix)
{
	*e = (struct pd_encode_error){ .code = p->code };
	snprintf(e->path, sizeof(e->path), "%.40s%s%.110s", prefix, *prefix && p->path[0] &&
		 p->path[0] != '[' ? "." : "", p->path);
	snprintf(e->text, sizeof(e->text), "%s", p->text);
	return -1;
}
