/* SPDX-License-Identifier: MIT */
/*
 * debug_file_internal.h - what the files debug_file*.c share: where is looked, how what is found
 * there is opened and checked, and what an open debug file holds.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_FILE_INTERNAL_H
#define WALLSAMPLE_DWARF_DEBUG_FILE_INTERNAL_H

#include <gelf.h>

#include "wallsample/dwarf/debug_file.h"
#include "dwarf/debuginfod_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* --- places (debug_file_place.c) ---------------------------------------------------- */

/*
 * A directory to look below. Links in a trusted one are the administrator's and followed
 * (Fedora's .build-id is made of them); in another the target could have laid them out.
 */
struct debug_place {
	char *path;
	const char *prefix; /* before what is looked for: "usr/lib/debug/", or "" */
	bool trusted;
	int top; /* the directory, if it is not trusted: it stays there when the target has ended */
};

/*
 * Opens the regular file `below` the place for reading. -1 with errno: ELOOP for a link that is
 * not followed, EINVAL for what is no regular file or a path with "..", ENODATA for
 * an empty one.
 */
int debug_place_open(const struct debug_place *place, const char *below);

/* The path without "." and "..", no slash in front; NULL when it leaves the root. To be freed. */
char *debug_path_plain(const char *path);

/* --- what a file is (debug_file_check.c) --------------------------------------------- */

/* What a debug file must be to be used. */
struct debug_want {
	const char *module;   /* its base name, for messages */
	const uint8_t *id;    /* build-id */
	size_t id_size;       /* 0: none */
	uint16_t machine;
	bool has_crc;
	uint32_t crc;
};

struct debug_found {
	Elf *elf;
	int fd;     /* owned, -1 for none */
	char *path;
};

/* The section of that name with bytes in the file, or NULL; fills *header. */
Elf_Scn *debug_section(Elf *elf, const char *name, GElf_Shdr *header);
/* Its bytes as they are in the file, or NULL: not there, empty or larger than `limit`. */
const uint8_t *debug_section_bytes(Elf *elf, const char *name, size_t limit, size_t *size);
bool debug_has_dwarf(Elf *elf);
bool debug_has_symtab(Elf *elf);

/*
 * Takes the descriptor and checks what it is: true, and *found is filled, if it is wanted, else
 * all is closed, and said why unless it just has nothing to offer.
 */
bool debug_accept(struct debug_files *files, int fd, const char *path,
		  const struct debug_want *want, struct debug_found *found);
void debug_found_release(struct debug_found *found);

/* --- where to look (debug_file_find.c) ------------------------------------------------ */

/*
 * Of all files of a run together. The largest browsers have 4 GiB; it is all kept in memory.
 */
#define DEBUG_DWARF_MOST (UINT64_C(6) << 30)

/*
 * What is read to find the CRCs of debug links, in a run: ten seconds or so. The largest debug
 * files have a few GiB; larger ones are sparse, and a target can lay out any number of them.
 */
#define DEBUG_CRC_MOST (UINT64_C(16) << 30)

/* More --debug-dir than fit here are not looked at. */
#define DEBUG_PLACES_MAX 64

struct debug_files {
	struct debug_files_config config;
	struct debug_place place[DEBUG_PLACES_MAX]; /* with the layout of /usr/lib/debug */
	size_t place_count;
	struct debug_place root[2]; /* with the files of the target, by its own paths */
	size_t root_count;
	struct debug_place cache;  /* of the debuginfod client; its path may be NULL */
	struct debug_server *server; /* NULL: none is asked */
	struct strings *said;      /* paths that a warning named */
	uint64_t dwarf_left;       /* bytes of DWARF, unpacked, that may still be read */
	uint64_t crc_left;         /* bytes that may still be read for CRCs */
};

/* One warning "PATH is not used as the debug file of MODULE: WHY" for each path. */
void debug_files_warn(struct debug_files *files, const char *path, const char *module,
		      const char *why);

/* The debug file of a module whose own is open as `own` (NULL: it has none). */
bool debug_find(struct debug_files *files, const struct module *module, Elf *own,
		struct debug_found *found);

