/* SPDX-License-Identifier: MIT */
/* module_recorded.c - modules of recordings; a file is used if this machine has the same one. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/module_internal.h"
#include "wallsample/base/base.h"

/* Opens only regular files for reading: a recording may name any path. */
static struct image *
open_image(const char *path)
{
	char name[32];
	struct stat info;
	int fd, found = open(path, O_PATH | O_CLOEXEC);

	if (found < 0)
		return NULL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	fd = fstat(found, &info) == 0 && S_ISREG(info.st_mode) ?
		     open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) :
		     -1;
	close(found);
	return fd >= 0 ? image_open_fd(fd) : NULL;
}

static bool
is_same_build(const struct image *image, const char *build_id)
{
	if (strlen(build_id) != 2 * image->build_id_size)
		return false;
	for (size_t i = 0; i < image->build_id_size; i++) {
		char byte[3];

		snprintf(byte, sizeof(byte), "%02x", image->build_id[i]);
		if (strncmp(build_id + 2 * i, byte, 2) != 0)
			return false;
	}
	return image->build_id_size > 0;
}

/* Accepts only digits: the build-id is shown, and becomes part of file names. */
static void
take_build_id(struct module *module, const char *build_id)
{
	const size_t length = strlen(build_id);

	if (length < sizeof(module->build_id) && strspn(build_id, "0123456789abcdef") == length)
		memcpy(module->build_id, build_id, length + 1);
}

/* Rejects an image of another build, which would give wrong names. */
static struct image *
open_same(const char *folder, const struct recorded_module *recorded)
{
	struct strbuf path;
	struct image *image;

	strbuf_init(&path);
	strbuf_add_format(&path, "%s%s", folder, recorded->path);
	image = open_image(path.data);
	strbuf_release(&path);
	if (image != NULL && !is_same_build(image, recorded->build_id)) {
		image_free(image);
		image = NULL;
	}
	return image;
}

struct module *
module_recorded_create(const struct recorded_module *recorded)
{
	struct module *module = xcalloc(1, sizeof(*module));
	const char *slash = strrchr(recorded->path, '/');

	module->path = xstrdup(recorded->path);
	module->name = slash != NULL && slash[1] != '\0' ?
			       module->path + (slash - recorded->path) + 1 :
			       module->path;
	module->deleted = recorded->deleted;
	module->kind = recorded->kind;
	if (module->kind == MODULE_JIT)
		module->name = "[jit]";
	take_build_id(module, recorded->build_id);
	if (module->kind != MODULE_FILE)
		return module;
	if (recorded->build_id[0] != '\0' && recorded->path[0] == '/') {
		if (recorded->symfs != NULL)
			module->image = open_same(recorded->symfs, recorded);
		if (module->image == NULL)
			module->image = open_same("", recorded);
	}
	if (module->image == NULL) {
		module->kind = MODULE_OTHER;
		module->why = "this machine does not have this build of it";
	}
	return module;
}
