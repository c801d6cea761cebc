/* SPDX-License-Identifier: MIT */
/*
 * process_groups_internal.h - control groups (cgroups(7)) as conditions of a target set: mounted
 * hierarchies, directories of groups, container ids in the paths of groups.
 *
 * "Path" is that of a group in its hierarchy, as in /proc/PID/cgroup; "directory" is where it is
 * mounted.
 */
#ifndef WALLSAMPLE_PROCESS_PROCESS_GROUPS_INTERNAL_H
#define WALLSAMPLE_PROCESS_PROCESS_GROUPS_INTERNAL_H

#include "process/process_internal.h"
#include "wallsample/process/process_set.h"

/* --- container_id.c -------------------------------------------------------------------------- */

#define CONTAINER_ID_LENGTH 64
/* Fewest digits that stand for a container. */
#define CONTAINER_ID_LEAST 4

/*
 * Returns the 64 hexadecimal digits of the next container id in a path of a group, or NULL.
 * *cursor is the path at first, which ends with a newline or zero, and then the rest of it. The id
 * is a component of the path. In front of it there may be a prefix that ends in "-" or ":", behind
 * it ".scope":
 *
 *   Docker          /docker/ID, /system.slice/docker-ID.scope
 *   Podman          /machine.slice/libpod-ID.scope/container, /libpod_parent/libpod-ID
 *   containerd      …/kubepods-burstable-podUID.slice/cri-containerd-ID.scope, …:cri-containerd:ID
 *   CRI-O           …/crio-ID.scope, …/crio-ID
 *   Kubernetes      /kubepods/besteffort/podUID/ID
 *
 * A prefix that ends in "conmon-" names the group of the program that watches the container.
 */
const char *container_id_next(const char **cursor);

/* Returns true if a path has a container id that begins with the digits. */
bool container_id_in_path(const char *path, const char *digits);

/* Checks that `text` is the beginning of a container id, or a whole one, and stores it in lower
 * case. Returns 0 or ERROR_USAGE (negated). */
int container_id_check(const char *text, char digits[CONTAINER_ID_LENGTH + 1], struct error *err);

/* --- group_tree.c ---------------------------------------------------------------------------- */

/* A hierarchy that is mounted. */
struct group_mount {
	char *point;   /* directory */
	char *root;    /* path of the group that is mounted there */
	char *options; /* version 1: names of controllers among others; NULL: version 2 */
};

struct group_mounts {
	struct group_mount *item;
	size_t count, capacity;
};

/* Reads the mounts of wallsample. */
void group_mounts_read(struct group_mounts *mounts);
/* Adds the hierarchies of a text of mountinfo (proc_pid_mountinfo(5)), which is changed. */
void group_mounts_parse(struct group_mounts *mounts, char *text);
void group_mounts_release(struct group_mounts *mounts);
/* Returns true if the mount is of the hierarchy with these controllers: the text between the colons
 * of a line of /proc/PID/cgroup. */
bool group_mount_has(const struct group_mount *mount, const char *controllers, size_t length);
/* Returns the directory of the group with this path, which the caller frees; NULL: it is not below
 * the group that is mounted. */
char *group_mount_directory(const struct group_mount *mount, const char *path);
/* Returns the path of the group with this directory, which the caller frees; NULL: the directory is
 * not that of the mount or below it. */
char *group_mount_path(const struct group_mount *mount, const char *directory);

/* A walk over directories and those below them. All bytes zero: nothing is left. */
struct group_walk {
	char **directory; /* those that are left; owned */
	size_t count, capacity;
};

void group_walk_add(struct group_walk *walk, const char *directory);
/* Returns the next directory, which the caller frees, or NULL at the end. Those below it come
 * later, unless more than 65,536 are left. */
char *group_walk_next(struct group_walk *walk);
void group_walk_release(struct group_walk *walk);

/* --- process_set_groups.c -------------------------------------------------------------------- */

/* A group or a container. */
struct group_rule {
	char *text; /* as it was given; of a container the digits */
	char *path; /* of the group, without a slash at its end; NULL: a container */
	/* The hierarchy; NULL: any. */
	const struct group_mount *mount;
	bool exists; /* it has a directory, or had a process */
	bool met;    /* a process was in it */
};

struct group_rules {
	struct group_rule *rule;
	size_t count;
	struct group_mounts mounts;
	char **root; /* directories of the groups; owned */
	size_t root_count, root_capacity;
	struct group_walk walk; /* of the present reading of the lists of processes */
};

/* Finds the groups and containers of a configuration. Returns 0 or a negative error of
 * process_set_create(). */
int group_rules_init(struct group_rules *rules, const struct process_set_config *config,
		     struct error *err);
void group_rules_release(struct group_rules *rules);
/* Returns true if a process with this text of /proc/PID/cgroup is in one of the groups. Sets
 * rule->met of each that it is in. */
bool group_rules_match(struct group_rules *rules, const char *text);
/* Returns 0 if each group or container has had a process, or an error for the first one without. */
int group_rules_check(const struct group_rules *rules, struct error *err);

/* Begins to read the lists of processes of the groups. */
void group_rules_rewind(struct group_rules *rules);
/* Reads the list of the next group: ids as text, one on each line, which the caller frees; NULL: it
 * cannot be read. Returns false when all have been read. */
bool group_rules_next_list(struct group_rules *rules, char **text);

#endif
