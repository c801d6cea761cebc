/* SPDX-License-Identifier: MIT */
/* jit_elf.c - converts object files from a target's memory into the form of a program. */
#include "jit/objects/jit_elf_internal.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"
#include "wallsample/elf/relocate.h"

/* Code is in [LOWEST_CODE, HIGHEST_CODE): not on the first page, nor among the addresses of the
 * kernel. */
#define LOWEST_CODE UINT64_C(0x1000)
#define HIGHEST_CODE (UINT64_C(1) << 56)

#define CODE_FLAGS (SHF_ALLOC | SHF_EXECINSTR)

/* A file that is being converted. `header` and `section` are copies of the file's headers. */
struct maker {
	uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
	Elf64_Shdr *section; /* a section that the file does not contain completely is SHT_NULL */
	size_t section_count;
	const Elf64_Shdr *symbols; /* .symtab; NULL when the file has none */
	struct jit_elf *elf;
};

/* Checks the file's header. Returns false, with elf->why set, when the file cannot be used. */
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

/* Reads the section headers, if they are plausible. SHN_LORESERVE sections or more, whose number is
 * stored outside of the header, do not occur in object files of compilers and are not supported. */
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

/* Returns true when the section's name begins with `text` or, if `whole` is true, equals it. */
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

/*
 * --- text-relative unwind tables ------------------------------------------------------------
 *
 * LuaJIT's tables have addresses that count from the start of the code (DW_EH_PE_textrel of the
 * Linux Standard Base), which libdw cannot resolve. They are replaced by addresses that count from
 * their own position. Both forms have 4 bytes, so that nothing moves.
 */
#define FORM_BEFORE (DW_EH_PE_textrel | DW_EH_PE_udata4)
#define FORM_AFTER (DW_EH_PE_pcrel | DW_EH_PE_sdata4)

/* The contents of a common entry (CIE) after its length and id, when its augmentation is "zR" and
 * each number has one byte. */
struct cie_start {
	uint8_t version;
	char augmentation[3];
	uint8_t code_align, data_align, return_register;
	uint8_t augmentation_size, encoding;
};

/* Replaces FORM_BEFORE by FORM_AFTER in a common entry; returns false when it has another form. */
static bool
settle_cie(uint8_t *bytes, uint64_t size)
{
	struct cie_start start;

	if (size < sizeof(start))
		return false;
	memcpy(&start, bytes, sizeof(start));
	/* The high bit of the first byte is set in an LEB128 number of several bytes. */
	if (start.version != 1 || memcmp(start.augmentation, "zR", 3) != 0 ||
	    ((start.code_align | start.data_align) & 0x80) != 0 || start.augmentation_size != 1 ||
	    start.encoding != FORM_BEFORE)
		return false;
	bytes[offsetof(struct cie_start, encoding)] = FORM_AFTER;
	return true;
}

/* Makes the start of the function, the first word of its entry (FDE), relative to the address of
 * that word, `address`. `text`: start of the code. A start that does not fit is not changed. */
static void
settle_fde(uint8_t *bytes, uint64_t size, uint64_t address, uint64_t text)
{
	uint32_t offset;
	uint64_t relative;

	if (size < sizeof(offset))
		return;
	offset = bytes_u32(bytes);
	relative = text + offset - address;
	if ((int64_t)relative < INT32_MIN || (int64_t)relative > INT32_MAX)
		return;
	offset = (uint32_t)relative;
	memcpy(bytes, &offset, sizeof(offset));
}

/* Converts the text-relative entries of an .eh_frame at `address`; `text`: start of the code. */
static void
settle_frames(uint8_t *bytes, uint64_t size, uint64_t address, uint64_t text)
{
	uint64_t at = 0, cie = 0;
	bool cie_is_relative = false;

	while (size - at >= 2 * sizeof(uint32_t)) {
		const uint64_t content = at + 2 * sizeof(uint32_t);
		const uint32_t length = bytes_u32(bytes + at);
		const uint32_t id = bytes_u32(bytes + at + sizeof(length));

		/* This is the terminator (length 0), a damaged entry, or one in the 64-bit
		 * format. */
		if (length < sizeof(id) || length > size - at - sizeof(length))
			return;
		if (id == 0) {
			cie = at;
			cie_is_relative = settle_cie(bytes + content, length - sizeof(id));
		} else if (cie_is_relative && at + sizeof(length) - id == cie) {
			settle_fde(bytes + content, length - sizeof(id), address + content, text);
		}
		at += sizeof(length) + length;
	}
}

/* --- addresses of an object file --------------------------------------------------- */

