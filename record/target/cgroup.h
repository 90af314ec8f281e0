/* cgroup.h - open cgroups by name. */
#ifndef RECORD_CGROUP_H
#define RECORD_CGROUP_H

/* Opens the cgroup's directory in the hierarchy that performance events use. Returns a
 * descriptor, or -1 and errno. */
int cgroup_open(const char *name);

#endif
