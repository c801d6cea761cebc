/* SPDX-License-Identifier: MIT */
/*
 * output_folder.c - opens the folder of the output file without following links that another user
 * could have created.
 *
 * With -o /tmp/x/report, another user could replace /tmp/x by a link and make root create files
 * anywhere. So as root the path is walked part by part, and only links that belong to root are
 * followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli_internal.h"

#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* Most links followed: the kernel's own limit (MAXSYMLINKS of namei.h). */
#define LINKS_MOST 40

struct walk {
	int fd;     /* the folder reached */
	char *rest; /* the part of the path that is not walked yet */
	unsigned links;
	const char *path; /* for messages */
};

static int
folder_refuse(const char *path, const char *what, struct error *err)
{
	return error_set(err, ERROR_OUTPUT, "cannot write to %s: %s", path, what);
}

/* Starts at the root directory if the rest is absolute, else continues. */
static bool
move_to_start(struct walk *walk)
{
	int fd = walk->rest[0] == '/' ? open("/", FOLDER_FLAGS) : walk->fd;

	if (fd != walk->fd && walk->fd >= 0)
		close(walk->fd);
	walk->fd = fd;
	return fd >= 0;
}

/* Replaces the name of the link by its target. */
static int
follow_link(struct walk *walk, int link, const char *name, const char *behind, struct error *err)
{
	char target[PATH_MAX];
	struct strbuf rest = STRBUF_INIT;
	struct stat info;
	ssize_t length;

	if (fstat(link, &info) != 0)
		return folder_refuse(walk->path, strerror(errno), err);
	if (info.st_uid != 0)
		return error_set(err, ERROR_OUTPUT,
				 "cannot write to %s: '%s' in it is a symbolic link that does not "
				 "belong to root, and root should not follow it; name the folder "
				 "that it points to",
				 walk->path, name);
	if (++walk->links > LINKS_MOST)
		return folder_refuse(walk->path, strerror(ELOOP), err);
	length = readlinkat(link, "", target, sizeof(target) - 1);
	if (length < 0)
		return folder_refuse(walk->path, strerror(errno), err);
	strbuf_add(&rest, target, (size_t)length);
	strbuf_add_format(&rest, "/%s", behind);
	free(walk->rest);
	walk->rest = rest.data;
	return move_to_start(walk) ? 0 : folder_refuse(walk->path, strerror(errno), err);
}

/* Opens the first component of the rest. */
static int
walk_step(struct walk *walk, struct error *err)
{
	char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");
	char *name = xstrndup(start, length), *behind = xstrdup(start + length);
	int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	int rc = 0;

	if (fd < 0 || fstat(fd, &info) != 0) {
		rc = folder_refuse(walk->path, strerror(errno), err);
	} else if (S_ISLNK(info.st_mode)) {
		rc = follow_link(walk, fd, name, behind, err);
	} else if (!S_ISDIR(info.st_mode)) {
		rc = folder_refuse(walk->path, strerror(ENOTDIR), err);
	} else {
		close(walk->fd);
		walk->fd = fd;
		fd = -1;
		free(walk->rest);
		walk->rest = behind;
		behind = NULL;
	}
	if (fd >= 0)
		close(fd);
	free(name);
	free(behind);
	return rc;
}

static int
open_as_root(const char *folder, const char *path, struct error *err)
{
	struct walk walk = { open(".", FOLDER_FLAGS), xstrdup(folder), 0, path };
	int rc = 0;

	if (walk.fd < 0 || !move_to_start(&walk))
		rc = folder_refuse(path, strerror(errno), err);
	while (rc == 0 && walk.rest[strspn(walk.rest, "/")] != '\0')
		rc = walk_step(&walk, err);
	free(walk.rest);
	if (rc == 0)
		return walk.fd;
	if (walk.fd >= 0)
		close(walk.fd);
	return rc;
}

int
output_folder_open(const char *path, char **base, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL ? xstrdup(".") : xstrndup(path, (size_t)(slash + 1 - path));
	int fd;

	*base = xstrdup(slash != NULL ? slash + 1 : path);
	if (geteuid() == 0)
		fd = open_as_root(folder, path, err);
	else if ((fd = open(folder, FOLDER_FLAGS)) < 0)
		fd = folder_refuse(path, strerror(errno), err);
	free(folder);
	return fd;
}
