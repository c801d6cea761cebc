/* SPDX-License-Identifier: MIT */
/*
 * debug_file_dwo.c - finds a unit's .dwo file, or the unit in a package, and hands it to libdw.
 *
 * libdw opens the file by name, and maps it. So it gets a sealed copy in memory, named by
 * descriptor: what was checked is what it sees, and the mapping cannot lose its end.
 */
#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"
#include "wallsample/elf/elf_open.h"

/* One .dwo file is that of one compiled file. */
#define DWO_MAX_SIZE (UINT64_C(256) << 20)
#define DWO_MAX_UNPACKED (UINT64_C(1) << 30)

static const char no_memory[] =
	"its DWARF takes more memory than there is to spare (others are not named)";

/* A .dwo file that libdw may be shown. */
struct dwo {
	int fd;
	uint64_t size; /* in memory */
};

/* Prevents all further changes. */
static bool
seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) ==
	       0;
}

/* Makes a copy that cannot be changed; -1 on failure. Closes `fd`. */
static int
sealed_copy(int fd)
{
	int copy = memfd_create("wallsample-dwo", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stat st;
	bool good = copy >= 0 && fstat(fd, &st) == 0;
	uint8_t *block = xmalloc(65536);
	off_t at = 0;

	while (good && at < st.st_size) {
		const ssize_t n = pread(fd, block, 65536, at);

		good = n > 0 && pwrite(copy, block, (size_t)n, at) == n;
		at += n > 0 ? n : 0;
	}
	free(block);
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
	/* libdw would open the further file that it names. */
	if (type == DW_UT_skeleton)
		return false;
	if (type == DW_UT_split_compile && id == check->id)
		check->has_id = true;
	return true;
}

/* Do the sections that libdw takes strings from end with one's end? */
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

/* NULL: libdw may have it. *unpacked: the size of its DWARF. */
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

/* Of what there is no memory for one is named, of each module. */
static void
dwo_warn(struct debug_files *files, struct debug_file_rest *rest, const char *path, const char *why)
{
	if (why == no_memory && rest->main.split_refused)
		return;
	rest->main.split_refused |= why == no_memory;
	debug_files_warn(files, path, rest->want.module, why);
}

/* Opens the copy, and says how much memory it takes and will take. NULL: it is fine. */
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
	/* libdw maps the copy; what is packed in it is unpacked besides. */
	if (unpacked > dwo->size)
		dwo->size += unpacked;
	return dwo->size <= allowed ? NULL : no_memory;
}

/* False: there is none that may be shown to libdw. */
static bool
open_dwo(struct debug_files *files, struct debug_file_rest *rest, const char *path, uint64_t id,
	 struct dwo *dwo)
{
	const uint64_t allowed = debug_dwarf_allowed(files->dwarf_left);
	const char *why = NULL;
	struct stat st;

	dwo->fd = debug_find_by_path(files, path);
	if (dwo->fd < 0) {
		if (!rest->main.split_missed)
			debug_files_warn(files, path, rest->want.module,
					 "no such regular file below the target's root, --symfs "
					 "or --debug-dir, nor a package (.dwp) with its unit "
					 "(others are not named)");
		rest->main.split_missed = true;
		return false;
	}
	dwo->size = fstat(dwo->fd, &st) == 0 ? (uint64_t)st.st_size : UINT64_MAX;
	if (dwo->size > DWO_MAX_SIZE)
		why = "it is larger than can be read";
	else if (dwo->size > allowed)
		why = no_memory;
	if (why == NULL) {
		dwo->fd = sealed_copy(dwo->fd);
		why = check_copy(dwo, id, allowed);
	}
	if (why == NULL)
		return true;
	if (dwo->fd >= 0)
		close(dwo->fd);
	dwo_warn(files, rest, path, why);
	return false;
}

/* The same for a unit in the module's package, which is looked for once. */
static bool
open_packed(struct debug_files *files, struct debug_file_rest *rest, uint64_t id, struct dwo *dwo)
{
	const uint64_t allowed = debug_dwarf_allowed(files->dwarf_left);
	const char *why;
	struct stat st;

	if (!rest->package_tried)
		rest->package = debug_package_find(files, rest->module, rest->separate.path);
	rest->package_tried = true;
	if (rest->package == NULL)
		return false;
	dwo->fd = debug_package_unit(rest->package, id, &why);
	if (dwo->fd >= 0 && seal(dwo->fd) && fstat(dwo->fd, &st) == 0) {
		dwo->size = (uint64_t)st.st_size;
		why = check_copy(dwo, id, allowed);
		if (why == NULL)
			return true;
	}
	if (dwo->fd >= 0)
		close(dwo->fd);
	if (why != NULL)
		dwo_warn(files, rest, debug_package_path(rest->package), why);
	return false;
}

static const struct debug_skeleton *
find_skeleton(const struct debug_dwarf *dwarf, uint64_t offset)
{
	size_t low = 0, high = dwarf->skeleton_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (dwarf->skeleton[middle].offset == offset)
			return &dwarf->skeleton[middle];
		if (dwarf->skeleton[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

size_t
debug_file_split(struct debug_files *files, const struct debug_file *file, Dwarf_CU *cu)
{
	struct debug_file_rest *rest = file->rest;
	const struct debug_skeleton *skeleton;
	Dwarf_Die die, split;
	struct dwo dwo;
	uint8_t type;
	uint64_t id;

	if (rest == NULL || rest->standalone || rest->main.skeleton_count == 0 ||
	    dwarf_cu_info(cu, NULL, &type, &die, NULL, &id, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton)
		return 0;
	skeleton = find_skeleton(&rest->main, dwarf_dieoffset(&die));
	if (skeleton == NULL || (!open_packed(files, rest, id, &dwo) &&
				 !open_dwo(files, rest, skeleton->path, id, &dwo)))
		return 0;
	snprintf(rest->main.split_name, DEBUG_SPLIT_NAME_SIZE, "/proc/self/fd/%d", dwo.fd);
	/* Asking for the DIE of the split unit is what makes libdw look for it. */
	(void)dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL, NULL);
	memcpy(rest->main.split_name, debug_split_nowhere, DEBUG_SPLIT_NAME_SIZE);
	close(dwo.fd);
	files->dwarf_left -= dwo.size;
	rest->split_size += dwo.size;
	return dwo.size;
}
