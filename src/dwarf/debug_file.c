/* SPDX-License-Identifier: MIT */
/*
 * debug_file.c - opens what a module's names and lines are read from.
 */
#include "wallsample/dwarf/debug_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/elf/elf_open.h"

#define DEBUGINFOD_LIMIT_NS (30 * NS_PER_SEC)

static struct debug_place
make_place(const char *path, const char *prefix, bool trusted)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

	return (struct debug_place){
		.path = xstrdup(path),
		.prefix = prefix,
		.trusted = trusted,
		.top = trusted ? -1 : open(path, flags),
	};
}

static void
release_place(struct debug_place *place)
{
	free(place->path);
	if (place->top >= 0)
		close(place->top);
}

static void
add_place(struct debug_files *files, const char *path, const char *prefix, bool trusted)
{
	if (files->place_count < DEBUG_PLACES_MAX)
		files->place[files->place_count++] = make_place(path, prefix, trusted);
}

/* What a file says of another is compared with whole paths. */
static void
add_directory(struct debug_files *files, const char *path)
{
	char *whole = path[0] != '/' ? realpath(path, NULL) : NULL;

	add_place(files, whole != NULL ? whole : path, "", true);
	free(whole);
}

static bool
is_our_root(const char *path)
{
	struct stat ours, theirs;

	return stat("/", &ours) == 0 && stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

static void
add_root(struct debug_files *files, const char *path)
{
	if (path == NULL)
		return;
	/* Our own /usr/lib/debug is looked at anyway: a file there is to be named once. */
	if (!is_our_root(path))
		add_place(files, path, "usr/lib/debug/", false);
	files->root[files->root_count++] = make_place(path, "", false);
}

/* Where debuginfod's client keeps its files (debuginfod-client-config(7)). */
static char *
cache_path(void)
{
	const char *given = getenv("DEBUGINFOD_CACHE_PATH"), *below = "";
	struct strbuf path;

	if (given == NULL || given[0] == '\0') {
		given = getenv("XDG_CACHE_HOME");
		below = "/debuginfod_client";
	}
	if (given == NULL || given[0] == '\0') {
		given = getenv("HOME");
		below = "/.cache/debuginfod_client";
	}
	if (given == NULL || given[0] == '\0')
		return NULL;
	strbuf_init(&path);
	strbuf_add_text(&path, given);
	strbuf_add_text(&path, below);
	return path.data;
}

struct debug_files *
debug_files_create(const struct debug_files_config *config)
{
	struct debug_files *files = xcalloc(1, sizeof(*files));

	files->config = *config;
	files->said = strings_create();
	files->dwarf_left = DEBUG_DWARF_MOST;
	files->crc_left = DEBUG_CRC_MOST;
	for (const char *const *dir = config->debug_dirs; dir != NULL && *dir != NULL; dir++)
		/* The last is for the system's own. */
		if (files->place_count < DEBUG_PLACES_MAX - 3)
			add_directory(files, *dir);
	add_place(files, "/usr/lib/debug", "", true);
	add_root(files, config->root);
	add_root(files, config->symfs);
	if (config->debuginfod != DEBUGINFOD_OFF)
		files->cache = (struct debug_place){ cache_path(), "", true, -1 };
	if (config->debuginfod == DEBUGINFOD_NET)
		files->server = debug_server_create(config->log, DEBUGINFOD_LIMIT_NS);
	return files;
}

void
debug_files_free(struct debug_files *files)
{
	if (files == NULL)
		return;
	for (size_t i = 0; i < files->place_count; i++)
		release_place(&files->place[i]);
	for (size_t i = 0; i < files->root_count; i++)
		release_place(&files->root[i]);
	free(files->cache.path);
	debug_server_free(files->server);
	strings_free(files->said);
	free(files);
}

enum debuginfod_state
debug_files_servers(const struct debug_files *files)
{
	const enum debuginfod_state state = debug_server_state(files->server);

	if (files->config.debuginfod == DEBUGINFOD_NET || state == DEBUGINFOD_NOT_BUILT)
		return state;
	return DEBUGINFOD_NOT_WANTED;
}

static void
open_mini(struct debug_files *files, struct debug_file *file)
{
	const struct module *module = file->rest->module;
	const char *why;

	file->mini = debug_mini_open(file->own, &file->rest->mini_bytes, &why);
	if (file->mini == NULL && why != NULL)
		debug_files_warn(files, module->path, module->name, why);
}

static void
say_found(struct debug_files *files, const char *path, const char *name)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_add_escaped(&text, path);
	strbuf_add_text(&text, " is the debug file of ");
	strbuf_add_escaped(&text, name);
	log_say(files->config.log, LOG_VERBOSE, "%s", text.data);
	strbuf_release(&text);
}

