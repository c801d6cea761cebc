/* SPDX-License-Identifier: MIT */
/*
 * debug_file_find.c - the places where debug files are, one after the other.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"

/* The hexadecimal digits of 64 bytes and a path around them. */
#define ID_PATH_MAX 192

/* Three bytes is what elfutils asks of a build-id; shorter ones say nothing. */
#define ID_MIN 3

/* Names in links are paths; longer ones could not be opened. */
#define LINK_MAX_SIZE (PATH_MAX + IMAGE_BUILD_ID_MAX)

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
	case ENODATA:
		return "it is truncated: it is empty";
	default: /* not there */
		return NULL;
	}
}

/* Is the file `below` the place, its prefix put before it, the one that is wanted? */
static bool
try_file(struct debug_files *files, const struct debug_place *place, const char *below,
	 const struct debug_want *want, struct debug_found *found)
{
	const char *why;
	struct strbuf path;
	bool good = false;
	size_t start;
	int fd;

	strbuf_init(&path);
	strbuf_add_text(&path, place->path);
	if (path.length == 0 || path.data[path.length - 1] != '/')
		strbuf_add_text(&path, "/");
	start = path.length;
	strbuf_add_text(&path, place->prefix);
	strbuf_add_text(&path, below + strspn(below, "/"));
	fd = debug_place_open(place, path.data + start);
	why = fd < 0 ? why_not_opened(errno) : NULL;
	if (fd >= 0)
		good = debug_accept(files, fd, path.data, want, found);
	else if (why != NULL)
		debug_files_warn(files, path.data, want->module, why);
	strbuf_release(&path);
	return good;
}

/* In hexadecimal, with the separator ("/" or "") behind the first byte. */
static void
id_text(char *to, const struct debug_want *want, const char *separator)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < want->id_size && i < IMAGE_BUILD_ID_MAX; i++) {
		*to++ = digit[want->id[i] >> 4];
		*to++ = digit[want->id[i] & 15];
		if (i == 0 && separator[0] != '\0')
			*to++ = separator[0];
	}
	*to = '\0';
}

/* .build-id/ab/cdef….debug, and the same without .build-id in a directory of the user's. */
static bool
find_by_id(struct debug_files *files, const struct debug_want *want, struct debug_found *found)
{
	char id[2 * IMAGE_BUILD_ID_MAX + 2], name[ID_PATH_MAX];

	if (want->id_size < ID_MIN)
		return false;
	id_text(id, want, "/");
	for (size_t i = 0; i < files->place_count; i++) {
		const struct debug_place *place = &files->place[i];

		snprintf(name, sizeof(name), ".build-id/%s.debug", id);
		if (try_file(files, place, name, want, found))
			return true;
		snprintf(name, sizeof(name), "%s.debug", id);
		if (place->trusted && try_file(files, place, name, want, found))
			return true;
	}
	return false;
}

/* What debuginfod's client has, and then what its servers have. */
static bool
find_by_debuginfod(struct debug_files *files, const struct debug_want *want,
		   struct debug_found *found)
{
	char id[2 * IMAGE_BUILD_ID_MAX + 2], name[ID_PATH_MAX];
	struct strbuf shown;
	char *path;
	int fd;

	if (want->id_size < ID_MIN)
		return false;
	id_text(id, want, "");
	snprintf(name, sizeof(name), "%s/debuginfo", id);
	if (files->cache.path != NULL) {
		/* An empty file there says that no server had it. */
		fd = debug_place_open(&files->cache, name);
		if (fd >= 0)
			close(fd);
		if (fd >= 0 && try_file(files, &files->cache, name, want, found))
			return true;
	}
	if (files->server == NULL)
		return false;
	strbuf_init(&shown);
	strbuf_add_escaped(&shown, want->module);
	fd = debug_server_fetch(files->server, want->id, want->id_size, shown.data, &path);
	strbuf_release(&shown);
	if (fd < 0)
		return false;
	if (debug_accept(files, fd, path != NULL ? path : name, want, found)) {
		free(path);
		return true;
	}
	free(path);
	return false;
}

/* --- .gnu_debuglink ----------------------------------------------------------------- */

/* Name, zero, padding to four bytes, CRC (GDB manual, "Separate Debug Files"). */
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

/* In the directory that the module's path names, or its `sub` directory ("" or ".debug/"). */
static bool
try_link(struct debug_files *files, const struct debug_place *place, const struct module *module,
	 const char *sub, const char *name, const struct debug_want *want,
	 struct debug_found *found)
{
	const char *slash = strrchr(module->path, '/');
	struct strbuf below;
	bool good;

	if (module->path[0] != '/' || slash == NULL)
		return false;
	strbuf_init(&below);
	strbuf_add(&below, module->path, (size_t)(slash - module->path) + 1);
	strbuf_add_text(&below, sub);
	strbuf_add_text(&below, name);
	/* A link to the file itself is a mistake of whoever made it. */
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

/* The same file, not stripped, below --symfs. */
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
	   struct debug_found *found)
{
	const struct debug_want want = {
		.module = module->name,
		.id = module->image->build_id,
		.id_size = module->image->build_id_size,
		.machine = module->image->machine,
	};

	*found = (struct debug_found){ .fd = -1 };
	return find_by_id(files, &want, found) || find_by_link(files, module, own, &want, found) ||
	       find_whole(files, module, &want, found) || find_by_debuginfod(files, &want, found);
}

/* --- .gnu_debugaltlink ---------------------------------------------------------------- */

/*
 * The path in the link, plain: relative ones start where the file that has the link is. NULL
 * when that is not known.
 */
static char *
path_of_link(const char *link, int fd)
{
	char name[48], user[PATH_MAX];
	struct strbuf path;
	char *plain;
	ssize_t n;

	if (link[0] == '/')
		return debug_path_plain(link);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, user, sizeof(user) - 1);
	if (n <= 0 || user[0] != '/')
		return NULL;
	user[n] = '\0';
	strbuf_init(&path);
	strbuf_add(&path, user, (size_t)(strrchr(user, '/') - user) + 1);
	strbuf_add_text(&path, link);
	plain = debug_path_plain(path.data);
	strbuf_release(&path);
	return plain;
}

/* Only when it is below a directory of debug files: what the link says could be anything. */
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

/* DIR/.dwz/… with the end of the link's path, for a DIR that is not where it was made for. */
static bool
find_in_dwz(struct debug_files *files, const char *link, const struct debug_want *want,
	    struct debug_found *found)
{
	const char *tail = strstr(link, "/.dwz/");
	const char *slash = strrchr(link, '/');
	struct strbuf name;
	bool good = false;

	strbuf_init(&name);
	strbuf_add_text(&name, ".dwz/");
	strbuf_add_text(&name, slash != NULL ? slash + 1 : link);
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
	/* Compilers are called with -o ../obj/a.o, too. */
	char *below = debug_path_plain(path);
	const char *slash;
	int fd = -1;

	if (below == NULL)
		return -1;
	slash = strrchr(below, '/');
	for (size_t i = 0; i < files->root_count && fd < 0; i++)
		fd = debug_place_open(&files->root[i], below);
	/* What --debug-dir names is whole trees, or just the files. */
	for (size_t i = 0; i < files->place_count && fd < 0; i++) {
		if (!files->place[i].trusted)
			continue;
		fd = debug_place_open(&files->place[i], below);
		if (fd < 0 && slash != NULL)
			fd = debug_place_open(&files->place[i], slash + 1);
	}
	free(below);
	return fd;
}
