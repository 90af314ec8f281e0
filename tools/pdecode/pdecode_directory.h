/* pdecode_directory.h - an output that could be part of the directory that is read. */
#ifndef PD_TOOLS_PDECODE_DIRECTORY_H
#define PD_TOOLS_PDECODE_DIRECTORY_H

#include <stdbool.h>

/* Returns whether the output, a path or NULL, is a file of the directory, so that writing it would
 * destroy the input. False if `path` is no directory. */
bool directory_contains(const char *path, const char *output);

/* Returns whether a file of this name would be read as part of a directory. */
bool directory_names_data(const char *path);

#endif
