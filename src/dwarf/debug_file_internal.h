/* SPDX-License-Identifier: MIT */
/*
 * debug_file_internal.h - where debug files are searched, how they are opened and checked, and
 * what an open one holds.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_FILE_INTERNAL_H
#define WALLSAMPLE_DWARF_DEBUG_FILE_INTERNAL_H

#include <gelf.h>

#include "dwarf/debug_dwarf_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/dwarf/debug_file.h"

/* --- places (debug_file_place.c) ---------------------------------------------------- */

/*
 * A directory to search. Links in a trusted one are the administrator's and are followed
 * (Fedora's .build-id is made of them); in another the target could have created them.
 */
struct debug_place {
	char *path;
	const char *prefix; /* before the searched path: "usr/lib/debug/", or "" */
	bool trusted;
	int top; /* descriptor, if it is not trusted: valid after the target has ended */
};

/*
 * Opens the regular file `below` the place for reading. -1 with errno: ELOOP for a link that is
 * not followed, EINVAL for another kind of file or a path with "..", ENODATA for an empty one.
 */
int debug_place_open(const struct debug_place *place, const char *below);

/* The path without "." and "..", no slash in front; NULL when it leaves the root. To be freed. */
char *debug_path_plain(const char *path);

/* --- checks (debug_file_check.c) ------------------------------------------------------ */

/* What a debug file must be to be used. */
struct debug_want {
	const char *module; /* its base name, for messages */
	const uint8_t *id;  /* build-id */
	size_t id_size;     /* 0: none */
	uint16_t machine;
	bool has_crc;
	uint32_t crc;
};

struct debug_found {
	Elf *elf;
	int fd; /* owned, -1 for none */
	char *path;
};

struct debug_files;

/* The section of that name with bytes in the file, or NULL; fills *header. */
Elf_Scn *debug_section(Elf *elf, const char *name, GElf_Shdr *header);
/* Its bytes as they are in the file, or NULL: not there, empty or larger than `limit`. */
const uint8_t *debug_section_bytes(Elf *elf, const char *name, size_t limit, size_t *size);
bool debug_has_dwarf(Elf *elf);
bool debug_has_symtab(Elf *elf);

/* Logs a warning "PATH is not used as the debug file of MODULE: WHY", once for each path. */
void debug_files_warn(struct debug_files *files, const char *path, const char *module,
		      const char *why);

/*
 * Takes over the descriptor and checks the file. True, and *found is filled, when it is wanted
 * and has DWARF or symbols; else closes it, with a warning when it is not the wanted one.
 */
bool debug_accept(struct debug_files *files, int fd, const char *path,
		  const struct debug_want *want, struct debug_found *found);
void debug_found_release(struct debug_found *found);

/* --- search (debug_file_find.c) ---------------------------------------------------------- */

/* Bytes of DWARF of all files of a run. The largest browsers have 4 GiB; all is kept in memory. */
#define DEBUG_DWARF_MOST (UINT64_C(6) << 30)

/*
 * Bytes that are read for the CRCs of debug links, in a run: ten seconds or so. The largest debug
 * files have a few GiB; larger ones are sparse, and a target can create any number of them.
 */
#define DEBUG_CRC_MOST (UINT64_C(16) << 30)

/* Further --debug-dir are ignored. */
#define DEBUG_PLACES_MAX 64

struct debug_files {
	struct debug_files_config config;
	struct debug_place place[DEBUG_PLACES_MAX]; /* with the layout of /usr/lib/debug */
	size_t place_count;
	struct debug_place root[2]; /* with the files of the target, by its own paths */
	size_t root_count;
	struct debug_place cache;    /* of the debuginfod client; its path may be NULL */
	struct debug_server *server; /* NULL: none is asked */
	struct strings *said;        /* paths that were warned about */
	uint64_t dwarf_left;         /* bytes of unpacked DWARF that may still be read */
	uint64_t crc_left;           /* bytes that may still be read for CRCs */
};

/* The debug file of a module whose own is open as `own` (NULL: it has none). */
bool debug_find(struct debug_files *files, const struct module *module, Elf *own,
		struct debug_found *found);

/*
 * The file that .gnu_debugaltlink of `elf` names, a file open as `fd` (-1: unknown); `user` is
 * what `elf` itself had to be. False: there is no such section, or no such file.
 */
bool debug_find_alternate(struct debug_files *files, const struct debug_want *user, Elf *elf,
			  int fd, struct debug_found *found);

/* Opens the first of the target's files that a path in the DWARF names, or -1. */
int debug_find_by_path(struct debug_files *files, const char *path);

/* --- debuginfod servers (debuginfod.c; debuginfod_absent.c without libdebuginfod) ---------- */

struct debug_server;

/*
 * NULL, after one warning with the reason, when no server can be asked. A file may take
 * `limit_ns`; a server that cannot be reached or does not answer in time is not asked again.
 */
struct debug_server *debug_server_create(const struct log *log, uint64_t limit_ns);
void debug_server_free(struct debug_server *server);
/* `server` may be NULL; never returns DEBUGINFOD_NOT_WANTED. */
enum debuginfod_state debug_server_state(const struct debug_server *server);

/*
 * Fetches the debug file of a build-id into the client's cache; `name` is the module's, printable,
 * for the progress line. Returns a descriptor, the caller's, and its path in *path, to be freed;
 * or -1.
 */
int debug_server_fetch(struct debug_server *server, const uint8_t *id, size_t id_size,
		       const char *name, char **path);

/* --- MiniDebugInfo (debug_file_mini.c) ------------------------------------------------- */

/* The unpacked .gnu_debugdata, *bytes to be freed after elf_end; or NULL, and *why for damage. */
Elf *debug_mini_open(Elf *own, void **bytes, const char **why);

/* --- packages of split units (debug_file_package.c) -------------------------------------- */

struct debug_package;

/*
 * The package (.dwp) of a module: beside the debug file `separate` (NULL: there is none), beside
 * the module's file, or in a directory of debug files. NULL when there is none.
 */
struct debug_package *debug_package_find(struct debug_files *files, const struct module *module,
					 const char *separate);
void debug_package_close(struct debug_package *package);
const char *debug_package_path(const struct debug_package *package);

/*
 * A .dwo file in memory with the unit of that id, its descriptor to be closed; -1 when it is not
 * there (*why is NULL) or is damaged. Its contents are foreign.
 */
int debug_package_unit(const struct debug_package *package, uint64_t id, const char **why);

/* The private part of a struct debug_file. */
struct debug_file_rest {
	const struct module *module;
	/*
	 * An object that the target generated: files that it asks for are not searched. It may
	 * ask for others with each object, and servers would learn of them.
	 */
	bool standalone;
	struct debug_want want; /* what further files must be, and whose they are */
	struct debug_found separate, alternate_found;
	void *mini_bytes;
	bool dwarf_tried, package_tried;
	struct debug_dwarf main, alternate;
	struct debug_package *package; /* of split units; NULL: there is none */
	uint64_t split_size; /* memory of .dwo files, of the budget of the run, until the end
			      * of the handle */
};

#endif
