/* SPDX-License-Identifier: MIT */
/*
 * debug_file_find.c - opens regular files below a directory, and searches for debug files in the
 * order that debug_file.h describes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"

/* Size in bytes of the array for a path that consists of the hexadecimal digits of a build-id and a
 * few directories. */
#define ID_PATH_MAX (2 * IMAGE_BUILD_ID_MAX + 64)

/* Least number of bytes of a build-id by which a file is searched; elfutils requires three, too. */
#define ID_MIN 3

/* Largest size in bytes of .gnu_debuglink and .gnu_debugaltlink: a path and a build-id. */
#define LINK_MAX_SIZE (PATH_MAX + IMAGE_BUILD_ID_MAX)

/* --- files below a directory ------------------------------------------------------------ */

/* Opens for reading the file of the O_PATH descriptor `named`, if it is a regular file that is not
 * empty, and closes `named`. Returns a descriptor, or -1 with errno. */
static int
open_regular(int named)
{
	struct stat st;

	if (named >= 0 && fstat(named, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) {
		close(named);
		errno = ENODATA;
		return -1;
	}
	return file_open_named(named);
}

/* Opens with O_PATH the file with the path `below` relative to the directory `top`, following no
 * symbolic link. Returns a descriptor, or -1 with errno. */
static int
walk_down(int top, const char *below)
{
	int fd = fcntl(top, F_DUPFD_CLOEXEC, 0);

	below += strspn(below, "/");
	while (fd >= 0 && *below != '\0') {
		const size_t length = strcspn(below, "/");
		const char *next = below + length + strspn(below + length, "/");
		const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC |
				  (*next != '\0' ? O_DIRECTORY : 0);
		char *name = xstrndup(below, length);
		const int dir = fd;
		int error;

		fd = openat(dir, name, flags);
		error = errno;
		free(name);
		close(dir);
		errno = error;
		below = next;
	}
	return fd;
}

static bool
has_dots(const char *path)
{
	while (*path != '\0') {
		const size_t length = strcspn(path, "/");

		if (length == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += length + (path[length] == '/');
	}
	return false;
}

int
debug_place_open(const struct debug_place *place, const char *below, struct strbuf *path)
{
	const size_t length = strlen(place->path);
	const bool has_slash = length > 0 && place->path[length - 1] == '/';
	size_t start;

	if (place->opener != NULL)
		return place->opener->open(place->opener->context, place->number, below, path);
	strbuf_clear(path);
	strbuf_add_format(path, "%s%s", place->path, has_slash ? "" : "/");
	start = path->length;
	strbuf_add_format(path, "%s%s", place->prefix, below + strspn(below, "/"));
	if (has_dots(path->data + start) || path->length - start >= PATH_MAX) {
		errno = path->length - start >= PATH_MAX ? EOVERFLOW : EXDEV;
		return -1;
	}
	return open_regular(place->trusted ? open(path->data, O_PATH | O_CLOEXEC) :
					     walk_down(place->top, path->data + start));
}

/* Returns the path without "." and "..", and without a slash at the beginning; the caller frees it.
 * Returns NULL when ".." leads above the first directory. */
static char *
plain_path(const char *path)
{
	struct strbuf plain = STRBUF_INIT;

	strbuf_add_text(&plain, "");
	while (*path != '\0') {
		const size_t length = strcspn(path, "/");

		if (length == 2 && memcmp(path, "..", 2) == 0) {
			const char *slash = strrchr(plain.data, '/');

			if (plain.length == 0) {
				strbuf_release(&plain);
				return NULL;
			}
			plain.length = slash != NULL ? (size_t)(slash - plain.data) : 0;
			plain.data[plain.length] = '\0';
		} else if (length > 0 && !(length == 1 && path[0] == '.')) {
			strbuf_add_text(&plain, plain.length > 0 ? "/" : "");
			strbuf_add(&plain, path, length);
		}
		path += length + (path[length] == '/');
	}
	return plain.data;
}

/* --- build-ids -------------------------------------------------------------------------- */

/* Returns the reason, for a warning, why a file could not be opened; NULL when the file does not
 * exist, which needs no warning. */
static const char *
why_not_opened(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "not permitted to read it";
	case EINVAL:
		return "it is no regular file";
	case EIO:
		return "it cannot be read";
	case ELOOP:
		return "it is a symbolic link, which is not followed there";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENOEXEC:
		return "it is not an ELF file of a 64-bit little-endian machine";
	case EOVERFLOW:
		return "its path is too long";
	case ENODATA:
		return "it is truncated: it is empty";
	case EXDEV:
		return "its path has \"..\", which is not followed there";
	default:
		return NULL;
	}
}

/* Opens the file with the path `below` relative to the place, and checks it; true when it is the
 * wanted debug file. */
static bool
try_file(struct debug_files *files, const struct debug_place *place, const char *below,
	 const struct debug_want *want, struct debug_found *found)
{
	struct strbuf path = STRBUF_INIT;
	const char *why;
	bool good = false;
	int fd;

	fd = debug_place_open(place, below, &path);
	why = fd < 0 ? why_not_opened(errno) : NULL;
	if (fd >= 0)
		good = debug_accept(files, fd, path.data, want, found);
	else if (why != NULL)
		debug_files_warn(files, path.data, want->module, why);
	strbuf_release(&path);
	return good;
}

/* Writes the build-id in hexadecimal. */
static void
id_text(char to[2 * IMAGE_BUILD_ID_MAX + 1], const struct debug_want *want)
{
	*to = '\0';
	for (size_t i = 0; i < want->id_size && i < IMAGE_BUILD_ID_MAX; i++)
		snprintf(to + 2 * i, 3, "%02x", want->id[i]);
}

/* Tries .build-id/ab/cdef….debug in all places, and ab/cdef….debug in trusted places (--debug-dir,
 * /usr/lib/debug). */
static bool
find_by_id(struct debug_files *files, const struct debug_want *want, struct debug_found *found)
{
	char id[2 * IMAGE_BUILD_ID_MAX + 1], name[ID_PATH_MAX];

	if (want->id_size < ID_MIN)
		return false;
	id_text(id, want);
	snprintf(name, sizeof(name), ".build-id/%.2s/%s.debug", id, id + 2);
	for (size_t i = 0; i < files->place_count; i++) {
		const struct debug_place *place = &files->place[i];

		if (try_file(files, place, name, want, found) ||
		    (place->trusted &&
		     try_file(files, place, name + strlen(".build-id/"), want, found)))
			return true;
	}
	return false;
}

int
debug_files_fetch(struct debug_files *files, const uint8_t *id, size_t id_size, const char *name,
		  char **path)
{
	const struct debug_opener *opener = files->opener;

	*path = NULL;
	if (opener != NULL)
		return opener->fetch(opener->context, id, id_size, name, path);
	if (files->server != NULL)
		return debug_server_fetch(files->server, id, id_size, name, path);
	errno = ENOENT;
	return -1;
}

/* Tries the cache of debuginfod's client, then its servers. */
static bool
find_by_debuginfod(struct debug_files *files, const struct debug_want *want,
		   struct debug_found *found)
{
	char id[2 * IMAGE_BUILD_ID_MAX + 1], name[ID_PATH_MAX];
	struct strbuf cached = STRBUF_INIT;
	bool good = false;
	char *path = NULL;
	int fd = -1;

	if (want->id_size < ID_MIN)
		return false;
	id_text(id, want);
	snprintf(name, sizeof(name), "%s/debuginfo", id);
	/* An empty file in the cache means that no server had the file. debug_place_open() refuses
	 * it, and no warning is logged. */
	if (files->cache.path != NULL)
		fd = debug_place_open(&files->cache, name, &cached);
	if (fd >= 0)
		good = debug_accept(files, fd, cached.data, want, found);
	strbuf_release(&cached);
	if (good || files->server == NULL)
		return good;
	fd = debug_files_fetch(files, want->id, want->id_size, want->module, &path);
	if (fd >= 0)
		good = debug_accept(files, fd, path != NULL ? path : name, want, found);
	free(path);
	return good;
}

/* --- .gnu_debuglink ----------------------------------------------------------------- */

/*
 * Reads .gnu_debuglink, which has a file name, a zero, padding to a multiple of four bytes, and a
 * CRC (GDB manual, "Separate Debug Files"). Returns the name and stores the CRC in *want; NULL when
 * there is no valid section.
 */
static const char *
read_link(Elf *own, struct debug_want *want)
{
	size_t size, length, at;
	const uint8_t *bytes = debug_section_bytes(own, ".gnu_debuglink", LINK_MAX_SIZE, &size);
	const char *name = (const char *)bytes;

	if (bytes == NULL)
		return NULL;
	length = strnlen(name, size);
	at = (length + 4) & ~(size_t)3;
	if (length == 0 || at + sizeof(want->crc) > size || strchr(name, '/') != NULL ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return NULL;
	memcpy(&want->crc, bytes + at, sizeof(want->crc));
	want->has_crc = true;
	return name;
}

/* Tries the file `name` in the directory of the module's path, below the place; if `sub` is
 * ".debug/", in that subdirectory of the directory. */
static bool
try_link(struct debug_files *files, const struct debug_place *place, const struct module *module,
	 const char *sub, const char *name, const struct debug_want *want,
	 struct debug_found *found)
{
	const char *slash = strrchr(module->path, '/');
	struct strbuf below = STRBUF_INIT;
	bool good;

	if (module->path[0] != '/' || slash == NULL)
		return false;
	strbuf_add_format(&below, "%.*s/%s%s", (int)(slash - module->path), module->path, sub,
			  name);
	/* The module itself is not tried: a link from a file to itself is a packaging mistake. */
	good = strcmp(below.data, module->path) != 0 &&
	       try_file(files, place, below.data, want, found);
	strbuf_release(&below);
	return good;
}

static bool
find_by_link(struct debug_files *files, const struct module *module, Elf *own,
	     const struct debug_want *by_id, struct debug_found *found)
{
	struct debug_want want = *by_id;
	const char *name = read_link(own, &want);

	if (name == NULL)
		return false;
	for (size_t i = 0; i < files->place_count; i++) {
		const struct debug_place *place = &files->place[i];

		if (try_link(files, place, module, "", name, &want, found) ||
		    (place->trusted && try_file(files, place, name, &want, found)))
			return true;
	}
	for (size_t i = 0; i < files->root_count; i++)
		if (try_link(files, &files->root[i], module, "", name, &want, found) ||
		    try_link(files, &files->root[i], module, ".debug/", name, &want, found))
			return true;
	return false;
}

/* Tries the copy of the module itself below --symfs, if the module has a build-id by which the copy
 * can be checked. The copy may have the symbols and the DWARF that the module lacks. */
static bool
find_whole(struct debug_files *files, const struct module *module, const struct debug_want *want,
	   struct debug_found *found)
{
	if (files->config.symfs == NULL || module->path[0] != '/' || want->id_size == 0)
		return false;
	return try_file(files, &files->root[files->root_count - 1], module->path, want, found);
}

bool
debug_find(struct debug_files *files, const struct module *module, Elf *own,
	   const struct debug_want *want, struct debug_found *found)
{
	*found = (struct debug_found){ .fd = -1 };
	return find_by_id(files, want, found) || find_by_link(files, module, own, want, found) ||
	       find_whole(files, module, want, found) || find_by_debuginfod(files, want, found);
}

/* --- .gnu_debugaltlink ---------------------------------------------------------------- */

/*
 * Returns the path in .gnu_debugaltlink (`link`) without "." and ".."; the caller frees it. A
 * relative path starts in the directory of the file that has the section, which is open as `fd`.
 * Returns NULL when this directory is not known.
 */
static char *
path_of_link(const char *link, int fd)
{
	char name[48], user[PATH_MAX];
	struct strbuf path = STRBUF_INIT;
	char *plain;
	ssize_t n;

	if (link[0] == '/')
		return plain_path(link);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, user, sizeof(user) - 1);
	if (n <= 0 || user[0] != '/')
		return NULL;
	user[n] = '\0';
	*strrchr(user, '/') = '\0';
	strbuf_add_format(&path, "%s/%s", user, link);
	plain = plain_path(path.data);
	strbuf_release(&path);
	return plain;
}

/* Tries the path from .gnu_debugaltlink, but only if it is below a directory of debug files: the
 * section could name any file. */
static bool
find_below(struct debug_files *files, const char *path, const struct debug_want *want,
	   struct debug_found *found)
{
	for (size_t i = 0; path != NULL && i < files->place_count; i++) {
		const struct debug_place *place = &files->place[i];
		const char *top = place->trusted ? place->path : place->prefix;
		const size_t skip = strspn(top, "/");
		size_t length = strlen(top + skip);

		while (length > 0 && top[skip + length - 1] == '/')
			length--;
		if (length > 0 && strncmp(path, top + skip, length) == 0 && path[length] == '/' &&
		    try_file(files, place, path + length + 1, want, found))
			return true;
	}
	return false;
}

/*
 * In each directory of debug files, tries the part of the link (.gnu_debugaltlink) from ".dwz/" on,
 * then ".dwz/" with the last component of the link: the directories may have been moved after dwz
 * ran.
 */
static bool
find_in_dwz(struct debug_files *files, const char *link, const struct debug_want *want,
	    struct debug_found *found)
{
	const char *tail = strstr(link, "/.dwz/");
	const char *slash = strrchr(link, '/');
	struct strbuf name = STRBUF_INIT;
	bool good = false;

	strbuf_add_format(&name, ".dwz/%s", slash != NULL ? slash + 1 : link);
	for (size_t i = 0; i < files->place_count && !good; i++)
		good = (tail != NULL && try_file(files, &files->place[i], tail + 1, want, found)) ||
		       try_file(files, &files->place[i], name.data, want, found);
	strbuf_release(&name);
	return good;
}

bool
debug_find_alternate(struct debug_files *files, const struct debug_want *user, Elf *elf, int fd,
		     struct debug_found *found)
{
	struct debug_want want = { .module = user->module, .machine = user->machine };
	size_t size, length;
	const uint8_t *bytes = debug_section_bytes(elf, ".gnu_debugaltlink", LINK_MAX_SIZE, &size);
	const char *link = (const char *)bytes;
	char *path;
	bool good;

	*found = (struct debug_found){ .fd = -1 };
	if (bytes == NULL)
		return false;
	length = strnlen(link, size);
	if (length == 0 || length >= size || size - length - 1 < ID_MIN ||
	    size - length - 1 > IMAGE_BUILD_ID_MAX)
		return false;
	want.id = bytes + length + 1;
	want.id_size = size - length - 1;
	path = path_of_link(link, fd);
	good = find_by_id(files, &want, found) || find_below(files, path, &want, found) ||
	       find_in_dwz(files, link, &want, found) || find_by_debuginfod(files, &want, found);
	if (!good)
		debug_files_warn(files, link, user->module,
				 "it is in no directory of debug files (dwz moved parts of the "
				 "DWARF there)");
	free(path);
	return good;
}

/* --- .dwo ----------------------------------------------------------------------------- */

int
debug_find_by_path(struct debug_files *files, const char *path)
{
	/* Paths may contain "..": compilers are also called with -o ../obj/a.o. */
	char *below = strlen(path) < PATH_MAX ? plain_path(path) : NULL;
	const char *slash;
	struct strbuf opened = STRBUF_INIT;
	int fd = -1;

	if (below == NULL)
		return -1;
	slash = strrchr(below, '/');
	for (size_t i = 0; i < files->root_count && fd < 0; i++)
		fd = debug_place_open(&files->root[i], below, &opened);
	/* A --debug-dir directory has the files either at their whole paths or, without any
	 * directories, in itself. */
	for (size_t i = 0; i < files->place_count && fd < 0; i++) {
		if (!files->place[i].trusted)
			continue;
		fd = debug_place_open(&files->place[i], below, &opened);
		if (fd < 0 && slash != NULL)
			fd = debug_place_open(&files->place[i], slash + 1, &opened);
	}
	strbuf_release(&opened);
	free(below);
	return fd;
}
