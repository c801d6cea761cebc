/* SPDX-License-Identifier: MIT */
/*
 * debug_file.h - the file with a module's DWARF and full symbol table: the module itself, or a
 * separate file found by build-id, by debug link with its CRC, or by debuginfod.
 *
 * Searched in this order: --debug-dir directories, /usr/lib/debug, beside the file (below the
 * target's root and --symfs), debuginfod. A file with another build-id, or another CRC, is
 * refused with a warning that names it. Only regular files are opened, without following links
 * that the target could have created; descriptors, not paths, are passed on.
 *
 * Why not libdwfl's search: libdw opens files itself, with open(2) and by paths in the DWARF: the
 * dwz file of .gnu_debugaltlink, and .dwo files (0.188: DW_AT_dwo_name beside the file and below
 * DW_AT_comp_dir), which it even maps. In a hostile file these are links, pipes, devices.
 * So its handles are made of an Elf without a descriptor, in which .gnu_debugaltlink is hidden
 * and every DW_AT_dwo_name changed; debug_file_split() opens .dwo files instead.
 *
 * Packages of .dwo files (.dwp), which libdw 0.188 cannot read, are tried first: FILE.dwp
 * beside the separate debug file, in the directories above, beside the file. libdw gets a .dwo
 * file in memory with the one unit that is needed.
 *
 * A struct debug_files and what was opened with it belong to one thread at a time.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_FILE_H
#define WALLSAMPLE_DWARF_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "wallsample/base/base.h"
#include "wallsample/process/module.h"

/* X(NAME, word) */
#define DEBUGINFOD_USES(X)                                                                         \
	X(OFF, "off")                                                                              \
	X(CACHE, "cache") /* only files that an earlier request left in the client's cache */      \
	X(NET, "net")     /* ask the servers of $DEBUGINFOD_URLS */

enum debuginfod_use {
#define X(name, word) DEBUGINFOD_##name,
	DEBUGINFOD_USES(X)
#undef X
};

/* The state of the servers of $DEBUGINFOD_URLS. */
enum debuginfod_state {
	DEBUGINFOD_NOT_BUILT,  /* built without libdebuginfod */
	DEBUGINFOD_NOT_WANTED, /* the use is not DEBUGINFOD_NET */
	DEBUGINFOD_NO_ADDRESS, /* the variable is not set */
	DEBUGINFOD_UNUSABLE,   /* libdebuginfod cannot be loaded */
	DEBUGINFOD_GIVEN_UP,   /* a server did not answer: no server is asked any more */
	DEBUGINFOD_IN_USE,     /* the servers answer */
};

/* Where debug files are looked for. The texts and the log are borrowed. A zeroed
 * configuration: /usr/lib/debug and beside the file, no debuginfod, no warnings. */
struct debug_files_config {
	const char *const *debug_dirs; /* searched before /usr/lib/debug; ended by NULL; or NULL */
	const char *root;  /* the target's root directory ("/proc/123/root"), for files beside
			    * those of the target; or NULL. It is opened by debug_files_create
			    * and stays open after the target has ended. */
	const char *symfs; /* a directory with a copy of the target's files; or NULL */
	enum debuginfod_use debuginfod;
	const struct log *log; /* one warning for each file that cannot be used; or NULL */
};

struct debug_files;

struct debug_files *debug_files_create(const struct debug_files_config *config);
void debug_files_free(struct debug_files *files);

enum debuginfod_state debug_files_servers(const struct debug_files *files);

struct debug_file {
	Elf *elf;   /* of the separate file; NULL when there is none */
	Elf *mini;  /* of .gnu_debugdata, unpacked; NULL when there is none */
	Elf *own;   /* of the module's image itself; NULL when it cannot be read */
	char *path; /* of the separate file, for messages; NULL */
	struct debug_file_rest *rest; /* private */
};

/*
 * Finds and opens the files of a module; members without a file stay NULL. Reads only headers.
 * The module must outlive the file.
 */
void debug_file_open(struct debug_files *files, const struct module *module,
		     struct debug_file *out);
void debug_file_close(struct debug_file *file);

/*
 * A new DWARF handle of the separate file, else of the module's own, with its alternate (dwz)
 * file set; NULL when neither has DWARF. May be called again: each handle keeps what was
 * read with it until debug_file_dwarf_end, and only one of a file may be open at a time.
 */
Dwarf *debug_file_dwarf(struct debug_files *files, const struct debug_file *file);
void debug_file_dwarf_end(struct debug_files *files, const struct debug_file *file, Dwarf *dwarf);

/*
 * Finds the split unit of a skeleton unit of such a handle: in the module's package, else in the
 * .dwo file, which is searched below the target's root, --symfs and --debug-dir. Must be called
 * before any other use of the unit (dwarf_cu_info with a subdie, dwarf_ranges): libdw searches
 * once only. Does nothing for other units. Returns the bytes of memory that the split unit takes
 * until the handle ends.
 */
size_t debug_file_split(struct debug_files *files, const struct debug_file *file, Dwarf_CU *cu);

/* --- the DWARF of one module, without names: for readers of types (debug_info.c) ----------- */

struct debug_info;

/*
 * Finds and opens the DWARF as above. NULL: there is none. Reads all of it, which takes 10 ms for
 * 30 MiB in the page cache. It is foreign: entries may form rings, and sizes may be anything. The
 * module, and the texts and the log of `config`, are borrowed until debug_info_close.
 */
struct debug_info *debug_info_open(const struct module *module,
				   const struct debug_files_config *config);
Dwarf *debug_info_dwarf(const struct debug_info *info); /* never NULL */
void debug_info_close(struct debug_info *info);

#endif
