/* SPDX-License-Identifier: MIT */
/*
 * jit_elf.c - brings object files that lie in a target's memory into the shape of a program.
 */
#include "jit/objects/jit_elf_internal.h"

#include <elf.h>
#include <string.h>

#include "wallsample/elf/relocate.h"
#include "wallsample/base/base.h"

/* Code lies neither on the first page nor among the kernel's addresses. */
#define LOWEST_CODE UINT64_C(0x1000)
#define HIGHEST_CODE (UINT64_C(1) << 56)

#define CODE_FLAGS (SHF_ALLOC | SHF_EXECINSTR)

/* A file on its way. The headers are copies, so that nothing written changes them. */
struct maker {
	uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
	Elf64_Shdr *section; /* those that are not whole in the file are SHT_NULL */
	size_t section_count;
	const Elf64_Shdr *symbols; /* .symtab, or NULL */
	struct jit_elf *elf;
};

static bool
elf_read_header(struct maker *maker)
{
	Elf64_Ehdr *header = &maker->header;

	maker->elf->why = "not an ELF file";
	if (maker->size < sizeof(*header))
		return false;
	memcpy(header, maker->bytes, sizeof(*header));
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	maker->elf->why = "an ELF file of another machine";
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != relocate_machine)
		return false;
	maker->elf->why = "neither an object file nor a program";
	return header->e_ident[EI_VERSION] == EV_CURRENT &&
	       (header->e_type == ET_REL || header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

static bool
is_in_file(const struct maker *maker, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_NOBITS ||
	       (section->sh_offset <= maker->size &&
		section->sh_size <= maker->size - section->sh_offset);
}

/* Numbers from SHN_LORESERVE on are stored elsewhere; no compiler's object has as many. */
static void
read_sections(struct maker *maker)
{
	const Elf64_Ehdr *header = &maker->header;
	size_t count = header->e_shnum;

	if (count == 0 || count >= SHN_LORESERVE || header->e_shentsize != sizeof(Elf64_Shdr) ||
	    header->e_shoff > maker->size ||
	    count > (maker->size - header->e_shoff) / sizeof(Elf64_Shdr))
		return;
	maker->section = xcalloc(count, sizeof(*maker->section));
	maker->section_count = count;
	memcpy(maker->section, maker->bytes + header->e_shoff, count * sizeof(*maker->section));
	for (size_t i = 0; i < count; i++) {
		Elf64_Shdr *section = &maker->section[i];

		if (!is_in_file(maker, section))
			*section = (Elf64_Shdr){ .sh_name = section->sh_name };
		if (section->sh_type == SHT_SYMTAB && maker->symbols == NULL)
			maker->symbols = section;
	}
}

/* The name begins with (or, with `whole`, is) the text. */
static bool
is_named(const struct maker *maker, const Elf64_Shdr *section, const char *text, bool whole)
{
	size_t length = strlen(text) + (whole ? 1 : 0);
	const Elf64_Shdr *names;

	if (maker->header.e_shstrndx >= maker->section_count)
		return false;
	names = &maker->section[maker->header.e_shstrndx];
	return names->sh_type == SHT_STRTAB && section->sh_name < names->sh_size &&
	       length <= names->sh_size - section->sh_name &&
	       memcmp(maker->bytes + names->sh_offset + section->sh_name, text, length) == 0;
}

/* --- what an object file lacks ----------------------------------------------------- */

static bool
is_loaded_code(const Elf64_Shdr *section)
{
	return (section->sh_type == SHT_PROGBITS || section->sh_type == SHT_NOBITS) &&
	       (section->sh_flags & CODE_FLAGS) == CODE_FLAGS && section->sh_size > 0 &&
	       section->sh_addr >= LOWEST_CODE && section->sh_addr < HIGHEST_CODE &&
	       section->sh_size <= HIGHEST_CODE - section->sh_addr;
}

/* Unwind tables that were not loaded: they are placed behind the code, where it is in reach. */
static void
place_tables(struct maker *maker, Elf64_Shdr *section, uint64_t lowest, uint64_t highest)
{
	section->sh_addr = (highest + 15) & ~UINT64_C(15);
	if (section->sh_type != SHT_NOBITS)
		jit_frames_settle(maker->bytes + section->sh_offset, section->sh_size,
				  section->sh_addr, lowest);
}

/*
 * Only what is loaded has an address. Some compilers say where they keep the other sections,
 * too; but offsets into .debug_str and the like count from 0.
 */
static void
settle_addresses(struct maker *maker)
{
	uint64_t lowest = UINT64_MAX, highest = 0;

	for (size_t i = 0; i < maker->section_count; i++) {
		Elf64_Shdr *section = &maker->section[i];

		if ((section->sh_flags & SHF_ALLOC) == 0)
			section->sh_addr = 0;
		if (!is_loaded_code(section))
			continue;
		if (section->sh_addr < lowest)
			lowest = section->sh_addr;
		if (section->sh_addr + section->sh_size > highest)
			highest = section->sh_addr + section->sh_size;
	}
	for (size_t i = 0; i < maker->section_count; i++) {
		Elf64_Shdr *section = &maker->section[i];

		if (section->sh_addr == 0 && is_named(maker, section, ".eh_frame", true))
			place_tables(maker, section, lowest, highest);
	}
}

/* Symbols count from their sections: make them count from 0. */
static void
settle_symbols(struct maker *maker)
{
	uint8_t *at;

	if (maker->symbols == NULL)
		return;
	at = maker->bytes + maker->symbols->sh_offset;
	for (uint64_t i = 0; i < maker->symbols->sh_size / sizeof(Elf64_Sym); i++) {
		const Elf64_Shdr *section;
		Elf64_Sym symbol;

		memcpy(&symbol, at + i * sizeof(symbol), sizeof(symbol));
		if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= maker->section_count)
			continue;
		section = &maker->section[symbol.st_shndx];
		/* Beyond the section: a compiler that has done it already. */
		if (symbol.st_value > section->sh_size)
			continue;
		symbol.st_value += section->sh_addr;
		memcpy(at + i * sizeof(symbol), &symbol, sizeof(symbol));
	}
}

