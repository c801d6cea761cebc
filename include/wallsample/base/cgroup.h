/* SPDX-License-Identifier: MIT */
/* cgroup.h - the smallest value of a limit over the control groups (cgroups(7)) of a process. */
#ifndef WALLSAMPLE_BASE_CGROUP_H
#define WALLSAMPLE_BASE_CGROUP_H

#include <stddef.h>

/*
 * A resource that control groups limit. v1() and v2() get an O_PATH descriptor of the directory of
 * a group, in the hierarchy of that version, and return its limit, or what is left of it, in a unit
 * of the caller's choice; INFINITY if the group has no limit or it cannot be read.
 */
struct cgroup_limit {
	const char *controller; /* name of the controller in version 1: "cpu" */
	double (*v1)(int dirfd);
	double (*v2)(int dirfd);
};

/*
 * Returns the smallest value of v1() or v2() over the groups of a process and their ancestors below
 * /sys/fs/cgroup. `dirfd` is a descriptor of /proc/PID, whose file "cgroup" names the groups.
 * Returns INFINITY if no group has a limit, or the file cannot be read.
 */
double cgroup_least(int dirfd, const struct cgroup_limit *limit);

/* As cgroup_least(), and stores the path of the group with that value below its mount point, cut to
 * `size` bytes, in `group`: "/system.slice/shop.service"; "" if no group has a limit. */
double cgroup_least_group(int dirfd, const struct cgroup_limit *limit, char *group, size_t size);

/* As cgroup_least(), for the groups of wallsample. */
double cgroup_own_least(const struct cgroup_limit *limit);

#endif
