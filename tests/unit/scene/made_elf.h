/* SPDX-License-Identifier: MIT */
/*
 * made_elf.h - makes ELF files from a list of symbols, and the only module of a test of symbols.
 */
#ifndef WALLSAMPLE_MADE_ELF_H
#define WALLSAMPLE_MADE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/symbol/symbol.h"

/* The module of the open symbols; its number is 0. */
extern struct module *test_module;

/* Options of the tests: names are demangled, and debuginfod is not used. */
extern const struct symbols_config test_config;

/* Stores the innermost symbol at an address of the module. */
void find_made(struct symbols *symbols, uint32_t module, uint64_t vaddr, struct symbol *out);

/* Opens the symbols of a module. close_made() frees them, the module and the image (maybe NULL). */
struct symbols *open_module(enum module_kind kind, const char *name, struct image *image);

/*
 * Opens the symbols of the open module once more, with other options. The caller frees them before
 * it calls close_made().
 */
struct symbols *open_again(const struct symbols_config *config);

#define TEXT_ADDRESS UINT64_C(0x1000)
#define TEXT_SIZE UINT64_C(0x1000)
#define INIT_ADDRESS UINT64_C(0x2000) /* a second executable section, directly behind .text */
#define INIT_SIZE UINT64_C(0x100)
#define DATA_ADDRESS UINT64_C(0x4000)
#define DATA_SIZE UINT64_C(0x1000)

enum { NO_SECTION, TEXT, INIT, DATA, SYMTAB, STRTAB, DYNSYM, DYNSTR, SECTION_COUNT };

struct made_symbol {
	const char *name;
	uint64_t value, size;
	unsigned char type, binding;
	uint16_t section;
	bool dynamic; /* the symbol is in .dynsym, else in .symtab */
};

struct made_file {
	uint8_t *bytes;
	size_t size;
};

/* Makes an ELF file with the symbols and their sections; the caller frees the bytes. */
struct made_file make_file(const struct made_symbol *symbol, size_t count);

/* Makes an ELF file as make_file() does, and opens it as the image of the module. */
struct symbols *open_made(const struct made_symbol *symbol, size_t count);
void close_made(struct symbols *symbols);

/* Returns the image of this process's vdso, or NULL when the process has none. */
struct image *open_vdso(void);

#define FUNCTION(name, value, size, binding) { name, value, size, STT_FUNC, binding, TEXT, false }
#define LABEL(name, value, section) { name, value, 0, STT_NOTYPE, STB_LOCAL, section, false }

#endif
