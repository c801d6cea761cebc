/* SPDX-License-Identifier: MIT */
/*
 * module_stored.c - modules of core files and recordings. A file of this machine is used only when
 * it is the one that was mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "process/process_internal.h"

/* Number of bytes at the beginning of the file that are compared: later bytes are code, which may
 * contain breakpoints. */
#define COMPARE_SIZE ((size_t)4096)

static const char other_build[] = "another build of it stands there";

/* The facts about the mapped file in the core file or recording, and what an image needs. */
struct evidence {
	struct image_cache *cache; /* of an image that is opened; NULL: too many files are open */
	const char *build_id;      /* in hexadecimal digits; "": not known */
	const void *head; /* the first head_size bytes of the file, as they were in memory */
	size_t head_size; /* 0: not known */
	bool deleted;
};

static bool
begins_alike(const struct image *image, const struct evidence *evidence)
{
	uint8_t ours[COMPARE_SIZE];
	size_t size = evidence->head_size < COMPARE_SIZE ? evidence->head_size : COMPARE_SIZE;

	if (size > image->size)
		size = (size_t)image->size;
	return image_read_offset(image, 0, ours, size) && memcmp(ours, evidence->head, size) == 0;
}

/*
 * Returns true when the image is that of the mapped file: its build-id is equal or, without a
 * build-id, its first page, which contains the sizes of all parts of the file. If neither is known,
 * a file that was not deleted is accepted.
 */
static bool
is_same_file(const struct evidence *evidence, const struct image *image)
{
	char build_id[MODULE_BUILD_ID_SIZE];

	if (evidence->build_id[0] != '\0') {
		module_build_id(image, build_id);
		return strcmp(build_id, evidence->build_id) == 0;
	}
	return evidence->head_size > 0 ? begins_alike(image, evidence) : !evidence->deleted;
}

/*
 * Opens the image of the file that `named`, a descriptor from O_PATH or -1, refers to. Returns NULL
 * and sets *why when it is not the mapped file. The caller frees the image.
 */
static struct image *
open_same(const struct evidence *evidence, int named, const char **why)
{
	struct image *image;
	int fd;

	if (evidence->cache == NULL) {
		*why = module_file_why(EMFILE);
		if (named >= 0)
			close(named);
		return NULL;
	}
	fd = file_open_named(named);
	if (fd < 0) {
		*why = module_file_why(errno);
		return NULL;
	}
	image = image_open_fd(fd, evidence->cache);
	if (image == NULL) {
		*why = "not an ELF file";
	} else if (!is_same_file(evidence, image)) {
		image_free(image);
		image = NULL;
		*why = other_build;
	}
	return image;
}

/* Opens a path of the core file without following symbolic links. Before Linux 5.6 only a link in
 * the last component is refused. */
static struct image *
open_strictly(const struct evidence *evidence, const char *path, const char **why)
{
	const int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int named = -1;

	if (root >= 0) {
		named = module_file_name_below(root, path);
		if (named < 0 && errno == ENOSYS)
			named = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		close(root);
	}
	return open_same(evidence, named, why);
}

/* Opens a path below a directory, following links. With the directory "" the path is used alone. */
static struct image *
open_below(const struct evidence *evidence, const char *folder, const char *path, const char **why)
{
	struct strbuf name = STRBUF_INIT;
	struct image *image;

	strbuf_add_format(&name, "%s%s", folder, path);
	image = open_same(evidence, open(name.data, O_PATH | O_CLOEXEC), why);
	strbuf_release(&name);
	return image;
}

/* --- core files ------------------------------------------------------------------------------ */

static struct image *
find_dumped(const struct evidence *evidence, const struct dumped_module *dumped, const char *path,
	    const char **why)
{
	struct evidence of_named = *evidence;
	const char *why_there = NULL;
	struct image *image = NULL;

	/*
	 * If the user has named a file, only that file is tried. Without a build-id or first bytes
	 * to compare it is used even if the mapped file was deleted.
	 */
	of_named.deleted = false;
	if (dumped->file != NULL)
		return open_below(&of_named, "", dumped->file, why);
	if (path[0] != '/') {
		*why = "not a file with a path";
		return NULL;
	}
	if (dumped->symfs != NULL)
		image = open_below(evidence, dumped->symfs, path, why);
	if (image == NULL)
		image = open_strictly(evidence, path, &why_there);
	if (*why != other_build)
		*why = why_there;
	if (evidence->deleted)
		*why = "it was deleted or replaced while the process ran";
	return image;
}

static void
open_dumped(struct module *module, struct image_cache *cache, const struct dumped_module *dumped)
{
	struct image *head = NULL;
	struct evidence evidence = { .cache = cache,
				     .build_id = module->build_id,
				     .head = dumped->head,
				     .head_size = dumped->head_size,
				     .deleted = module->deleted };

	if (dumped->head_size > 0)
		head = image_open_memory(dumped->head, dumped->head_size);
	module_build_id(head, module->build_id);
	image_free(head);
	module->image = find_dumped(&evidence, dumped, module->path, &module->why);
	module->kind = module->image != NULL ? MODULE_FILE : MODULE_OTHER;
	if (module->image != NULL)
		module->why = NULL;
}

struct module *
module_dumped_create(struct image_cache *cache, const struct dumped_module *dumped, char *path,
		     bool deleted)
{
	struct module *module = module_create(path, deleted, dumped->kind);

	if (dumped->kind == MODULE_FILE) {
		open_dumped(module, cache, dumped);
	} else if (dumped->kind == MODULE_VDSO) {
		module->image = image_open_memory(dumped->head, dumped->head_size);
		if (module->image == NULL)
			module->kind = MODULE_OTHER;
	}
	if (module->kind == MODULE_OTHER && module->why == NULL)
		module->why = "the core file does not have it";
	return module;
}

/* --- recordings ------------------------------------------------------------------------------ */

struct module *
module_recorded_create(struct image_cache *cache, const struct recorded_module *recorded)
{
	struct module *module = module_create(xstrdup(recorded->path), recorded->deleted,
					      recorded->kind);
	const struct evidence evidence = { .cache = cache, .build_id = recorded->build_id };
	const size_t length = strlen(recorded->build_id);
	const char *why = NULL;

	if (module->kind == MODULE_JIT)
		module->name = "[jit]";
	/* A recorded build-id must be hexadecimal: it is shown, and becomes part of file names. */
	if (length < sizeof(module->build_id) &&
	    strspn(recorded->build_id, "0123456789abcdef") == length)
		memcpy(module->build_id, recorded->build_id, length + 1);
	if (module->kind != MODULE_FILE)
		return module;
	if (length > 0 && recorded->path[0] == '/') {
		if (recorded->symfs != NULL)
			module->image = open_below(&evidence, recorded->symfs, recorded->path,
						   &why);
		if (module->image == NULL)
			module->image = open_below(&evidence, "", recorded->path, &why);
	}
	if (module->image == NULL) {
		module->kind = MODULE_OTHER;
		module->why = cache == NULL && why != NULL ?
				      why :
				      "this machine does not have this build of it";
	}
	return module;
}
