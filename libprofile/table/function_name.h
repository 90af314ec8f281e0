/* function_name.h - names of functions where there is little room. */
#ifndef PP_FUNCTION_NAME_H
#define PP_FUNCTION_NAME_H

#include "encoding/out.h"

/* Writes a name as pp_put_name() does. If it has more columns, arguments of templates go first:
 * std::vector<…>::push_back. Returns the columns. */
size_t pp_put_function_name(struct pp_out *out, struct pd_bytes name, size_t columns);

#endif
