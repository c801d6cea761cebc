/* SPDX-License-Identifier: MIT */
/* module_dumped.c - modules of core files; a file is used if it is the one that was mapped. */
#include "process/module_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* Bytes of the beginning that are compared: code behind them may contain breakpoints. */
#define COMPARE_SIZE ((size_t)4096)

static const char other_build[] = "another build of it stands there";

/* Evidence about the mapped file in the memory of the process. */
struct evidence {
	const struct dumped_module *dumped;
	struct image *head; /* of its first bytes; NULL: not in the core, or not ELF */
};

static bool
begins_alike(const struct image *image, const struct dumped_module *dumped)
{
	uint8_t ours[COMPARE_SIZE];
	size_t size = dumped->head_size < COMPARE_SIZE ? dumped->head_size : COMPARE_SIZE;

	if (size > image->size)
		size = (size_t)image->size;
	return image_read_offset(image, 0, ours, size) && memcmp(ours, dumped->head, size) == 0;
}

/*
 * Compares the build-id or, without one, the first page, which contains the sizes of all parts of
 * the file. When the core has neither, a file that was not deleted is accepted.
 */
static bool
is_same_file(const struct evidence *evidence, const struct image *image, bool deleted)
{
	const struct image *head = evidence->head;

	if (head != NULL && head->build_id_size > 0)
		return head->build_id_size == image->build_id_size &&
		       memcmp(head->build_id, image->build_id, head->build_id_size) == 0;
	if (evidence->dumped->head_size > 0)
		return begins_alike(image, evidence->dumped);
	return !deleted;
}

/* Returns the image if it is the mapped one; else frees it and sets *why. */
static struct image *
accept(const struct evidence *evidence, struct image *image, bool deleted, const char **why)
{
	if (image == NULL)
		return NULL;
	if (is_same_file(evidence, image, deleted))
		return image;
	image_free(image);
	*why = other_build;
	return NULL;
}

/* Opens a path from the core: follows no links, and opens only regular files. */
static struct image *
open_strictly(const char *path, const char **why)
{
	const int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct image *image;
	int fd = -1;

	if (root >= 0) {
		fd = module_file_name_below(root, path);
		if (fd < 0 && errno == ENOSYS)
			fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		close(root);
	}
	fd = file_open_named(fd);
	if (fd < 0) {
		*why = module_file_why(errno);
		return NULL;
	}
	image = image_open_fd(fd);
	if (image == NULL)
		*why = "not an ELF file";
	return image;
}

/* Opens a file that the user has named, or one below a directory that the user has named. */
static struct image *
open_named(const char *folder, const char *path, const char **why)
{
	struct strbuf name;
	struct image *image = NULL;
	int fd;

	strbuf_init(&name);
	strbuf_add_format(&name, "%s%s", folder, path);
	fd = file_open_named(open(name.data, O_PATH | O_CLOEXEC));
	if (fd < 0)
		*why = module_file_why(errno);
	else if ((image = image_open_fd(fd)) == NULL)
		*why = "not an ELF file";
	strbuf_release(&name);
	return image;
}

static struct image *
find_image(const struct evidence *evidence, const char *path, bool deleted, const char **why)
{
	const struct dumped_module *dumped = evidence->dumped;
	const char *why_there = NULL;
	struct image *image = NULL;

	/* A file named by the user precedes the path. */
	if (dumped->file != NULL)
		return accept(evidence, open_named("", dumped->file, why), false, why);
	if (path[0] != '/') {
		*why = "not a file with a path";
		return NULL;
	}
	if (dumped->symfs != NULL)
		image = accept(evidence, open_named(dumped->symfs, path, why), deleted, why);
	if (image == NULL)
		image = accept(evidence, open_strictly(path, &why_there), deleted, &why_there);
	if (*why != other_build)
		*why = why_there;
	if (deleted)
		*why = "it was deleted or replaced while the process ran";
	return image;
}

static void
open_file(struct module *module, const struct dumped_module *dumped)
{
	struct evidence evidence = { .dumped = dumped };

	if (dumped->head_size > 0)
		evidence.head = image_open_memory(dumped->head, dumped->head_size);
	module->image = find_image(&evidence, module->path, module->deleted, &module->why);
	module->kind = module->image != NULL ? MODULE_FILE : MODULE_OTHER;
	if (module->image != NULL)
		module->why = NULL;
	for (size_t i = 0; evidence.head != NULL && i < evidence.head->build_id_size; i++)
		snprintf(module->build_id + 2 * i, 3, "%02x", evidence.head->build_id[i]);
	image_free(evidence.head);
}

struct module *
module_dumped_create(const struct dumped_module *dumped, char *path, bool deleted)
{
	struct module *module = xcalloc(1, sizeof(*module));
	const char *slash = strrchr(path, '/');

	module->path = path;
	module->name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
	module->deleted = deleted;
	module->kind = dumped->kind;
	if (dumped->kind == MODULE_FILE) {
		open_file(module, dumped);
	} else if (dumped->kind == MODULE_VDSO) {
		module->image = image_open_memory(dumped->head, dumped->head_size);
		if (module->image == NULL)
			module->kind = MODULE_OTHER;
	}
	if (module->kind == MODULE_OTHER && module->why == NULL)
		module->why = "the core file does not have it";
	return module;
}
