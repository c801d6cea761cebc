/* SPDX-License-Identifier: MIT */
/*
 * debug_file_dwo.c - finds the split unit of a skeleton unit in a .dwo file or a package, and
 * passes it to libdw.
 *
 * libdw opens a .dwo file by name and maps it. So libdw gets the name /proc/self/fd/N of a sealed
 * copy of the file in memory: nothing can change or truncate the copy after it was checked.
 */
#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/elf/elf_open.h"

/* Largest size in bytes of a .dwo file, which has the DWARF of one source file, and of this DWARF
 * when unpacked. */
#define DWO_MAX_SIZE (UINT64_C(256) << 20)
#define DWO_MAX_UNPACKED (UINT64_C(1) << 30)

static const char no_memory[] =
	"its DWARF takes more memory than there is to spare (others are not named)";

/* An open .dwo file. */
struct dwo {
	int fd;
	/* Bytes of memory that the copy of the file, and libdw for the unpacked sections, take. */
	uint64_t size;
};

/* Prevents all further changes of a file in memory. Returns false on failure. */
static bool
seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) ==
	       0;
}

/* Copies `size` bytes of the file to a sealed file in memory, and returns the descriptor of the
 * copy; -1 on failure. Closes `fd`. */
static int
sealed_copy(int fd, uint64_t size)
{
	int copy = memfd_create("wallsample-dwo", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool good = copy >= 0;
	off_t at = 0;

	while (good && (uint64_t)at < size)
		good = sendfile(copy, fd, &at, (size_t)(size - (uint64_t)at)) > 0;
	close(fd);
	if (good && seal(copy))
		return copy;
	if (copy >= 0)
		close(copy);
	return -1;
}

struct dwo_check {
	uint64_t id;
	bool has_id;
};

static bool
check_unit(void *context, Dwarf_Die *die, uint8_t offset_size)
{
	struct dwo_check *check = context;
	uint64_t id;
	uint8_t type;

	(void)offset_size;
	if (dwarf_cu_info(die->cu, NULL, &type, NULL, NULL, &id, NULL, NULL) != 0)
		return true;
	/* A .dwo file has no skeleton units: libdw would open the files that they name. */
	if (type == DW_UT_skeleton)
		return false;
	if (type == DW_UT_split_compile && id == check->id)
		check->has_id = true;
	return true;
}

/* Returns whether the sections from which libdw reads strings end with a zero. */
static bool
strings_end(Elf *elf)
{
	static const char *const name[] = { ".debug_info.dwo", ".debug_str.dwo",
					    ".debug_line_str.dwo", ".debug_str",
					    ".debug_line_str" };

	for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
		GElf_Shdr header;
		Elf_Scn *scn = debug_section(elf, name[i], &header);
		const Elf_Data *data = scn != NULL ? elf_getdata(scn, NULL) : NULL;

		if (scn != NULL && (data == NULL || data->d_buf == NULL || data->d_size == 0 ||
				    ((const uint8_t *)data->d_buf)[data->d_size - 1] != 0))
			return false;
	}
	return true;
}

/* Checks the file. When libdw can read the file safely, stores the unpacked size of its DWARF and
 * returns NULL; else returns the reason why not. */
static const char *
what_is_wrong(Elf *elf, uint64_t id, uint64_t *unpacked)
{
	struct dwo_check check = { .id = id };
	GElf_Shdr header;
	Dwarf *dwarf;
	bool sound;

	if (debug_section(elf, ".gnu_debugaltlink", &header) != NULL)
		return "it names further files";
	if (!debug_dwarf_fits(elf, DWO_MAX_UNPACKED, unpacked))
		return "its DWARF is larger than can be read";
	dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	sound = dwarf != NULL && strings_end(elf) && debug_has_few_units(dwarf) &&
		debug_visit_units(dwarf, check_unit, &check);
	dwarf_end(dwarf);
	if (!sound)
		return "its DWARF is damaged";
	return check.has_id ? NULL : "its DWO id is another";
}

/* Logs a warning about a file. Of the files of a module for which there is not enough memory, only
 * the first gets a warning. */
static void
dwo_warn(struct debug_files *files, struct debug_file_rest *rest, const char *path, const char *why)
{
	if (why == no_memory && rest->main.split_refused)
		return;
	rest->main.split_refused |= why == no_memory;
	debug_files_warn(files, path, rest->want.module, why);
}

/* Checks the sealed file and sets dwo->size. Returns NULL, or the reason why the file cannot be
 * used. */
