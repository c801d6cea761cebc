/* SPDX-License-Identifier: MIT */
/*
 * made_go.h - programs with a table of Go's functions (pclntab.h), as its linker makes them.
 *
 * The functions, from MADE_GO_TEXT on: main.main, 64 bytes; main.f, 96 bytes, with main.inner
 * inlined into its bytes 16 to 47, and main.innermost inlined into main.inner at bytes 32 to 47;
 * runtime.goexit, 32 bytes.
 */
#ifndef WALLSAMPLE_MADE_GO_H
#define WALLSAMPLE_MADE_GO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* address of the executable segment, which begins with C code */
#define MADE_GO_LOW UINT64_C(0x401000)
#define MADE_GO_TEXT UINT64_C(0x401100)
#define MADE_GO_F (MADE_GO_TEXT + 64)
#define MADE_GO_EXIT (MADE_GO_F + 96)
#define MADE_GO_END (MADE_GO_EXIT + 32)

#define MADE_GO_SIZE 0x4000 /* size of the file in bytes */
#define MADE_GO_TABLE 0x2000 /* offset of the table in the file */
#define MADE_GO_DATA 0x3000  /* offset of the data in the file */

struct made_go {
	bool old;        /* a program of Go 1.19 */
	bool relocated;  /* position-independent: relocations contain the pointers */
	/* there is no moduledata; the header of the table has the start of the code */
	bool no_module;
};

/* Returns the file, of MADE_GO_SIZE bytes; the caller frees it. */
uint8_t *made_go_file(const struct made_go *made);

#endif
