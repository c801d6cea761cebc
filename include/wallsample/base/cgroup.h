/* SPDX-License-Identifier: MIT */
/* cgroup.h - limits of the control groups (cgroups(7)) that a process is in. */
#ifndef WALLSAMPLE_BASE_CGROUP_H
#define WALLSAMPLE_BASE_CGROUP_H

/* A limit, as the controller of version 1 and that of version 2 have it. The functions return its
 * value for the group with this directory; INFINITY: no limit. */
struct cgroup_limit {
	const char *controller; /* of version 1: "cpu" */
	double (*v1)(int dirfd);
	double (*v2)(int dirfd);
};

/*
 * Returns the smallest value of the limit in the groups that are named in the file "cgroup" of this
 * directory (of /proc/PID), and their ancestors; INFINITY: no limit is known.
 */
double cgroup_least(int dirfd, const struct cgroup_limit *limit);

/* As cgroup_least(), for the groups of wallsample. */
double cgroup_own_least(const struct cgroup_limit *limit);

#endif
