/* SPDX-License-Identifier: MIT */
/*
 * made_object.h - makes ELF files like those that JIT compilers make for debuggers: one function
 * with its symbol and its unwind tables.
 */
#ifndef TEST_MADE_OBJECT_H
#define TEST_MADE_OBJECT_H

#include <elf.h>
#include <stdint.h>

#define CODE_SIZE 256
#define FUNCTION_AT 0x20
#define FUNCTION_SIZE 0x40
#define FRAME_SIZE 80

enum { NOTHING, TEXT, EH_FRAME, RELA, SYMTAB, STRTAB, INFO, RELA_INFO, SHSTRTAB, SECTIONS };

#define MADE_SECTION_NAMES                                                     \
	"\0.text\0.eh_frame\0.rela.eh_frame\0.symtab\0.strtab\0.debug_info\0"   \
	".rela.debug_info\0.shstrtab"
#define MADE_SYMBOL_NAMES "\0jit_function"

struct made_object {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	uint8_t code[CODE_SIZE];
	uint8_t eh_frame[52];
	uint8_t info[12]; /* .debug_info: an address that is to be relocated, not real DWARF */
	Elf64_Rela rela, rela_info;
	Elf64_Sym symbol[3]; /* the null symbol, the section .text, the function jit_function */
	char strtab[sizeof(MADE_SYMBOL_NAMES)], shstrtab[sizeof(MADE_SECTION_NAMES)];
	Elf64_Shdr section[SECTIONS];
};

/* Makes an object file, whose code was loaded at `code`, and its unwind tables at `eh_frame` (0:
 * they were not loaded). */
void made_object_init(struct made_object *file, uint64_t code, uint64_t eh_frame);

/* Makes a program: the same code in a file with a segment and without unwind tables. */
void made_program_init(struct made_object *file, uint64_t code);

#endif
