/* SPDX-License-Identifier: MIT */
/*
 * debug_file_package.c - finds and opens the package (.dwp) with a module's split units.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"
#include "dwarf/dwp_internal.h"
#include "wallsample/elf/elf_open.h"

/* Largest size in bytes of the index, which has some 80 bytes for each unit. */
#define INDEX_MAX_SIZE (UINT64_C(128) << 20)
/* Largest size in bytes of all sections, unpacked, if one of them is compressed: they are kept in
 * memory. Neither dwp nor llvm-dwp writes compressed sections. */
#define UNPACKED_MAX_SIZE (UINT64_C(1) << 30)

struct debug_package {
	char *path;
	Elf *elf;
	struct dwp_source source;
	uint8_t *index;
	size_t index_size;
	/* Size of all sections, unpacked, if one of them is compressed; else 0. */
	uint64_t unpacked;
};

/* --- opening ------------------------------------------------------------------------- */

/* Subtracts `size` bytes from *left. Returns false, and subtracts nothing, when they are more than
 * `limit` or than debug_dwarf_allowed(*left). */
static bool
take_memory(uint64_t *left, uint64_t size, uint64_t limit)
{
	if (size > limit || size > debug_dwarf_allowed(*left))
		return false;
	*left -= size;
	return true;
}

/* Finds a section and unpacks it if it is compressed. Returns NULL, or the reason of a failure, a
 * constant text. A missing section is no failure: its size is 0. */
static const char *
take_section(struct debug_package *package, const char *name, uint64_t *left,
	     struct dwp_section *section)
{
	GElf_Shdr header;
	Elf_Scn *scn = debug_section(package->elf, name, &header);
	const Elf_Data *data;

	*section = (struct dwp_section){ 0 };
	if (scn == NULL)
		return NULL;
	section->offset = header.sh_offset;
	section->size = header.sh_size;
	if (header.sh_offset > INT64_MAX || header.sh_size > INT64_MAX - header.sh_offset)
		return "its section headers are damaged";
	if ((header.sh_flags & SHF_COMPRESSED) == 0)
		return NULL;
	if (package->unpacked == 0 &&
	    (!debug_dwarf_fits(package->elf, UNPACKED_MAX_SIZE, &package->unpacked) ||
	     !take_memory(left, package->unpacked, UNPACKED_MAX_SIZE)))
		return "its DWARF takes more memory than there is to spare";
	if (elf_compress(scn, 0, 0) < 0 || (data = elf_getdata(scn, NULL)) == NULL ||
	    data->d_buf == NULL)
		return "its DWARF is damaged, or compressed in a way that this libelf does not "
		       "know";
	section->bytes = data->d_buf;
	section->size = data->d_size;
	return NULL;
}

static const char *
read_index(struct debug_package *package, uint64_t *left)
{
	struct dwp_section section;
	const char *why = take_section(package, ".debug_cu_index", left, &section);

	if (why != NULL)
		return why;
	if (section.size == 0)
		return "it has no index of units";
	if (!take_memory(left, section.size, INDEX_MAX_SIZE))
		return "its index is larger than can be read";
	package->index_size = (size_t)section.size;
	package->index = xmalloc(package->index_size);
	if (!dwp_section_read(&package->source, &section, 0, package->index, package->index_size))
		return "it is truncated";
	return dwp_index_check(package->index, package->index_size);
}

static const char *
read_package(struct debug_package *package, uint64_t *left)
{
	static const char *const name[] = {
#define X(name, section) section,
		DWP_PARTS(X)
#undef X
	};
	struct dwp_source *source = &package->source;
	const char *why = "it cannot be read";
	GElf_Ehdr header;

	package->elf = elf_open_fd(source->fd, &why);
	if (package->elf == NULL || gelf_getehdr(package->elf, &header) == NULL)
		return why != NULL ? why : "it has no sections";
	source->machine = header.e_machine;
	why = take_section(package, ".debug_str.dwo", left, &source->texts);
	for (size_t i = 0; i < DWP_PART_COUNT && why == NULL; i++)
		why = take_section(package, name[i], left, &source->part[i]);
	return why != NULL ? why : read_index(package, left);
}

