/* SPDX-License-Identifier: MIT */
/*
 * debug_file.h - the file in which a module's DWARF and full symbol table are: itself, or a
 * separate one by build-id, by debug link with its CRC, or from debuginfod's cache or servers.
 *
 * Looked for in this order: --debug-dir directories, /usr/lib/debug, beside the file
 * (below the target's root and --symfs), debuginfod. A file with another build-id, or another
 * CRC, is refused with a warning that names it. Everything that is opened is a regular
 * file, opened without following what the target could have laid out: descriptors, not
 * paths, are passed on.
 *
 * libdw opens files by itself, with open(2) and by paths that stand in the DWARF: the dwz file
 * of .gnu_debugaltlink, and .dwo files (0.188: DW_AT_dwo_name beside the file and below
 * DW_AT_comp_dir), which it even maps. In a hostile file these are links, pipes, devices.
 * So its handles are made of an Elf without a descriptor, in which .gnu_debugaltlink is hidden
 * and every DW_AT_dwo_name changed; debug_file_split() opens .dwo files instead.
 *
 * Packages of .dwo files (.dwp), which libdw 0.188 does not know, are looked at first: FILE.dwp
 * beside the separate debug file, in the directories above, beside the file. libdw gets
 * a .dwo file in memory with the one unit that was asked for.
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
#define DEBUGINFOD_USES(X)                                                     \
	X(OFF, "off")                                                          \
	X(CACHE, "cache") /* only files that an earlier request left in the client's cache */ \
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
	Elf *elf;     /* of the separate file; NULL when there is none */
	Elf *mini;    /* of .gnu_debugdata, unpacked; NULL when there is none */
	Elf *own;     /* of the module's image itself; NULL when it cannot be read */
	char *path;   /* of the separate file, for messages; NULL */
	struct debug_file_rest *rest; /* private */
};

/*
 * Finds and opens; what is not there stays NULL. Costs no more than headers until DWARF or
 * symbols are asked for. The module must outlive the file.
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
 * Has a skeleton unit of such a handle find its split unit: in the module's package, else in the
 * .dwo file, which is looked for below the target's root, --symfs and --debug-dir. To be called
 * before anything else is asked about the unit (dwarf_cu_info with a subdie, dwarf_ranges):
 * libdw looks once only. Does nothing for other units. Returns how many bytes of memory it
 * takes until the handle ends.
 */
size_t debug_file_split(struct debug_files *files, const struct debug_file *file, Dwarf_CU *cu);

#endif
