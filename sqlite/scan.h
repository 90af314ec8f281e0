/* scan.h - the virtual table of SQLite: a scan over the rows of recordings. */
#ifndef PQ_SCAN_H
#define PQ_SCAN_H

#include <sqlite3.h>

/* For every struct pq_module. */
extern const sqlite3_module pq_scan_module;

#endif
