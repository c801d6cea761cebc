/* SPDX-License-Identifier: MIT */
/*
 * debug_file_internal.h - finds, opens and checks debug files; describes an open debug file.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_FILE_INTERNAL_H
#define WALLSAMPLE_DWARF_DEBUG_FILE_INTERNAL_H

#include <gelf.h>

#include "dwarf/debug_dwarf_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/dwarf/debug_file.h"

/* --- search (debug_file_find.c) --------------------------------------------------------------- */

/* A directory to search. A trusted directory is --debug-dir, /usr/lib/debug, or the cache of
 * debuginfod's client: symbolic links in it are the administrator's and are followed (Fedora's
 * .build-id is made of links). In other directories the target could have created links. */
struct debug_place {
	char *path;
	/* Put before every path that is searched below the directory: "usr/lib/debug/", or "". */
	const char *prefix;
	bool trusted;
	/* Descriptor of the directory if it is not trusted, else -1; it stays valid when the target
	 * ends. */
	int top;
	/* Opens files in this directory on behalf of this process; borrowed. NULL:
	 * debug_place_open() opens them. `number` is the argument `place` of opener->open. */
	const struct debug_opener *opener;
	unsigned number;
};

/* Limit of the bytes of DWARF that are read with one struct debug_files; they are kept in memory.
 * The largest browsers have 4 GiB. */
#define DEBUG_DWARF_MOST (UINT64_C(6) << 30)

/*
 * Limit of the bytes that are read with one struct debug_files to compute CRCs for debug links:
 * about ten seconds. The largest debug files have a few GiB; larger files are sparse, and a target
 * can create any number of sparse files.
 */
#define DEBUG_CRC_MOST (UINT64_C(16) << 30)

/* Largest number of directories with the layout of /usr/lib/debug. Three are kept free for other
 * directories than --debug-dir; further --debug-dir directories are ignored. */
#define DEBUG_PLACES_MAX 64

struct debug_server;

struct debug_files {
	struct debug_files_config config;
	/* Directories with the layout of /usr/lib/debug. */
	struct debug_place place[DEBUG_PLACES_MAX];
	size_t place_count;
	struct debug_place root[2]; /* directories with the target's files at the target's paths */
	size_t root_count;
	/* Cache of debuginfod's client; cache.path is NULL if it is not used. */
	struct debug_place cache;
	struct debug_server *server; /* NULL when no server is asked */
	/* Fetches debug files; borrowed. NULL: `server` does. */
	const struct debug_opener *opener;
	struct strings *said; /* paths of files that a warning has named */
	uint64_t dwarf_left;  /* bytes of unpacked DWARF that may still be read */
	uint64_t crc_left;    /* bytes that may still be read for CRCs */
};

/* What a debug file must have to be used for a module. */
struct debug_want {
	const char *module; /* base name of the module, for messages */
	const uint8_t *id;  /* build-id */
	size_t id_size;     /* bytes of the build-id; 0 when the module has none */
	uint16_t machine;   /* e_machine */
	bool has_crc;       /* the whole file must have the CRC `crc` */
	uint32_t crc;
};

/* An open debug file, or none. */
struct debug_found {
	Elf *elf;
	int fd; /* owned; -1 when no file was found */
	char *path;
};

/*
 * Opens for reading the regular file with the path `below` relative to the place and its prefix.
 * Stores its whole path in *path, an initialised buffer. Returns a descriptor, or -1 with errno:
 * ELOOP for a link that is not followed, EINVAL for another kind of file, ENODATA for an empty
 * file, EXDEV for a path with "..", EOVERFLOW for a path that is too long, or an error of open(2).
 */
int debug_place_open(const struct debug_place *place, const char *below, struct strbuf *path);

/* Finds the debug file of a module that `want` describes, and fills in *found, which
 * debug_found_release releases. Returns false when there is none. `own` is the ELF file of the
 * module itself, or NULL when that file cannot be read. */
bool debug_find(struct debug_files *files, const struct module *module, Elf *own,
		const struct debug_want *want, struct debug_found *found);

/* Finds the alternate (dwz) file that .gnu_debugaltlink of `elf` names. `fd` is the descriptor of
 * the file of `elf`, or -1 when it is not known; `user` has the name and the machine of the module.
 * Returns false when `elf` has no such section, or the file was not found. */
