/* SPDX-License-Identifier: MIT */
/* module.c - the table of modules, and the module of each mapping. */
#include "wallsample/process/module.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "process/process_internal.h"
#include "wallsample/base/table.h"

/* Largest number of modules in the table, and number from which a file is added only when an
 * address in it is looked up: a hostile target can map any number of new files. Large programs map
 * hundreds. */
#define MODULES_MAX 16384
#define MODULES_EARLY 1024

/* Largest number of files that are open for their images; it is also limited to RLIMIT_NOFILE
 * divided by FILES_PART. */
#define FILES_MAX 4096
#define FILES_PART 3

/* Largest plausible size of the vdso, which has two to four pages. */
#define VDSO_MAX_SIZE (UINT64_C(1) << 20)

struct modules {
	struct module **module;
	size_t count, capacity;
	struct file_proxy *proxy; /* how the files of the target are opened and read; or NULL */
	struct table by_file; /* (hash of path and device, inode) -> module id; see find_module */
	struct image_cache *cache; /* of all images of files */
	size_t files, files_most;  /* number of images of files, and its limit */
	uint32_t more;             /* id of the module "[more modules]"; MODULE_NONE: none */
};

static size_t
files_most(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / FILES_PART > FILES_MAX)
		return FILES_MAX;
	return (size_t)(limit.rlim_cur / FILES_PART);
}

struct modules *
modules_create(void)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));

	table_init(&modules->by_file);
	modules->cache = image_cache_create(IMAGE_CACHE_MOST);
	modules->files_most = files_most();
	modules->more = MODULE_NONE;
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
	table_release(&modules->by_file);
	image_cache_free(modules->cache);
	free(modules);
}

void
modules_set_proxy(struct modules *modules, struct file_proxy *proxy)
{
	modules->proxy = proxy;
}

struct file_proxy *
modules_proxy(const struct modules *modules)
{
	return modules->proxy;
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

/* Returns true when the path is a name that the kernel gives to memory without a file. */
static bool
is_named_memory(const char *path)
{
	return strcmp(path, "[heap]") == 0 || strcmp(path, "[stack]") == 0 ||
	       strcmp(path, "[uprobes]") == 0;
}

/*
 * Returns true for memory without a file. The path of anonymous memory is empty, or in brackets:
 * "[heap]", or "[anon:NAME]" with any NAME that the target has set by prctl(2). Paths that begin
 * with "[v" are those of the kernel's code ("[vdso]"). For shared memory without a name the kernel
 * shows the path of an internal file.
 */
static bool
is_anonymous(const char *path)
{
	return path[0] == '\0' || (path[0] == '[' && strncmp(path, "[v", 2) != 0) ||
	       strcmp(path, "/dev/zero" MODULE_DELETED) == 0 ||
	       strcmp(path, "/anon_hugepage" MODULE_DELETED) == 0;
}

/* Returns the line reduced to what identifies its module. Device and inode of memory without a file
 * become 0. The path of anonymous memory becomes "[anon]", except the names of
 * is_named_memory(). */
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
	void *bytes;

	module->why = "its memory could not be read";
	if (size > VDSO_MAX_SIZE)
		return;
	bytes = xmalloc(size);
	if (module_read_memory(process, line->start, bytes, size)) {
		module->image = image_open_memory(bytes, size);
		if (module->image != NULL)
			module->kind = MODULE_VDSO;
		module->why = module->image ? NULL : "not an ELF file";
	}
	free(bytes);
}

static void
open_file(struct modules *modules, struct module *module, const struct process *process,
	  const struct maps_line *line)
{
	struct stat st;
	int fd = -1;

	if (modules->files < modules->files_most)
		fd = module_file_open(process, line, modules->proxy, &st, &module->why);
	else
		module->why = module_file_why(EMFILE);
	if (fd < 0)
		return;
	module->image = image_open_file(fd, &st, modules->proxy, modules->cache);
	modules->files += module->image != NULL;
	if (module->image != NULL)
		module->kind = MODULE_FILE;
	else
		module->why = errno == ETIMEDOUT ? module_file_why(errno) : "not an ELF file";
}

/* Returns the length of the path without the suffix " (deleted)". */
static size_t
plain_length(const char *path)
{
	return strlen(path) - (module_path_is_deleted(path) ? strlen(MODULE_DELETED) : 0);
}

