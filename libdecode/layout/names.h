/* names.h - the kernel's and perf's names for values and bits.
 *
 * Unknown values have no name; they print as numbers.
 */
#ifndef PD_LAYOUT_NAMES_H
#define PD_LAYOUT_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* `value` is the value of an enumeration, or the mask of a flag. The last row's name is NULL. */
struct pd_name {
	uint64_t value;
	const char *name;
};

/* Returns the name of an enumeration's value, or NULL. */
const char *pd_name_of(const struct pd_name *names, uint64_t value);

/* Sets *value to the value of a name. Returns 0 or -1. */
int pd_value_of(const struct pd_name *names, const char *name, uint64_t *value);

#endif
