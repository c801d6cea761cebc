/* SPDX-License-Identifier: MIT */
/*
 * debug_file.c - opens the files that hold the symbols and the DWARF of a module.
 */
#include "wallsample/dwarf/debug_file.h"

#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/elf/elf_open.h"

#define DEBUGINFOD_LIMIT_NS (30 * NS_PER_SEC)

/* --- places ---------------------------------------------------------------------------- */

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

/* Adds a --debug-dir directory, with its absolute path: find_below() compares this path with the
 * paths in .gnu_debugaltlink. */
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
	/* If `path` is this process's own root, its /usr/lib/debug has been added already. */
	if (!is_our_root(path))
		add_place(files, path, "usr/lib/debug/", false);
	files->root[files->root_count++] = make_place(path, "", false);
}

/* Returns the directory of debuginfod's client cache (debuginfod-client-config(7)), which the
 * caller frees; NULL when no variable of the environment names it. */
static char *
cache_path(void)
{
	const char *given = secure_getenv("DEBUGINFOD_CACHE_PATH"), *below = "";
	struct strbuf path = STRBUF_INIT;

	if (given == NULL || given[0] == '\0') {
		given = secure_getenv("XDG_CACHE_HOME");
		below = "/debuginfod_client";
	}
	if (given == NULL || given[0] == '\0') {
		given = secure_getenv("HOME");
		below = "/.cache/debuginfod_client";
	}
	if (given == NULL || given[0] == '\0')
		return NULL;
	strbuf_add_format(&path, "%s%s", given, below);
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
		/* Three elements are kept free: for /usr/lib/debug, the root and --symfs. */
		if (files->place_count < DEBUG_PLACES_MAX - 3)
			add_directory(files, *dir);
	add_place(files, "/usr/lib/debug", "", true);
	add_root(files, config->root);
	add_root(files, config->symfs);
	if (config->debuginfod != DEBUGINFOD_OFF)
		files->cache = (struct debug_place){
			.path = cache_path(), .prefix = "", .trusted = true, .top = -1
		};
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

/* --- MiniDebugInfo --------------------------------------------------------------------- */

/* Largest packed and unpacked size in bytes of .gnu_debugdata: a hostile section can unpack to any
 * size. The largest real ones unpack to some ten MiB. */
#define PACKED_MAX ((size_t)64 << 20)
#define UNPACKED_MAX ((size_t)256 << 20)

/* Largest memory in bytes of the decoder; files of xz -9 need 65 MiB. */
#define DECODER_MAX (UINT64_C(128) << 20)

/* Unpacks the stream's input into memory that the caller frees, and stores the size. Returns NULL,
 * with the reason in *why, on failure. */
static uint8_t *
unpack(lzma_stream *stream, size_t *size, const char **why)
{
	uint8_t *bytes = NULL;
	size_t capacity = 0;
	lzma_ret status = LZMA_OK;

	while (status == LZMA_OK && stream->total_out < UNPACKED_MAX) {
		const size_t done = (size_t)stream->total_out;

		bytes = xgrow(bytes, &capacity, done + 65536, 1);
		stream->next_out = bytes + done;
		stream->avail_out = capacity < UNPACKED_MAX ? capacity - done : UNPACKED_MAX - done;
		status = lzma_code(stream, LZMA_FINISH);
	}
	*size = (size_t)stream->total_out;
	if (status == LZMA_STREAM_END)
		return bytes;
	*why = "its .gnu_debugdata is damaged";
	if (status == LZMA_OK || status == LZMA_MEMLIMIT_ERROR)
		*why = "its .gnu_debugdata unpacks to more than is allowed";
	free(bytes);
	return NULL;
}

/* Opens .gnu_debugdata, the packed symbol table of a stripped program; warns when it cannot be
 * used. */
static void
open_mini(struct debug_files *files, struct debug_file *file)
{
	const struct module *module = file->rest->module;
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t packed_size, size = 0;
	const char *why = "liblzma cannot be used";
	const uint8_t *packed = debug_section_bytes(file->own, ".gnu_debugdata", PACKED_MAX,
						    &packed_size);

	if (packed == NULL)
		return;
	if (lzma_stream_decoder(&stream, DECODER_MAX, 0) == LZMA_OK) {
		stream.next_in = packed;
		stream.avail_in = packed_size;
		file->rest->mini_bytes = unpack(&stream, &size, &why);
		lzma_end(&stream);
	}
	if (file->rest->mini_bytes != NULL) {
		file->mini = elf_open_memory(file->rest->mini_bytes, size, NULL);
		why = "its .gnu_debugdata is damaged";
	}
	if (file->mini == NULL)
		debug_files_warn(files, module->path, module->name, why);
}

/* --- files ----------------------------------------------------------------------------- */

void
debug_file_open(struct debug_files *files, const struct module *module, struct debug_file *out)
{
	struct debug_file_rest *rest = xcalloc(1, sizeof(*rest));
	const char *why;

	*out = (struct debug_file){ .fd = -1, .rest = rest };
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
	    debug_find(files, module, out->own, &rest->want, &rest->separate)) {
		out->elf = rest->separate.elf;
		out->fd = rest->separate.fd;
		out->path = rest->separate.path;
		log_say(files->config.log, LOG_VERBOSE, "%s is the debug file of %s", out->path,
			module->name);
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
	/* libdw opens no alternate file by itself, because .gnu_debugaltlink is hidden from it. */
	Dwarf *alternate = dwarf_getalt(dwarf);

	dwarf_end(dwarf);
	dwarf_end(alternate);
	files->dwarf_left += file->rest->split_size;
	file->rest->split_size = 0;
}

/* --- the DWARF of one module ----------------------------------------------------------- */

struct debug_info {
	struct debug_files *files;
	struct debug_file file;
	Dwarf *dwarf;
};

struct debug_info *
debug_info_open(const struct module *module, const struct debug_files_config *config)
{
	struct debug_info *info = xcalloc(1, sizeof(*info));

	info->files = debug_files_create(config);
	debug_file_open(info->files, module, &info->file);
	info->dwarf = debug_file_dwarf(info->files, &info->file);
	if (info->dwarf != NULL)
		return info;
	debug_info_close(info);
	return NULL;
}

Dwarf *
debug_info_dwarf(const struct debug_info *info)
{
	return info->dwarf;
}

void
debug_info_close(struct debug_info *info)
{
	if (info == NULL)
		return;
	if (info->dwarf != NULL)
		debug_file_dwarf_end(info->files, &info->file, info->dwarf);
	debug_file_close(&info->file);
	debug_files_free(info->files);
	free(info);
}
