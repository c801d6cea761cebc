/* SPDX-License-Identifier: MIT */
/*
 * debug_file.h - finds and opens the file with a module's DWARF and full symbol table: the module
 * itself, or a separate file found by build-id, by debug link with its CRC, or by debuginfod.
 *
 * The file is searched in this order: by build-id, and then by debug link, in the --debug-dir
 * directories and in the /usr/lib/debug of this system, of the target's root, and of --symfs; by
 * debug link beside the module's file and in .debug beside it, below the target's root and --symfs;
 * at the module's own path below --symfs, if the module has a build-id; by debuginfod. A file with
 * another build-id or another CRC is refused, with a warning. Only regular files are opened. Links
 * that the target could have created are not followed. A file that was checked is passed on as a
 * descriptor, not as a path.
 *
 * The file is not left to libdwfl or libdw to find and open, because libdw then also opens files
 * that the DWARF names: the dwz file of .gnu_debugaltlink, and .dwo files, which it maps (libdw
 * 0.188 searches for DW_AT_dwo_name beside the file and below DW_AT_comp_dir). In a hostile file
 * these names can be those of links, pipes or devices. So a Dwarf handle is made from an Elf
 * without a descriptor, in which .gnu_debugaltlink is hidden and every DW_AT_dwo_name is changed;
 * debug_file_split() opens .dwo files instead.
 *
 * Packages of .dwo files, which libdw 0.188 cannot read, are tried before .dwo files. The name of a
 * package is that of the separate debug file, or of the module's file, with ".dwp" added. It is
 * searched beside the separate debug file, in the directories of debug files, and beside the
 * module's file. For each unit that is needed, libdw gets a .dwo file in memory with this unit
 * alone.
 *
 * A struct debug_files and the files opened with it may be used by one thread at a time.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_FILE_H
#define WALLSAMPLE_DWARF_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "wallsample/base/base.h"
#include "wallsample/process/module.h"

/* How debuginfod is used. X(NAME, argument of the option --debuginfod). */
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
	DEBUGINFOD_NOT_WANTED, /* the configuration's debuginfod is not DEBUGINFOD_NET */
	DEBUGINFOD_NO_ADDRESS, /* $DEBUGINFOD_URLS is not set */
	DEBUGINFOD_UNUSABLE,   /* libdebuginfod cannot be loaded or used */
	/* A request failed or took too long (30 s), so no server is asked any more. */
	DEBUGINFOD_GIVEN_UP,
	DEBUGINFOD_IN_USE, /* the servers can be asked */
};

/* Where debug files are searched. The texts and the log are borrowed. A zeroed configuration
 * searches only /usr/lib/debug, without debuginfod and without warnings. */
struct debug_files_config {
	const char *const *debug_dirs; /* directories to search first, ended by NULL; NULL: none */
	/*
	 * The target's root directory ("/proc/123/root"), below which the paths of the target's
	 * files are searched; NULL: none. It stays open until debug_files_free, even after the
	 * target has ended.
	 */
	const char *root;
	const char *symfs; /* a directory with a copy of the target's files; NULL: none */
	enum debuginfod_use debuginfod;
	/* Gets messages: one warning for each file that is refused, and what debuginfod does; NULL:
	 * no messages. */
	const struct log *log;
};

struct debug_files;

struct debug_files *debug_files_create(const struct debug_files_config *config);
void debug_files_free(struct debug_files *files);

enum debuginfod_state debug_files_servers(const struct debug_files *files);

/* --- files for a process that can open none ------------------------------------------------- */

/* Opens files in place of a struct debug_files. */
struct debug_opener {
	/* Opens the regular file with the path `below` relative to directory number `place`, and
	 * stores its whole path in *path, an initialised buffer. Returns a descriptor, which the
	 * caller closes, or -1 with errno. */
	int (*open)(void *context, unsigned place, const char *below, struct strbuf *path);
	/* Fetches the debug file of a build-id of `id_size` bytes from a debuginfod server; `name`
	 * is the name of the module. Returns a descriptor, which the caller closes, and the path in
	 * *path, which the caller frees; else -1. */
	int (*fetch)(void *context, const uint8_t *id, size_t id_size, const char *name,
		     char **path);
	void *context;
};

/* From now on, uses the opener to open files and the log for messages; both are borrowed. */
void debug_files_delegate(struct debug_files *files, const struct debug_opener *opener,
			  const struct log *log);

/* Carry out a request of opener->open or opener->fetch that another process has sent. Parameters
 * and results are those of struct debug_opener. Both processes must have the same directories. A
 * number that no directory has gives -1 with EINVAL. */
int debug_files_open_below(struct debug_files *files, uint64_t place, const char *below,
			   struct strbuf *path);
int debug_files_fetch(struct debug_files *files, const uint8_t *id, size_t id_size,
		      const char *name, char **path);

/* --- the files of a module ------------------------------------------------------------------- */

struct debug_file {
	Elf *elf;   /* the separate debug file; NULL when there is none */
	int fd;     /* descriptor of the separate debug file; -1 when there is none */
	Elf *mini;  /* the unpacked .gnu_debugdata; NULL when there is none */
	Elf *own;   /* the module's image; NULL when it cannot be read */
	char *path; /* path of the separate file, for messages; NULL when there is none */
	struct debug_file_rest *rest; /* only for the files of src/dwarf */
};

/*
 * Finds and opens the files of a module and reads their headers. Members for files that were not
 * found are NULL. debug_file_close releases *out; the module must exist until then.
 */
void debug_file_open(struct debug_files *files, const struct module *module,
		     struct debug_file *out);
void debug_file_close(struct debug_file *file);

/*
 * Opens a DWARF handle of the separate debug file or else of the module's image, together with the
 * alternate (dwz) file. Returns NULL when neither has usable DWARF. A handle keeps in memory all
 * that it has read until debug_file_dwarf_end closes it; then another handle may be opened. Only
 * one handle of a file may be open at a time.
 */
Dwarf *debug_file_dwarf(struct debug_files *files, const struct debug_file *file);
void debug_file_dwarf_end(struct debug_files *files, const struct debug_file *file, Dwarf *dwarf);

/*
 * Finds the split unit of a skeleton unit (a unit whose debug information, the split unit, is in a
 * .dwo file) of the handle: in the module's package, or else in the .dwo file, which is searched
 * below the target's root, --symfs, --debug-dir and /usr/lib/debug. Must be called before any other
 * use of the unit (dwarf_cu_info with a subdie, dwarf_ranges), because libdw searches for a split
 * unit only once. Returns the bytes of memory that the split unit takes until the handle is closed;
 * 0 when it was not found, or the unit is no skeleton unit.
 */
size_t debug_file_split(struct debug_files *files, const struct debug_file *file, Dwarf_CU *cu);

/* --- the DWARF of one module, for readers of types ------------------------------------------ */

struct debug_info;

/*
 * Finds and opens the DWARF of a module; NULL when there is none. Reads all sections of the DWARF,
 * which takes 10 ms for 30 MiB in the page cache. The contents are not checked: entries may refer
 * to each other in rings, and sizes may have any value. The module, and the texts and the log of
 * `config`, are borrowed until debug_info_close.
 */
struct debug_info *debug_info_open(const struct module *module,
				   const struct debug_files_config *config);
Dwarf *debug_info_dwarf(const struct debug_info *info); /* never NULL */
void debug_info_close(struct debug_info *info);

#endif