static bool
symbol_value(const struct maker *maker, uint64_t index, uint64_t *value)
{
	Elf64_Sym symbol;

	if (index >= maker->symbols->sh_size / sizeof(symbol))
		return false;
	memcpy(&symbol, maker->bytes + maker->symbols->sh_offset + index * sizeof(symbol),
	       sizeof(symbol));
	*value = symbol.st_value;
	return symbol.st_shndx != SHN_UNDEF &&
	       (symbol.st_shndx < maker->section_count || symbol.st_shndx == SHN_ABS);
}

static void
relocate_one(struct maker *maker, const Elf64_Shdr *section, const Elf64_Rela *rela)
{
	const struct relocation *how = relocate_find(ELF64_R_TYPE(rela->r_info));
	uint64_t value;
	int64_t number;

	if (how == NULL || rela->r_offset > section->sh_size ||
	    how->size > section->sh_size - rela->r_offset ||
	    !symbol_value(maker, ELF64_R_SYM(rela->r_info), &value))
		return;
	value += (uint64_t)rela->r_addend;
	if (how->relative)
		value -= section->sh_addr + rela->r_offset;
	number = (int64_t)value;
	/* What does not fit is better left as it is than made into another address. */
	if (how->size == 4 && (number < INT32_MIN || number > (int64_t)UINT32_MAX ||
			       (how->relative && number > INT32_MAX)))
		return;
	memcpy(maker->bytes + section->sh_offset + rela->r_offset, &value, how->size);
}

static void
relocate_section(struct maker *maker, const Elf64_Shdr *relocations, uint64_t *left)
{
	const Elf64_Shdr *section = &maker->section[relocations->sh_info];
	uint64_t count = relocations->sh_size / sizeof(Elf64_Rela);

	for (uint64_t i = 0; i<count && * left> 0; i++, (*left)--) {
		Elf64_Rela rela;

		memcpy(&rela, maker->bytes + relocations->sh_offset + i * sizeof(rela),
		       sizeof(rela));
		relocate_one(maker, section, &rela);
	}
}

/* Unwind tables and DWARF; sections that share their bytes do not count twice. */
static void
relocate(struct maker *maker)
{
	uint64_t left = maker->size / sizeof(Elf64_Rela);

	for (size_t i = 0; i < maker->section_count && maker->symbols != NULL; i++) {
		const Elf64_Shdr *relocations = &maker->section[i], *section;

		if (relocations->sh_type != SHT_RELA ||
		    relocations->sh_info >= maker->section_count ||
		    relocations->sh_link != (size_t)(maker->symbols - maker->section))
			continue;
		section = &maker->section[relocations->sh_info];
		if (section->sh_type != SHT_NOBITS && (section->sh_flags & SHF_COMPRESSED) == 0 &&
		    (is_named(maker, section, ".eh_frame", true) ||
		     is_named(maker, section, ".debug_", false)))
			relocate_section(maker, relocations, &left);
	}
}

/* --- the shape of a program ---------------------------------------------------------- */

/*
 * LLVM gives .eh_frame the type that the x86-64 psABI has for it (SHT_X86_64_UNWIND), which
 * libdw does not look at.
 */
static void
settle_tables(struct maker *maker)
{
	for (size_t i = 0; i < maker->section_count; i++) {
		Elf64_Shdr *section = &maker->section[i];
		bool eh_frame = is_named(maker, section, ".eh_frame", true);

		if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS ||
		    section->sh_size == 0)
			continue;
		if (eh_frame)
			section->sh_type = SHT_PROGBITS;
		if (eh_frame || is_named(maker, section, ".debug_frame", true))
			maker->elf->has_tables = true;
	}
}