static bool
is_loaded_code(const Elf64_Shdr *section)
{
	return (section->sh_type == SHT_PROGBITS || section->sh_type == SHT_NOBITS) &&
	       (section->sh_flags & CODE_FLAGS) == CODE_FLAGS && section->sh_size > 0 &&
	       section->sh_addr >= LOWEST_CODE && section->sh_addr < HIGHEST_CODE &&
	       section->sh_size <= HIGHEST_CODE - section->sh_addr;
}

/* Sets sh_addr of sections that are not loaded to 0: some compilers store the address at which they
 * keep the section, but offsets into .debug_str and similar sections count from 0. An .eh_frame
 * that was not loaded gets an address directly after the code, so that the 32-bit distances in it
 * can reach the code. */
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

		if (section->sh_addr != 0 || !is_named(maker, section, ".eh_frame", true))
			continue;
		section->sh_addr = (highest + 15) & ~UINT64_C(15);
		if (section->sh_type != SHT_NOBITS)
			settle_frames(maker->bytes + section->sh_offset, section->sh_size,
				      section->sh_addr, lowest);
	}
}

/* Adds to the value of each symbol the address of the symbol's section. The value is then an
 * address in the target. */
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
		/* A value above the section's size includes the section's address already. */
		if (symbol.st_value > section->sh_size)
			continue;
		symbol.st_value += section->sh_addr;
		memcpy(at + i * sizeof(symbol), &symbol, sizeof(symbol));
	}
}

/* Stores the value of symbol number `index`; returns false when it is missing or undefined. */
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

/* Applies a relocation to the section; ignores one that is damaged or of an unknown kind. */
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
	/* A truncated value would be a wrong address. */
	if (how->size == 4 && (number < INT32_MIN || number > (int64_t)UINT32_MAX ||
			       (how->relative && number > INT32_MAX)))
		return;
	memcpy(maker->bytes + section->sh_offset + rela->r_offset, &value, how->size);
}

/* Applies at most `most` relocations of a section. Returns the number of relocations applied. */
static uint64_t
relocate_section(struct maker *maker, const Elf64_Shdr *relocations, uint64_t most)
{
	const Elf64_Shdr *section = &maker->section[relocations->sh_info];
	uint64_t count = relocations->sh_size / sizeof(Elf64_Rela);

	if (count > most)
		count = most;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Rela rela;

		memcpy(&rela, maker->bytes + relocations->sh_offset + i * sizeof(rela),
		       sizeof(rela));
		relocate_one(maker, section, &rela);
	}
	return count;
}

/* Applies the relocations of unwind tables and DWARF: at most as many as fit into a file of this
 * size, because sections of a damaged file may overlap. */
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
			left -= relocate_section(maker, relocations, left);
	}
}

/* --- the form of a program ----------------------------------------------------------- */

/* Sets has_tables if the file has unwind tables. LLVM gives .eh_frame the type SHT_X86_64_UNWIND of
 * the x86-64 psABI, with which libdw does not find it: SHT_PROGBITS replaces this type. */
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

/* Adds a range of code, if it is not empty and in [LOWEST_CODE, HIGHEST_CODE), and the file has
 * fewer than JIT_ELF_RANGES ranges so far. */
static void
elf_add_range(struct jit_elf *elf, uint64_t start, uint64_t size)
{
	if (elf->range_count < JIT_ELF_RANGES && start >= LOWEST_CODE && start < HIGHEST_CODE &&
	    size > 0 && size <= HIGHEST_CODE - start)
		elf->range[elf->range_count++] = (struct jit_elf_range){ start, start + size };
}

/* Replaces the section's code by the code in the target, which is relocated. *left is the number of
 * bytes that may still be read in all sections; the limit is needed because sections of a damaged
 * file may overlap. */
static void
read_code(struct maker *maker, const Elf64_Shdr *section, const struct memory *memory,
	  uint64_t *left)
{
	if (memory == NULL || section->sh_type == SHT_NOBITS || section->sh_size > *left)
		return;
	*left -= section->sh_size;
	memory_read(memory, section->sh_addr, maker->bytes + section->sh_offset, section->sh_size);
}

/* Converts the file into a program: adds its ranges of code, reads their code, and appends program
 * headers for up to IMAGE_MAX_SEGMENTS of them. */
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

/* Returns true when the file has segments of code, as a linked program has. */
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

/* Converts the file. Returns false, with the reason in elf->why, when the file cannot be used. */
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
	if (maker->section_count > 0)
		memcpy(maker->bytes + maker->header.e_shoff, maker->section,
		       maker->section_count * sizeof(*maker->section));
	memcpy(maker->bytes, &maker->header, sizeof(maker->header));
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
