/* SPDX-License-Identifier: MIT */
/*
 * made_object.c - writes small object files and programs, header by header.
 */
#include "made_object.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/elf/relocate.h"

#if defined(__x86_64__)
#define RELATIVE_32 R_X86_64_PC32
#define ABSOLUTE_64 R_X86_64_64
#define SP_NUMBER 7
#define RETURN_NUMBER 16
#else
#define RELATIVE_32 R_AARCH64_PREL32
#define ABSOLUTE_64 R_AARCH64_ABS64
#define SP_NUMBER 31
#define RETURN_NUMBER 30
#endif

static const char section_names[] = MADE_SECTION_NAMES;
static const char symbol_names[] = MADE_SYMBOL_NAMES;

static uint32_t
name_of(const char *text)
{
	for (size_t i = 1; i < sizeof(section_names); i += strlen(section_names + i) + 1)
		if (strcmp(section_names + i, text) == 0)
			return (uint32_t)i;
	abort();
}

#define SECTION(name, sh_kind, field, link, info)                              \
	{                                                                      \
		.sh_name = name_of(name), .sh_type = (sh_kind),                \
		.sh_offset = offsetof(struct made_object, field),                     \
		.sh_size = sizeof(((struct made_object *)0)->field), .sh_link = (link), \
		.sh_info = (info), .sh_addralign = 1,                          \
	}

/* Makes the unwind tables of a function with a frame of 80 bytes, as compilers write them. */
static void
make_tables(struct made_object *file)
{
	static const uint8_t cie[] = { 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78,
				       RETURN_NUMBER, 1, 0x1b /* pc-relative, 4 bytes */,
				       0x0c, SP_NUMBER, 8 /* CFA = sp + 8 */,
				       /* the return address is at CFA - 8 */
				       0x80 | RETURN_NUMBER, 1, 0, 0 };
	static const uint8_t fde[] = { 20, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, FUNCTION_SIZE, 0, 0,
				       0, 0, 0x0e, FRAME_SIZE, 0, 0, 0, 0, 0 };

	memcpy(file->eh_frame, cie, sizeof(cie));
	memcpy(file->eh_frame + sizeof(cie), fde, sizeof(fde));
	file->rela = (Elf64_Rela){
		.r_offset = sizeof(cie) + 8,
		.r_info = ELF64_R_INFO(1, RELATIVE_32),
		.r_addend = FUNCTION_AT,
	};
	file->rela_info = (Elf64_Rela){
		.r_offset = 4,
		.r_info = ELF64_R_INFO(2, ABSOLUTE_64),
		.r_addend = 3,
	};
}

static void
make_header(struct made_object *file)
{
	*file = (struct made_object){ .header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_REL,
		.e_machine = relocate_machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shoff = offsetof(struct made_object, section),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = SHSTRTAB,
	} };
}

void
made_object_init(struct made_object *file, uint64_t code, uint64_t eh_frame)
{
	const Elf64_Shdr sections[SECTIONS] = {
		[TEXT] = SECTION(".text", SHT_PROGBITS, code, 0, 0),
		/* the type SHT_X86_64_UNWIND (0x70000001), as LLVM sets it */
		[EH_FRAME] = SECTION(".eh_frame", 0x70000001, eh_frame, 0, 0),
		[RELA] = SECTION(".rela.eh_frame", SHT_RELA, rela, SYMTAB, EH_FRAME),
		[SYMTAB] = SECTION(".symtab", SHT_SYMTAB, symbol, STRTAB, 2),
		[STRTAB] = SECTION(".strtab", SHT_STRTAB, strtab, 0, 0),
		[INFO] = SECTION(".debug_info", SHT_PROGBITS, info, 0, 0),
		[RELA_INFO] = SECTION(".rela.debug_info", SHT_RELA, rela_info, SYMTAB, INFO),
		[SHSTRTAB] = SECTION(".shstrtab", SHT_STRTAB, shstrtab, 0, 0),
	};

	make_header(file);
	make_tables(file);
	memcpy(file->section, sections, sizeof(sections));
	memcpy(file->strtab, symbol_names, sizeof(symbol_names));
	memcpy(file->shstrtab, section_names, sizeof(section_names));
	file->section[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	file->section[TEXT].sh_addr = code;
	file->section[EH_FRAME].sh_flags = SHF_ALLOC;
	file->section[EH_FRAME].sh_addr = eh_frame;
	/* some compilers store there the address of their copy of the section */
	file->section[INFO].sh_addr = 0x1234;
	file->section[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	file->section[RELA].sh_entsize = file->section[RELA_INFO].sh_entsize = sizeof(Elf64_Rela);
	file->symbol[1] = (Elf64_Sym){
		.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
		.st_shndx = TEXT,
	};
	file->symbol[2] = (Elf64_Sym){
		.st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = TEXT,
		.st_value = FUNCTION_AT,
		.st_size = FUNCTION_SIZE,
	};
}

void
made_program_init(struct made_object *file, uint64_t code)
{
	made_object_init(file, code, 0);
	file->header.e_type = ET_DYN;
	file->header.e_phoff = offsetof(struct made_object, segment);
	file->header.e_phnum = 1;
	file->header.e_phentsize = sizeof(file->segment);
	file->segment = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = offsetof(struct made_object, code),
		.p_vaddr = code,
		.p_filesz = CODE_SIZE,
		.p_memsz = CODE_SIZE,
		.p_align = 1,
	};
	file->section[EH_FRAME] = file->section[RELA] = (Elf64_Shdr){ 0 };
	file->symbol[2].st_value += code;
}
