/* api.h - SQLite's functions: called directly, or in a loadable extension through the table that
 * the program hands over. */
#ifndef PQ_API_H
#define PQ_API_H

#ifdef PQ_EXTENSION
#include <sqlite3ext.h>
/* Defined by extension.c. */
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#endif