/*
 * What .gnu_debugaltlink of `elf` names, a file open as `fd` (-1: unknown); `user` is
 * what that file itself had to be. False: not there, or it names nothing.
 */
bool debug_find_alternate(struct debug_files *files, const struct debug_want *user, Elf *elf,
			  int fd, struct debug_found *found);

/* Opens the first of the target's files that a path of the compiler's names, or -1. */
int debug_find_by_path(struct debug_files *files, const char *path);

/* --- MiniDebugInfo (debug_file_mini.c) ------------------------------------------------- */

/* The unpacked .gnu_debugdata, *bytes to be freed after elf_end; or NULL, and *why for damage. */
Elf *debug_mini_open(Elf *own, void **bytes, const char **why);

/* --- DWARF (debug_file_dwarf.c, debug_file_split.c) -------------------------------------- */

/* A unit (CU) whose rest is in a file of its own. */
struct debug_skeleton {
	uint64_t offset; /* of its DIE */
	char *path;      /* of the .dwo file, as the compiler saw it */
};

/*
 * An ELF file made ready for libdw: what it needs is read, the rest hidden, the descriptor
 * taken away, and nothing left in the DWARF that makes it open files by itself.
 */
struct debug_dwarf {
	Elf *elf;
	void **buffer;         /* memory that sections were moved to */
	size_t buffer_count, buffer_capacity;
	struct debug_skeleton *skeleton; /* ascending */
	size_t skeleton_count, skeleton_capacity;
	char *split_name;      /* in .debug_str: the name of every .dwo file, or NULL */
	bool split_missed;     /* one that was not there has been named, */
	bool split_refused;    /* one that there was no memory for */
};

/*
 * Opens and makes ready what is in the file `fd` (borrowed) or, when that is -1, in the image's
 * memory; false, with *why, when its DWARF cannot be used. Its size, unpacked, is taken off *left.
 */
bool debug_dwarf_init(struct debug_dwarf *dwarf, int fd, const struct image *image,
		      uint64_t *left, const char **why);
void debug_dwarf_release(struct debug_dwarf *dwarf);

/* Moves the section's bytes to memory with `extra` zero bytes behind them. */
void debug_dwarf_move(struct debug_dwarf *dwarf, Elf_Data *data, size_t extra);

/* Of so many bytes that are left for DWARF, those that the machine has to spare. */
uint64_t debug_dwarf_allowed(uint64_t left);

/* Would all DWARF sections together, unpacked, fit the limit? Then *bytes is their size. */
bool debug_dwarf_fits(Elf *elf, uint64_t limit, uint64_t *bytes);

/* Are its units, seen by their headers alone, as few as libdw may come to know of? */
bool debug_has_few_units(Dwarf *dwarf);

/* What is done with the unit at `die`; false ends the walk. */
typedef bool debug_unit_visitor(void *context, Dwarf_Die *die, uint8_t offset_size);

/* Every unit of .debug_info that libdw can come to know of; false when the visitor said so. */
bool debug_visit_units(Dwarf *dwarf, debug_unit_visitor *visit, void *context);

#define DEBUG_SPLIT_NAME_SIZE 32
extern const char debug_split_nowhere[DEBUG_SPLIT_NAME_SIZE];

/* Disarms the units whose rest is in another file; false when one cannot be. */
bool debug_split_disarm(struct debug_dwarf *dwarf);

/* The rest of a struct debug_file. */
struct debug_file_rest {
	const struct module *module;
	/*
	 * An object of the target's own making: no file that it asks for is looked for. It may
	 * ask for others with each object, and servers would hear of them.
	 */
	bool alone;
	struct debug_want want; /* what further files must be, and whose they are */
	struct debug_found separate, alternate_found;
	void *mini_bytes;
	bool dwarf_tried, package_tried;
	struct debug_dwarf main, alternate;
	struct debug_package *package; /* of split units; NULL: there is none */
	uint64_t split_size; /* what .dwo files take, of the budget for the run, until the end
			      * of the handle */
};

#endif
