/* names.c - look up names. The tables are small; common values come first. */
#include "layout/names_tables.h"

#include <string.h>

const struct pd_name pd_names_none[] = { { 0, NULL } };

const char *pd_name_of(const struct pd_name *names, uint64_t value)
{
	for (; names->name; names++)
		if (names->value == value)
			return names->name;
	return NULL;
}

int pd_value_of(const struct pd_name *names, const char *name, uint64_t *value)
{
	for (; names->name; names++) {
		if (strcmp(names->name, name) == 0) {
			*value = names->value;
			return 0;
		}
	}
	return -1;
}