void
debug_package_close(struct debug_package *package)
{
	if (package == NULL)
		return;
	elf_end(package->elf);
	close(package->source.fd);
	free(package->index);
	free(package->path);
	free(package);
}

/* --- finding ------------------------------------------------------------------------- */

/* Opens the package with the path `below` relative to the place. Returns NULL when there is none,
 * or it cannot be used, of which a warning is logged. */
static struct debug_package *
try_package(struct debug_files *files, const struct debug_place *place, const char *below,
	    const char *module)
{
	struct debug_package *package;
	struct strbuf path = STRBUF_INIT;
	const char *why;
	const uint64_t before = files->dwarf_left;
	int fd;

	fd = debug_place_open(place, below, &path);
	if (fd < 0) {
		strbuf_release(&path);
		return NULL;
	}
	package = xcalloc(1, sizeof(*package));
	package->path = path.data;
	package->source.fd = fd;
	why = read_package(package, &files->dwarf_left);
	if (why == NULL)
		return package;
	files->dwarf_left = before;
	debug_files_warn(files, package->path, module, why);
	debug_package_close(package);
	return NULL;
}

/* Tries the path in all places, its last component in trusted places (--debug-dir, /usr/lib/debug),
 * and then the path below the target's root and --symfs. */
static struct debug_package *
find_by_path(struct debug_files *files, const struct module *module, const char *path)
{
	struct debug_package *package = NULL;
	const char *base = strrchr(path, '/') + 1;

	for (size_t i = 0; i < files->place_count && package == NULL; i++) {
		const struct debug_place *place = &files->place[i];

		package = try_package(files, place, path, module->name);
		if (package == NULL && place->trusted)
			package = try_package(files, place, base, module->name);
	}
	for (size_t i = 0; i < files->root_count && package == NULL; i++)
		package = try_package(files, &files->root[i], path, module->name);
	return package;
}

/* Tries the packages beside the debug file with the path `path`, if this file is below the place:
 * with ".dwp" added to the path, and if the path ends in ".debug", with ".dwp" in place of
 * ".debug". */
static struct debug_package *
find_beside(struct debug_files *files, const struct module *module, const struct debug_place *place,
	    const char *path)
{
	const size_t length = strlen(place->path), skip = strlen(place->prefix);
	const bool has_slash = length > 0 && place->path[length - 1] == '/';
	const char *below = path + length + !has_slash;
	struct debug_package *package;
	struct strbuf name = STRBUF_INIT;
	size_t end;

	if (strncmp(path, place->path, length) != 0 || (!has_slash && path[length] != '/') ||
	    strncmp(below, place->prefix, skip) != 0)
		return NULL;
	below += skip;
	end = strlen(below);
	strbuf_add_format(&name, "%s.dwp", below);
	package = try_package(files, place, name.data, module->name);
	if (package == NULL && end > 6 && strcmp(below + end - 6, ".debug") == 0) {
		strbuf_clear(&name);
		strbuf_add_format(&name, "%.*s.dwp", (int)end - 6, below);
		package = try_package(files, place, name.data, module->name);
	}
	strbuf_release(&name);
	return package;
}

struct debug_package *
debug_package_find(struct debug_files *files, const struct module *module, const char *separate)
{
	struct debug_package *package = NULL;
	struct strbuf path = STRBUF_INIT;

	if (module->kind == MODULE_JIT)
		return NULL;
	for (size_t i = 0; separate != NULL && i < files->place_count && package == NULL; i++)
		package = find_beside(files, module, &files->place[i], separate);
	for (size_t i = 0; separate != NULL && i < files->root_count && package == NULL; i++)
		package = find_beside(files, module, &files->root[i], separate);
	if (package != NULL || module->path[0] != '/')
		return package;
	strbuf_add_format(&path, "%s.dwp", module->path);
	package = find_by_path(files, module, path.data);
	strbuf_release(&path);
	return package;
}

/* --- units --------------------------------------------------------------------------- */

const char *
debug_package_path(const struct debug_package *package)
{
	return package->path;
}

int
debug_package_unit(const struct debug_package *package, uint64_t id, const char **why)
{
	struct dwp_row row;

	*why = NULL;
	if (!dwp_index_find(package->index, package->index_size, id, &row))
		return -1;
	return dwp_image_make(&package->source, &row, why);
}