static void
elf_add_range(struct jit_elf *elf, uint64_t start, uint64_t size)
{
	if (elf->range_count < JIT_ELF_RANGES && start >= LOWEST_CODE && start < HIGHEST_CODE &&
	    size > 0 && size <= HIGHEST_CODE - start)
		elf->range[elf->range_count++] = (struct jit_elf_range){ start, start + size };
}

/* As it runs. Sections that share their bytes do not count twice. */
static void
read_code(struct maker *maker, const Elf64_Shdr *section, const struct memory *memory,
	  uint64_t *left)
{
	if (memory == NULL || section->sh_type == SHT_NOBITS || section->sh_size > *left)
		return;
	*left -= section->sh_size;
	memory_read(memory, section->sh_addr, maker->bytes + section->sh_offset, section->sh_size);
}

/* A program header for each section of code, appended to the file. */
static void
add_segments(struct maker *maker, const struct memory *memory)
{
	Elf64_Phdr segment[IMAGE_MAX_SEGMENTS];
	size_t count = 0, offset = (maker->size + 7) & ~(size_t)7, length;
	uint64_t left = maker->size;

	for (size_t i = 0; i < maker->section_count; i++) {
		const Elf64_Shdr *section = &maker->section[i];
		bool nobits = section->sh_type == SHT_NOBITS;

		if (!is_loaded_code(section))
			continue;
		elf_add_range(maker->elf, section->sh_addr, section->sh_size);
		read_code(maker, section, memory, &left);
		if (count == ARRAY_SIZE(segment))
			continue;
		segment[count++] = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = nobits ? 0 : section->sh_offset,
			.p_vaddr = section->sh_addr,
			.p_paddr = section->sh_addr,
			.p_filesz = nobits ? 0 : section->sh_size,
			.p_memsz = section->sh_size,
			.p_align = 1,
		};
	}
	length = count * sizeof(*segment);
	maker->bytes = xrealloc(maker->bytes, offset + length);
	memset(maker->bytes + maker->size, 0, offset - maker->size);
	memcpy(maker->bytes + offset, segment, length);
	maker->size = offset + length;
	maker->header.e_phoff = offset;
	maker->header.e_phnum = (uint16_t)count;
	maker->header.e_phentsize = sizeof(*segment);
	maker->header.e_type = ET_EXEC;
}

/* Has it segments of code that a loader would have put there? */
static bool
is_program(const struct maker *maker)
{
	const Elf64_Ehdr *header = &maker->header;

	if (header->e_type == ET_REL || header->e_phentsize != sizeof(Elf64_Phdr) ||
	    header->e_phoff > maker->size ||
	    header->e_phnum > (maker->size - header->e_phoff) / sizeof(Elf64_Phdr))
		return false;
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, maker->bytes + header->e_phoff + i * sizeof(segment),
		       sizeof(segment));
		if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
		    segment.p_memsz > 0)
			return true;
	}
	return false;
}

static void
write_headers(struct maker *maker)
{
	if (maker->section_count > 0)
		memcpy(maker->bytes + maker->header.e_shoff, maker->section,
		       maker->section_count * sizeof(*maker->section));
	memcpy(maker->bytes, &maker->header, sizeof(maker->header));
}

static bool
make(struct maker *maker, const struct memory *memory)
{
	struct jit_elf *elf = maker->elf;
	bool program;

	if (!elf_read_header(maker))
		return false;
	read_sections(maker);
	if (maker->header.e_type == ET_REL) {
		settle_addresses(maker);
		settle_symbols(maker);
		relocate(maker);
	}
	settle_tables(maker);
	program = is_program(maker);
	elf->why = "no code in it that was loaded";
	if (!program) {
		add_segments(maker, memory);
		if (elf->range_count == 0)
			return false;
	}
	write_headers(maker);
	elf->image = image_take_memory(maker->bytes, maker->size);
	maker->bytes = NULL;
	if (elf->image == NULL) {
		elf->why = "a damaged ELF file";
		return false;
	}
	for (size_t i = 0; program && i < elf->image->segment_count; i++)
		if (elf->image->segment[i].executable)
			elf_add_range(elf, elf->image->segment[i].vaddr,
				      elf->image->segment[i].mem_size);
	elf->has_tables |= elf->image->eh_frame_hdr != 0;
	return elf->range_count > 0;
}

bool
jit_elf_open(struct jit_elf *elf, uint8_t *bytes, size_t size, const struct memory *memory)
{
	struct maker maker = { .bytes = bytes, .size = size, .elf = elf };
	bool made;

	memset(elf, 0, sizeof(*elf));
	made = make(&maker, memory);
	free(maker.section);
	free(maker.bytes);
	if (made)
		elf->why = NULL;
	else
		jit_elf_release(elf);
	return made;
}

void
jit_elf_release(struct jit_elf *elf)
{
	image_free(elf->image);
	elf->image = NULL;
}
