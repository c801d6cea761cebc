/* SPDX-License-Identifier: MIT */
/*
 * made_elf.c - makes ELF files from a list of symbols; see the header.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <cmocka.h>

#include "made_elf.h"
#include "wallsample/base/base.h"

static struct modules *test_modules;
struct module *test_module;
const struct symbols_config test_config = { .demangle = true, .inlines = true };

void
find_made(struct symbols *symbols, uint32_t module, uint64_t vaddr, struct symbol *out)
{
	const struct symbol_place place = { .module = module, .vaddr = vaddr };

	assert_int_equal(symbols_find(symbols, &place, out, 1), 1);
}

struct symbols *
open_module(enum module_kind kind, const char *name, struct image *image)
{
	test_modules = modules_create();
	assert_int_equal(modules_add_object(test_modules, image), 0);
	test_module = modules_get(test_modules, 0);
	test_module->kind = kind;
	free(test_module->path);
	test_module->path = xstrdup("/nowhere/made");
	test_module->name = name;
	return symbols_create(test_modules, &test_config);
}

struct symbols *
open_again(const struct symbols_config *config)
{
	return symbols_create(test_modules, config);
}

struct made_tables {
	struct strbuf symbols[2], names[2];
};

static void
add_bytes(struct strbuf *sb, const void *bytes, size_t size)
{
	strbuf_add(sb, bytes, size);
}

static void
make_tables(struct made_tables *tables, const struct made_symbol *symbol, size_t count)
{
	const Elf64_Sym zero = { 0 };

	for (size_t i = 0; i < 2; i++) {
		strbuf_init(&tables->symbols[i]);
		strbuf_init(&tables->names[i]);
		add_bytes(&tables->symbols[i], &zero, sizeof(zero));
		add_bytes(&tables->names[i], "", 1);
	}
	for (size_t i = 0; i < count; i++) {
		const size_t kind = symbol[i].dynamic;
		const Elf64_Sym sym = {
			.st_name = (Elf64_Word)tables->names[kind].length,
			.st_info = ELF64_ST_INFO(symbol[i].binding, symbol[i].type),
			.st_shndx = symbol[i].section,
			.st_value = symbol[i].value,
			.st_size = symbol[i].size,
		};

		add_bytes(&tables->symbols[kind], &sym, sizeof(sym));
		add_bytes(&tables->names[kind], symbol[i].name, strlen(symbol[i].name) + 1);
	}
}

static Elf64_Shdr
code_section(uint64_t address, uint64_t size, uint64_t flags)
{
	return (Elf64_Shdr){
		.sh_type = SHT_NOBITS,
		.sh_flags = SHF_ALLOC | flags,
		.sh_addr = address,
		.sh_size = size,
	};
}

static void
place(struct strbuf *file, Elf64_Shdr *header, const struct strbuf *contents, unsigned link)
{
	const bool symbols = link != 0;

	while (file->length % 8 != 0)
		strbuf_add(file, "", 1);
	*header = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = file->length,
		.sh_size = contents->length,
		.sh_link = link,
		.sh_entsize = symbols ? sizeof(Elf64_Sym) : 0,
		.sh_addralign = 1,
	};
	add_bytes(file, contents->data, contents->length);
}

struct made_file
make_file(const struct made_symbol *symbol, size_t count)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr), .e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTION_COUNT,
		.e_shstrndx = STRTAB,
	};
	const Elf64_Phdr load = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0,
		.p_filesz = sizeof(Elf64_Ehdr), .p_memsz = DATA_ADDRESS + DATA_SIZE,
	};
	Elf64_Shdr section[SECTION_COUNT] = { 0 };
	struct made_tables tables;
	struct strbuf file;

	make_tables(&tables, symbol, count);
	strbuf_init(&file);
	add_bytes(&file, &header, sizeof(header));
	add_bytes(&file, &load, sizeof(load));
	section[TEXT] = code_section(TEXT_ADDRESS, TEXT_SIZE, SHF_EXECINSTR);
	section[INIT] = code_section(INIT_ADDRESS, INIT_SIZE, SHF_EXECINSTR);
	section[DATA] = code_section(DATA_ADDRESS, DATA_SIZE, SHF_WRITE);
	place(&file, &section[SYMTAB], &tables.symbols[0], STRTAB);
	section[SYMTAB].sh_type = SHT_SYMTAB;
	place(&file, &section[STRTAB], &tables.names[0], 0);
	place(&file, &section[DYNSYM], &tables.symbols[1], DYNSTR);
	section[DYNSYM].sh_type = SHT_DYNSYM;
	place(&file, &section[DYNSTR], &tables.names[1], 0);
	while (file.length % 8 != 0)
		strbuf_add(&file, "", 1);
	header.e_shoff = file.length;
	add_bytes(&file, section, sizeof(section));
	memcpy(file.data, &header, sizeof(header));
	for (size_t i = 0; i < 2; i++) {
		strbuf_release(&tables.symbols[i]);
		strbuf_release(&tables.names[i]);
	}
	return (struct made_file){ (uint8_t *)file.data, file.length };
}

struct symbols *
open_made(const struct made_symbol *symbol, size_t count)
{
	struct made_file file = make_file(symbol, count);
	struct image *image = image_open_memory(file.bytes, file.size);

	free(file.bytes);
	assert_non_null(image);
	return open_module(MODULE_FILE, "libtest.so", image);
}

void
close_made(struct symbols *symbols)
{
	symbols_free(symbols);
	modules_free(test_modules);
	test_modules = NULL;
}

/* The section headers are the last bytes of the vdso, so that their end gives its size. */
struct image *
open_vdso(void)
{
	const uintptr_t address = getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)address;

	if (address == 0)
		return NULL;
	return image_open_memory(header, header->e_shoff +
						 (size_t)header->e_shnum * header->e_shentsize);
}