void
debug_file_open(struct debug_files *files, const struct module *module, struct debug_file *out)
{
	struct debug_file_rest *rest = xcalloc(1, sizeof(*rest));
	const char *why;

	*out = (struct debug_file){ .rest = rest };
	rest->module = module;
	rest->standalone = module->kind == MODULE_JIT;
	rest->separate.fd = rest->alternate_found.fd = -1;
	if (module->image == NULL)
		return;
	rest->want = (struct debug_want){
		.module = module->name,
		.id = module->image->build_id,
		.id_size = module->image->build_id_size,
		.machine = module->image->machine,
	};
	out->own = elf_open_image(module->image, &why);
	if (out->own == NULL && why != NULL)
		debug_files_warn(files, module->path, module->name, why);
	if (!debug_has_dwarf(out->own) && !rest->standalone &&
	    debug_find(files, module, out->own, &rest->separate)) {
		out->elf = rest->separate.elf;
		out->path = rest->separate.path;
		say_found(files, out->path, module->name);
	}
	if (!debug_has_symtab(out->own) && !debug_has_symtab(out->elf))
		open_mini(files, out);
}

void
debug_file_close(struct debug_file *file)
{
	struct debug_file_rest *rest = file->rest;

	if (rest != NULL) {
		debug_package_close(rest->package);
		debug_dwarf_release(&rest->main);
		debug_dwarf_release(&rest->alternate);
		debug_found_release(&rest->alternate_found);
		debug_found_release(&rest->separate);
		elf_end(file->mini);
		elf_end(file->own);
		free(rest->mini_bytes);
		free(rest);
	}
	*file = (struct debug_file){ 0 };
}

/* --- DWARF --------------------------------------------------------------------------- */

static void
open_alternate(struct debug_files *files, struct debug_file_rest *rest, Elf *elf, int fd)
{
	struct debug_found *found = &rest->alternate_found;
	const char *why;

	if (debug_find_alternate(files, &rest->want, elf, fd, found) &&
	    !debug_dwarf_init(&rest->alternate, found->fd, NULL, &files->dwarf_left, &why))
		debug_files_warn(files, found->path, rest->want.module, why);
}

static void
open_main(struct debug_files *files, const struct debug_file *file)
{
	struct debug_file_rest *rest = file->rest;
	const struct module *module = rest->module;
	const bool separate = debug_has_dwarf(file->elf);
	const int fd = separate ? rest->separate.fd : module->image->fd;
	const char *why;

	rest->dwarf_tried = true;
	if (!separate && !debug_has_dwarf(file->own))
		return;
	if (!debug_dwarf_init(&rest->main, fd, module->image, &files->dwarf_left, &why))
		debug_files_warn(files, separate ? file->path : module->path, module->name, why);
	else if (!rest->standalone)
		open_alternate(files, rest, separate ? file->elf : file->own, fd);
}

Dwarf *
debug_file_dwarf(struct debug_files *files, const struct debug_file *file)
{
	struct debug_file_rest *rest = file->rest;
	Dwarf *dwarf, *alternate;

	if (rest == NULL || rest->module->image == NULL)
		return NULL;
	if (!rest->dwarf_tried)
		open_main(files, file);
	if (rest->main.elf == NULL)
		return NULL;
	dwarf = dwarf_begin_elf(rest->main.elf, DWARF_C_READ, NULL);
	if (dwarf == NULL || rest->alternate.elf == NULL)
		return dwarf;
	alternate = dwarf_begin_elf(rest->alternate.elf, DWARF_C_READ, NULL);
	if (alternate != NULL)
		dwarf_setalt(dwarf, alternate);
	return dwarf;
}

void
debug_file_dwarf_end(struct debug_files *files, const struct debug_file *file, Dwarf *dwarf)
{
	/* None that libdw found by itself: it sees no .gnu_debugaltlink. */
	Dwarf *alternate = dwarf_getalt(dwarf);

	dwarf_end(dwarf);
	dwarf_end(alternate);
	files->dwarf_left += file->rest->split_size;
	file->rest->split_size = 0;
}