static const char *
check_copy(struct dwo *dwo, uint64_t id, uint64_t allowed)
{
	const char *why = "it cannot be read";
	Elf *elf = dwo->fd >= 0 ? elf_open_fd(dwo->fd, &why) : NULL;
	uint64_t unpacked;

	if (elf != NULL)
		why = what_is_wrong(elf, id, &unpacked);
	else if (why == NULL)
		why = "it has no sections";
	elf_end(elf);
	if (why != NULL)
		return why;
	/* libdw maps the copy, and unpacks compressed sections into further memory. */
	if (unpacked > dwo->size)
		dwo->size += unpacked;
	return dwo->size <= allowed ? NULL : no_memory;
}

/*
 * Checks the file dwo->fd, and replaces it by a sealed copy unless it is one already (`copied`).
 * Returns true when the file can be used; otherwise closes the file, logs a warning, and returns
 * false.
 */
static bool
accept_dwo(struct debug_files *files, struct debug_file_rest *rest, const char *path, uint64_t id,
	   struct dwo *dwo, bool copied)
{
	const uint64_t allowed = debug_dwarf_allowed(files->dwarf_left);
	const char *why = NULL;
	struct stat st;

	dwo->size = fstat(dwo->fd, &st) == 0 ? (uint64_t)st.st_size : UINT64_MAX;
	if (dwo->size > DWO_MAX_SIZE)
		why = "it is larger than can be read";
	else if (dwo->size > allowed)
		why = no_memory;
	if (why == NULL) {
		if (!copied)
			dwo->fd = sealed_copy(dwo->fd, dwo->size);
		why = check_copy(dwo, id, allowed);
	}
	if (why == NULL)
		return true;
	if (dwo->fd >= 0)
		close(dwo->fd);
	dwo_warn(files, rest, path, why);
	return false;
}

/* Searches for the .dwo file by its path and opens it; false when no usable file was found. */
static bool
open_dwo(struct debug_files *files, struct debug_file_rest *rest, const char *path, uint64_t id,
	 struct dwo *dwo)
{
	dwo->fd = debug_find_by_path(files, path);
	if (dwo->fd >= 0)
		return accept_dwo(files, rest, path, id, dwo, false);
	if (!rest->main.split_missed)
		debug_files_warn(files, path, rest->want.module,
				 "no such regular file below the target's root, --symfs "
				 "or --debug-dir, nor a package (.dwp) with its unit "
				 "(others are not named)");
	rest->main.split_missed = true;
	return false;
}

/*
 * Makes a .dwo file in memory from the unit with this id in the module's package. The first call
 * searches for the package. Returns false when there is no package, or it lacks the unit, or the
 * unit cannot be used.
 */
static bool
open_packed(struct debug_files *files, struct debug_file_rest *rest, uint64_t id, struct dwo *dwo)
{
	const char *why;

	if (!rest->package_tried)
		rest->package = debug_package_find(files, rest->module, rest->separate.path);
	rest->package_tried = true;
	if (rest->package == NULL)
		return false;
	dwo->fd = debug_package_unit(rest->package, id, &why);
	if (dwo->fd >= 0 && seal(dwo->fd))
		return accept_dwo(files, rest, debug_package_path(rest->package), id, dwo, true);
	if (dwo->fd >= 0)
		close(dwo->fd);
	if (why != NULL)
		dwo_warn(files, rest, debug_package_path(rest->package), why);
	return false;
}

static int
compare_skeletons(const void *left, const void *right)
{
	const struct debug_skeleton *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

size_t
debug_file_split(struct debug_files *files, const struct debug_file *file, Dwarf_CU *cu)
{
	struct debug_file_rest *rest = file->rest;
	struct debug_skeleton key, *skeleton;
	Dwarf_Die die, split;
	struct dwo dwo;
	uint8_t type;
	uint64_t id;

	if (rest == NULL || rest->standalone || rest->main.skeleton_count == 0 ||
	    dwarf_cu_info(cu, NULL, &type, &die, NULL, &id, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton)
		return 0;
	key.offset = dwarf_dieoffset(&die);
	skeleton = bsearch(&key, rest->main.skeleton, rest->main.skeleton_count, sizeof(key),
			   compare_skeletons);
	if (skeleton == NULL || (!open_packed(files, rest, id, &dwo) &&
				 !open_dwo(files, rest, skeleton->path, id, &dwo)))
		return 0;
	snprintf(rest->main.split_name, DEBUG_SPLIT_NAME_SIZE, "/proc/self/fd/%d", dwo.fd);
	/* This call makes libdw open the file: it requests the top entry of the split unit. */
	(void)dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL, NULL);
	memcpy(rest->main.split_name, debug_split_nowhere, DEBUG_SPLIT_NAME_SIZE);
	close(dwo.fd);
	files->dwarf_left -= dwo.size;
	rest->split_size += dwo.size;
	return dwo.size;
}
