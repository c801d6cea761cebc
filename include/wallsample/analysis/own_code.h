/* SPDX-License-Identifier: MIT */
/*
 * own_code.h - finds the function of a call chain that a developer of the program would name: the
 * program's own function that ran or waited. The functions that it called, of the C library, of a
 * language's runtime and of other libraries, are counted for it.
 */
#ifndef WALLSAMPLE_ANALYSIS_OWN_CODE_H
#define WALLSAMPLE_ANALYSIS_OWN_CODE_H

#include "wallsample/analysis/view.h"
#include "wallsample/process/module.h"

/*
 * How likely a function is the program's own. The place of a call chain is its innermost function
 * of the highest rank that occurs in the chain; for OWN_STANDARD the outermost one, because what
 * the standard library does for itself is best named by the function that was started.
 */
enum own_rank {
	OWN_SYSTEM, /* of the C library, the dynamic linker or the vDSO, or a named frame */
	/* of another library, or of a language's runtime, virtual machine or interpreter */
	OWN_LIBRARY,
	OWN_SCRIPT_LIBRARY, /* of the standard library of an interpreted language */
	/* of the standard library of a compiled language that marks the functions of programs
	 * (view_function.program) */
	OWN_STANDARD,
	OWN_UNNAMED, /* of a file of the program, without a symbol */
	OWN_FILE, /* of a file of the program, or of an installed package of an interpreted one */
	/* view_function.program: of an interpreted program, or of a compiled language's program; or
	 * code made at run time that has a name */
	OWN_PROGRAM,
};

struct own {
	unsigned char *rank; /* enum own_rank, indexed by function of the view */
};

/*
 * Fills `out`, which own_release() releases, for a view whose functions are code. `modules` are
 * those of the profile's frames; NULL: not known, then the names of the files alone decide which
 * of them are libraries.
 */
void own_make(const struct view *view, const struct modules *modules, struct own *out);
void own_release(struct own *own);

/* True for the files of the C library, of the dynamic linker and of the vDSO. `name` is the name of
 * a module. */
bool own_is_system_file(const char *name);
/* True for names of functions of the C library. Only for statically linked programs, because other
 * functions may have such names, too. */
bool own_is_c_library_name(const char *name);

/* Returns the index of the place in `function`; 0 if `depth` is 0. */
size_t own_place(const struct own *own, const uint32_t *function, size_t depth);

/* True for a function without a name in code generated at run time, which has no file: the name of
 * its module is that of all executable memory without a file (module.h). */
bool own_is_generated(const struct view_function *function);
/* True if the call chain has a function that is or may be the program's own: one of rank
 * OWN_STANDARD or higher, or generated code without a name. */
bool own_is_in(const struct own *own, const struct view *view, const uint32_t *function,
	       size_t depth);

#endif
