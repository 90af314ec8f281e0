/* check_tables - says what is wrong with the layout tables; exit 1 when anything is. */
#include <stdio.h>

#include "lint/check.h"

static void complain(void *ctx, const char *text)
{
	fprintf(ctx, "%s\n", text);
}

int main(void)
{
	return pd_check_tables(complain, stdout) ? 1 : 0;
}