bool debug_find_alternate(struct debug_files *files, const struct debug_want *user, Elf *elf,
			  int fd, struct debug_found *found);

/* Opens the file with a path from the DWARF, in the first of the directories that has it: the
 * target's root, --symfs, then the trusted places, which are also searched for the last component
 * of the path. Returns a descriptor, which the caller closes; -1 when no directory has the file. */
int debug_find_by_path(struct debug_files *files, const char *path);

/* --- checks (debug_file_check.c) -------------------------------------------------------------- */

/* Finds the section with this name and stores its header; NULL when `elf` is NULL, or has no such
 * section with bytes in the file. */
Elf_Scn *debug_section(Elf *elf, const char *name, GElf_Shdr *header);
/* Returns the bytes of a section as they are in the file, borrowed from `elf`; NULL when the
 * section is missing, empty or larger than `limit`. */
const uint8_t *debug_section_bytes(Elf *elf, const char *name, size_t limit, size_t *size);
/* Return whether `elf` has DWARF, and whether it has a full symbol table; false for NULL. */
bool debug_has_dwarf(Elf *elf);
bool debug_has_symtab(Elf *elf);

/* Logs a warning "PATH is not used as the debug file of MODULE: WHY", once for each path. */
void debug_files_warn(struct debug_files *files, const char *path, const char *module,
		      const char *why);

/*
 * Takes over the descriptor and checks the file. Fills in *found and returns true when the file is
 * the wanted one and has DWARF or symbols. Otherwise closes the file and returns false, with a
 * warning when it is not the wanted file.
 */
bool debug_accept(struct debug_files *files, int fd, const char *path,
		  const struct debug_want *want, struct debug_found *found);
void debug_found_release(struct debug_found *found);

/* --- debuginfod servers (debuginfod.c; debuginfod_absent.c without libdebuginfod) ------------- */

/*
 * Prepares requests to debuginfod servers. Returns NULL, after one warning with the reason, when no
 * server can be asked. Each request may take `limit_ns`; after a request that takes longer, or that
 * fails though the file may exist, no server is asked again.
 */
struct debug_server *debug_server_create(const struct log *log, uint64_t limit_ns);
void debug_server_free(struct debug_server *server);
/* Returns the state of the servers, never DEBUGINFOD_NOT_WANTED. `server` may be NULL, when
 * debug_server_create has returned NULL. */
enum debuginfod_state debug_server_state(const struct debug_server *server);

/*
 * Fetches the debug file of a build-id into the client's cache. `name` is the name of the module,
 * for messages. Returns a descriptor, which the caller closes, and the path of the file in *path,
 * which the caller frees; -1 when no server has the file.
 */
int debug_server_fetch(struct debug_server *server, const uint8_t *id, size_t id_size,
		       const char *name, char **path);

/* --- packages of split units (debug_file_package.c) ------------------------------------------- */

struct debug_package;

/*
 * Finds and opens the package (.dwp) of a module: beside its debug file `separate` (NULL when there
 * is none), beside the module's file, or in a directory of debug files. NULL when there is none.
 */
struct debug_package *debug_package_find(struct debug_files *files, const struct module *module,
					 const char *separate);
void debug_package_close(struct debug_package *package);
const char *debug_package_path(const struct debug_package *package);

/*
 * Makes a .dwo file in memory from the unit with this id; the contents of the unit are not checked.
 * Returns its descriptor, which the caller closes; -1 when the package lacks the unit (*why is
 * NULL) or is damaged (*why is the reason).
 */
int debug_package_unit(const struct debug_package *package, uint64_t id, const char **why);

/* What debug_file.rest points to. */
struct debug_file_rest {
	const struct module *module;
	/*
	 * The module is an object that the target generated. No other files are searched for such
	 * an object: its links could name any files, and servers would be asked for any build-id.
	 */
	bool standalone;
	/* What a debug file must have to be used for the module. */
	struct debug_want want;
	struct debug_found separate, alternate_found;
	void *mini_bytes; /* the unpacked .gnu_debugdata, freed after debug_file.mini */
	bool dwarf_tried, package_tried;
	struct debug_dwarf main, alternate;
	struct debug_package *package; /* package with the split units; NULL when there is none */
	/* Bytes that .dwo files take from dwarf_left until the module's Dwarf handle is closed. */
	uint64_t split_size;
};

#endif
