/* SPDX-License-Identifier: MIT */
/*
 * module.c - the table of modules, and what each mapping's module is.
 */
#include "wallsample/process/module.h"

#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "process/module_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Bound of the table: a hostile target can map any number of new files. */
#define MODULES_MAX 16384

/* The vdso is two to four pages; more than this is not one. */
#define VDSO_MAX_SIZE (UINT64_C(1) << 20)

#define DELETED " (deleted)"

struct modules {
	struct module **module;
	size_t count, capacity;
	struct strings *paths; /* path -> number, which makes part of the key */
	struct table by_file;  /* (path number and device, inode) -> module id */
};

struct modules *
modules_create(void)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));

	modules->paths = strings_create();
	table_init(&modules->by_file);
	return modules;
}

void
modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->count; i++) {
		image_free(modules->module[i]->image);
		free(modules->module[i]->path);
		free(modules->module[i]);
	}
	free(modules->module);
	strings_free(modules->paths);
	table_release(&modules->by_file);
	free(modules);
}

size_t
modules_count(const struct modules *modules)
{
	return modules->count;
}

struct module *
modules_get(const struct modules *modules, uint32_t id)
{
	return id < modules->count ? modules->module[id] : NULL;
}

struct module *
modules_at(const struct modules *modules, uint32_t id)
{
	return modules->module[id];
}

/* Is the path a name of memory without a file, such as "[heap]"? */
static bool
is_named_memory(const char *path)
{
	return strcmp(path, "[heap]") == 0 || strcmp(path, "[stack]") == 0 ||
	       strcmp(path, "[uprobes]") == 0;
}

/*
 * Is it memory without a file: anonymous, named by prctl(2) (else each of any number of names
 * would be a module), or shared, which the kernel backs by an internal file?
 */
static bool
is_anonymous(const char *path)
{
	return path[0] == '\0' || (path[0] == '[' && strncmp(path, "[v", 2) != 0) ||
	       strcmp(path, "/dev/zero" DELETED) == 0 ||
	       strcmp(path, "/anon_hugepage" DELETED) == 0;
}

static struct maps_line
identity_of(const struct maps_line *line)
{
	struct maps_line identity = *line;

	if (line->path[0] == '[' || is_anonymous(line->path)) {
		identity.dev = identity.inode = 0;
		if (is_anonymous(line->path) && !is_named_memory(line->path))
			identity.path = "[anon]";
	}
	return identity;
}

static void
open_vdso(struct module *module, const struct process *process, const struct maps_line *line)
{
	uint64_t size = line->end - line->start;
	struct iovec local, remote;
	void *bytes;

	module->kind = MODULE_OTHER;
	module->why = "its memory could not be read";
	if (size > VDSO_MAX_SIZE)
		return;
	bytes = xmalloc(size);
	local = (struct iovec){ bytes, size };
	remote = (struct iovec){ (void *)(uintptr_t)line->start, size };
	if (process_vm_readv(process->pid, &local, 1, &remote, 1, 0) == (ssize_t)size) {
		module->image = image_open_memory(bytes, size);
		module->kind = module->image ? MODULE_VDSO : MODULE_OTHER;
		module->why = module->image ? NULL : "not an ELF file";
	}
	free(bytes);
}

static void
open_file(struct module *module, const struct process *process, const struct maps_line *line)
{
	int fd = module_file_open(process, line, &module->why);

	module->kind = MODULE_OTHER;
	if (fd < 0)
		return;
	module->image = image_open_fd(fd);
	module->kind = module->image ? MODULE_FILE : MODULE_OTHER;
	module->why = module->image ? NULL : "not an ELF file";
}

/* Removes a suffix " (deleted)". The kernel appends it, but a file name may also end so. */
static char *
plain_path(const char *path, bool *deleted)
{
	size_t length = strlen(path), ending = strlen(DELETED);

	*deleted = length > ending && strcmp(path + length - ending, DELETED) == 0;
	return xstrndup(path, *deleted ? length - ending : length);
}

static struct module *
module_create(const struct process *process, const struct maps_line *line, char *path, bool deleted)
{
	struct module *module = xcalloc(1, sizeof(*module));
	const char *slash = strrchr(path, '/');

	module->path = path;
	module->name = slash && slash[1] ? slash + 1 : path;
	module->deleted = deleted;
	module->dev = line->dev;
	module->inode = line->inode;
	if (strcmp(path, "[vdso]") == 0) {
		open_vdso(module, process, line);
	} else if (path[0] == '[' && path[1] == 'v') {
		module->kind = MODULE_OTHER;
		module->why = "the kernel does not let it be read";
	} else if (path[0] == '[') {
		module->kind = MODULE_ANONYMOUS;
	} else {
		open_file(module, process, line);
	}
	return module;
}

static uint32_t
append(struct modules *modules, struct module *module)
{
	const struct image *image = module->image;

	for (size_t i = 0; image != NULL && i < image->build_id_size; i++)
		snprintf(module->build_id + 2 * i, 3, "%02x", image->build_id[i]);
	module->id = (uint32_t)modules->count;
	modules->module = xgrow(modules->module, &modules->capacity, modules->count + 1,
				sizeof(*modules->module));
	modules->module[modules->count++] = module;
	return module->id;
}

/* Adds the module that serves all further mappings when the table is full. */
static void
be_the_rest(struct maps_line *identity)
{
	identity->dev = identity->inode = 0;
	identity->path = "[more modules]";
}

uint32_t
modules_add(struct modules *modules, const struct process *process, const struct maps_line *line)
{
	struct maps_line identity = identity_of(line);
	uint64_t key;
	uint32_t *place;
	char *path;
	bool deleted, added;

	if (modules->count >= MODULES_MAX)
		be_the_rest(&identity);
	path = plain_path(identity.path, &deleted);
	/* The kernel's device numbers have 12 and 20 bits: this loses nothing. */
	key = (uint64_t)strings_intern(modules->paths, path) << 32 |
	      (uint32_t)(gnu_dev_major(identity.dev) << 20 | gnu_dev_minor(identity.dev));
	place = table_insert(&modules->by_file, key, identity.inode, (uint32_t)modules->count,
			     &added);
	if (!added) {
		free(path);
		return *place;
	}
	return append(modules, module_create(process, &identity, path, deleted));
}

uint32_t
modules_add_object(struct modules *modules, struct image *image)
{
	struct module *module;
	struct strbuf path;

	if (modules->count >= MODULES_MAX)
		return MODULE_NONE;
	/* A unique path: libdw takes modules of the same name and address for the same module. */
	strbuf_init(&path);
	strbuf_add_format(&path, "[jit %zu]", modules->count);
	module = xcalloc(1, sizeof(*module));
	module->kind = MODULE_JIT;
	module->path = path.data;
	module->name = "[jit]";
	module->image = image;
	return append(modules, module);
}

uint32_t
modules_add_recorded(struct modules *modules, const struct recorded_module *recorded)
{
	if (modules->count >= MODULES_MAX)
		return MODULE_NONE;
	return append(modules, module_recorded_create(recorded));
}

uint32_t
modules_add_dumped(struct modules *modules, const struct dumped_module *dumped)
{
	bool deleted;
	char *path;

	if (modules->count >= MODULES_MAX)
		return MODULE_NONE;
	path = plain_path(dumped->path, &deleted);
	return append(modules, module_dumped_create(dumped, path, deleted));
}
