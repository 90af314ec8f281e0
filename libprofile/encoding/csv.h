/* csv.h - strings of CSV. */
#ifndef PP_CSV_H
#define PP_CSV_H

#include "encoding/out.h"

/* Writes a field in quotes. A text that a spreadsheet would take for a formula begins with a
 * quote. */
void pp_csv_string(struct pp_out *out, struct pd_bytes text);

#endif
