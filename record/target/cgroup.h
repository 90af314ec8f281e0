/* cgroup.h - cgroups by name. */
#ifndef RECORD_CGROUP_H
#define RECORD_CGROUP_H

/* The directory, open, in the hierarchy that performance events follow; -1 and errno. */
int cgroup_open(const char *name);

#endif
