/* SPDX-License-Identifier: MIT */
/* distribution.c - finds the package of a file in the lists of dpkg(1), and a debuginfod server. */
#include "wallsample/dwarf/distribution.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- debuginfod -------------------------------------------------------------------------- */

/* Addresses of debuginfod servers by distribution: `id` is the ID of os-release(5). */
static const struct {
	const char *id, *server;
} debuginfod_servers[] = {
	{ "debian", "https://debuginfod.debian.net" },
	{ "ubuntu", "https://debuginfod.ubuntu.com" },
	{ "fedora", "https://debuginfod.fedoraproject.org" },
	{ "arch", "https://debuginfod.archlinux.org" },
	{ "opensuse", "https://debuginfod.opensuse.org" },
};

const char *
distribution_debuginfod(void)
{
	const char *server = "https://debuginfod.elfutils.org";
	FILE *file = fopen("/etc/os-release", "re");
	char line[256], id[64];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "ID=", 3) != 0)
			continue;
		snprintf(id, sizeof(id), "%s", line + 3 + (line[3] == '"'));
		id[strcspn(id, "\"-\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(debuginfod_servers); i++)
			if (strcmp(id, debuginfod_servers[i].id) == 0)
				server = debuginfod_servers[i].server;
	}
	if (file != NULL)
		fclose(file);
	return server;
}

/* --- packages ---------------------------------------------------------------------------- */

/* One file for each package, PACKAGE.list or PACKAGE:ARCHITECTURE.list, with the paths of its
 * files, a line each: dpkg(1), FILES. */
#define LISTS "/var/lib/dpkg/info"
#define LIST_ENDING ".list"
/* Larger lists are not read. The lists of all packages of Debian 12 are smaller than 10 MB. */
#define LIST_LIMIT (16 << 20)

/* True if `text`, the lines of a list, has the path. */
static bool
has_line(const char *text, const char *path)
{
	const size_t length = strlen(path);

	for (const char *at = strstr(text, path); at != NULL; at = strstr(at + 1, path))
		if ((at == text || at[-1] == '\n') && (at[length] == '\n' || at[length] == '\0'))
			return true;
	return false;
}

/* True if the list has the path, or the path that it had before /lib became a link to /usr/lib. */
static bool
list_has(const char *text, const char *path)
{
	const bool merged = strncmp(path, "/usr/", strlen("/usr/")) == 0;

	return has_line(text, path) || (merged && has_line(text, path + strlen("/usr")));
}

/* Returns the debug package of a package: that of the C library has an older form of name. The
 * caller frees the result. */
static char *
debug_package_of(const char *list)
{
	const size_t length = strcspn(list, ":");
	const size_t name = length < strlen(list) ? length : strlen(list) - strlen(LIST_ENDING);
	const bool libc = name == strlen("libc6") && strncmp(list, "libc6", name) == 0;
	struct strbuf text = STRBUF_INIT;

	strbuf_add(&text, list, name);
	strbuf_add_text(&text, libc ? "-dbg" : "-dbgsym");
	return text.data;
}

static bool
ends_list(const char *name)
{
	const size_t length = strlen(name), ending = strlen(LIST_ENDING);

	return length > ending && strcmp(name + length - ending, LIST_ENDING) == 0;
}

void
distribution_find_debug_packages(const char *const *path, size_t count, char **package)
{
	DIR *lists = opendir(LISTS);
	const struct dirent *entry;

	memset(package, 0, count * sizeof(*package));
	while (lists != NULL && (entry = readdir(lists)) != NULL) {
		char *text = ends_list(entry->d_name) ?
				     file_read_text(dirfd(lists), entry->d_name, LIST_LIMIT, NULL) :
				     NULL;

		for (size_t i = 0; text != NULL && i < count; i++)
			if (package[i] == NULL && list_has(text, path[i]))
				package[i] = debug_package_of(entry->d_name);
		free(text);
	}
	if (lists != NULL)
		closedir(lists);
}