static struct module *
module_open(struct modules *modules, const struct process *process, const struct maps_line *line)
{
	char *path = xstrndup(line->path, plain_length(line->path));
	struct module *module = module_create(path, module_path_is_deleted(line->path),
					      MODULE_OTHER);

	module->dev = line->dev;
	module->inode = line->inode;
	if (strcmp(path, "[vdso]") == 0)
		open_vdso(module, process, line);
	else if (path[0] == '[' && path[1] == 'v')
		module->why = "the kernel does not let it be read";
	else if (path[0] == '[')
		module->kind = MODULE_ANONYMOUS;
	else
		open_file(modules, module, process, line);
	return module;
}

static uint32_t
append(struct modules *modules, struct module *module)
{
	if (module->image != NULL && module->image->build_id_size > 0)
		module_build_id(module->image, module->build_id);
	module->id = (uint32_t)modules->count;
	modules->module = xgrow(modules->module, &modules->capacity, modules->count + 1,
				sizeof(*modules->module));
	modules->module[modules->count++] = module;
	return module->id;
}

/*
 * Returns the id of the module with this identity; MODULE_NONE: the table has none. Stores in *key
 * the first half of its key in by_file, or of a free key for it: modules with the same inode and
 * the same hash have successive keys.
 */
static uint32_t
find_module(const struct modules *modules, const struct maps_line *identity, uint64_t *key)
{
	const size_t length = plain_length(identity->path);
	uint32_t id;

	*key = hash_bytes(identity->path, length) ^ hash_u64(identity->dev);
	for (; table_find(&modules->by_file, *key, identity->inode, &id); ++*key) {
		const struct module *module = modules->module[id];

		if (module->dev == identity->dev &&
		    strncmp(module->path, identity->path, length) == 0 &&
		    module->path[length] == '\0')
			return id;
	}
	return MODULE_NONE;
}

uint32_t
modules_add(struct modules *modules, const struct process *process, const struct maps_line *line,
	    bool wanted)
{
	struct maps_line identity = identity_of(line);
	uint64_t key;
	uint32_t id = find_module(modules, &identity, &key);

	if (identity.inode == 0)
		wanted = true; /* no file has to be opened */
	if (id == MODULE_NONE && modules->count >= (wanted ? MODULES_MAX : MODULES_EARLY)) {
		if (modules->more == MODULE_NONE)
			modules->more = append(modules, module_create(xstrdup("[more modules]"),
								      false, MODULE_ANONYMOUS));
		return modules->more;
	}
	if (id != MODULE_NONE)
		return id;
	table_insert(&modules->by_file, key, identity.inode, (uint32_t)modules->count, NULL);
	return append(modules, module_open(modules, process, &identity));
}

bool
modules_is_deferred(const struct modules *modules, uint32_t id)
{
	return id == modules->more && modules->count < MODULES_MAX;
}

uint32_t
modules_add_object(struct modules *modules, struct image *image)
{
	struct strbuf path = STRBUF_INIT;
	struct module *module;

	if (modules->count >= MODULES_MAX)
		return MODULE_NONE;
	/* Each path is unique, because libdw treats modules of the same name and address as one
	 * module. */
	strbuf_add_format(&path, "[jit %zu]", modules->count);
	module = module_create(path.data, false, MODULE_JIT);
	module->name = "[jit]";
	module->image = image;
	return append(modules, module);
}

/* The cache for the image of one more file; NULL: no more files may be opened. */
static struct image_cache *
cache_for_file(const struct modules *modules)
{
	return modules->files < modules->files_most ? modules->cache : NULL;
}

static uint32_t
append_stored(struct modules *modules, struct module *module)
{
	modules->files += module->kind == MODULE_FILE;
	return append(modules, module);
}

uint32_t
modules_add_recorded(struct modules *modules, const struct recorded_module *recorded)
{
	if (modules->count >= MODULES_MAX)
		return MODULE_NONE;
	return append_stored(modules, module_recorded_create(cache_for_file(modules), recorded));
}

uint32_t
modules_add_dumped(struct modules *modules, const struct dumped_module *dumped)
{
	char *path;

	if (modules->count >= MODULES_MAX)
		return MODULE_NONE;
	path = xstrndup(dumped->path, plain_length(dumped->path));
	return append_stored(modules, module_dumped_create(cache_for_file(modules), dumped, path,
							   module_path_is_deleted(dumped->path)));
}
