/* SPDX-License-Identifier: MIT */
/* group_tree.c - mounted hierarchies of control groups, and their directories. */
#include "process/process_groups_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Largest size of mountinfo that is read: machines with many containers have thousands of lines. */
#define MOUNTINFO_LIMIT ((size_t)16 << 20)
/* Most directories that a walk remembers. */
#define WALK_MOST ((size_t)65536)

/* --- mounts -------------------------------------------------------------------------------- */

/* Replaces the octal escapes of mountinfo, such as "\040" for a space. */
static char *
unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; to++) {
		if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return text;
}

/* Parses a line: id, parent, device, root, mount point, options, optional fields, "-", type,
 * source, options of the file system. */
static void
parse_mount(struct group_mounts *mounts, char *line)
{
	char *field[6] = { NULL }, *tail = strstr(line, " - ");
	char *type, *options;
	bool second;

	if (tail == NULL)
		return;
	*tail = '\0';
	tail += strlen(" - ");
	for (size_t i = 0; i < ARRAY_SIZE(field) && line != NULL; i++)
		field[i] = strsep(&line, " ");
	type = strsep(&tail, " ");
	strsep(&tail, " ");
	options = tail;
	if (field[5] == NULL || options == NULL || strncmp(type, "cgroup", strlen("cgroup")) != 0)
		return;
	second = strcmp(type, "cgroup2") == 0;
	mounts->item = xgrow(mounts->item, &mounts->capacity, mounts->count + 1,
			     sizeof(*mounts->item));
	mounts->item[mounts->count++] = (struct group_mount){ .point = xstrdup(unescape(field[4])),
							      .root = xstrdup(unescape(field[3])),
							      .options = second ?
										 NULL :
										 xstrdup(options) };
}

void
group_mounts_parse(struct group_mounts *mounts, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL)
		parse_mount(mounts, line);
}

void
group_mounts_read(struct group_mounts *mounts)
{
	char *text = file_read_text(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_LIMIT, NULL);

	if (text != NULL)
		group_mounts_parse(mounts, text);
	free(text);
}

void
group_mounts_release(struct group_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->item[i].point);
		free(mounts->item[i].root);
		free(mounts->item[i].options);
	}
	free(mounts->item);
	*mounts = (struct group_mounts){ .item = NULL };
}

bool
group_mount_has(const struct group_mount *mount, const char *controllers, size_t length)
{
	const char *option = mount->options;
	/* One controller is enough: each is in one hierarchy. */
	const size_t first = strcspn(controllers, ",:");

	if (length == 0 || option == NULL)
		return length == 0 && option == NULL;
	while (*option != '\0') {
		const size_t size = strcspn(option, ",");

		if (size == (first < length ? first : length) &&
		    strncmp(option, controllers, size) == 0)
			return true;
		option += size + (option[size] == ',');
	}
	return false;
}

/* --- paths and directories ----------------------------------------------------------------- */

/* Returns what follows `above` in a path: "" or "/…"; NULL if the path is not `above` or below it.
 */
static const char *
path_below(const char *path, const char *above)
{
	const size_t length = strcmp(above, "/") == 0 ? 0 : strlen(above);

	if (strncmp(path, above, length) != 0 || (path[length] != '\0' && path[length] != '/'))
		return NULL;
	return strcmp(path + length, "/") == 0 ? "" : path + length;
}

static char *
path_join(const char *above, const char *below)
{
	struct strbuf sb = STRBUF_INIT;

	if (strcmp(above, "/") != 0 || below[0] == '\0')
		strbuf_add_text(&sb, above);
	strbuf_add_text(&sb, below);
	return sb.data;
}

char *
group_mount_directory(const struct group_mount *mount, const char *path)
{
	const char *below = path_below(path, mount->root);

	return below != NULL ? path_join(mount->point, below) : NULL;
}

char *
group_mount_path(const struct group_mount *mount, const char *directory)
{
	const char *below = path_below(directory, mount->point);

	return below != NULL ? path_join(mount->root, below) : NULL;
}

/* --- walk ---------------------------------------------------------------------------------- */

void
group_walk_add(struct group_walk *walk, const char *directory)
{
	if (walk->count >= WALK_MOST)
		return;
	walk->directory = xgrow(walk->directory, &walk->capacity, walk->count + 1,
				sizeof(*walk->directory));
	walk->directory[walk->count++] = xstrdup(directory);
}

char *
group_walk_next(struct group_walk *walk)
{
	const struct dirent *entry;
	char *directory;
	DIR *opened;

	if (walk->count == 0)
		return NULL;
	directory = walk->directory[--walk->count];
	opened = opendir(directory);
	while (opened != NULL && (entry = readdir(opened)) != NULL) {
		struct strbuf below = STRBUF_INIT;

		/* The file systems of control groups store the type of each entry. */
		if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		strbuf_add_format(&below, "%s/%s", directory, entry->d_name);
		group_walk_add(walk, below.data);
		strbuf_release(&below);
	}
	if (opened != NULL)
		closedir(opened);
	return directory;
}

void
group_walk_release(struct group_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++)
		free(walk->directory[i]);
	free(walk->directory);
	*walk = (struct group_walk){ .directory = NULL };
}
