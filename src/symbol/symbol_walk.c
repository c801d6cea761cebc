/* SPDX-License-Identifier: MIT */
/*
 * symbol_walk.c - reads the symbol tables of a module and of its debug files in order.
 */
#include "symbol/symbol_internal.h"

#include <gelf.h>
#include <limits.h>

#include "wallsample/dwarf/debug_file.h"
#include "wallsample/elf/symbol_names.h"
#include "wallsample/elf/elf_open.h"

/* Larger tables are damage: see symbol_table.c. */
#define MAX_SYMBOL_BYTES (UINT64_C(256) << 20)
#define MAX_NAME_BYTES (UINT64_C(1) << 30)

struct walk {
	bool (*each)(void *context, const struct symbol_walked *symbol);
	void *context;
	Elf *elf;
	const char *file; /* that the last STT_FILE named */
	bool over;
};

static bool
is_executable(Elf *elf, size_t section)
{
	GElf_Shdr header;

	return gelf_getshdr(elf_getscn(elf, section), &header) != NULL &&
	       (header.sh_flags & SHF_EXECINSTR) != 0;
}

static bool
is_in_memory(Elf *elf, size_t section)
{
	GElf_Shdr header;

	return gelf_getshdr(elf_getscn(elf, section), &header) != NULL &&
	       (header.sh_flags & SHF_ALLOC) != 0;
}

/* What kind it is; false: none that has a place in memory. */
static bool
kind_of(const struct walk *walk, const GElf_Sym *sym, enum symbol_named_kind *kind)
{
	/* SHN_ABS and SHN_COMMON are among the latter. */
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE ||
	    !is_in_memory(walk->elf, sym->st_shndx))
		return false;
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_OBJECT:
		*kind = SYMBOL_NAMED_DATA;
		return true;
	case STT_TLS:
		*kind = SYMBOL_NAMED_THREAD_LOCAL;
		return true;
	case STT_FUNC:
		*kind = SYMBOL_NAMED_CODE;
		return true;
	case STT_GNU_IFUNC:
		*kind = SYMBOL_NAMED_RESOLVER;
		return true;
	case STT_NOTYPE:
		*kind = is_executable(walk->elf, sym->st_shndx) ? SYMBOL_NAMED_CODE :
								  SYMBOL_NAMED_DATA;
		return true;
	default:
		return false;
	}
}

static void
walk_symbol(struct walk *walk, const GElf_Sym *sym, const Elf_Data *names)
{
	const char *name = elf_text_at(names, sym->st_name, SYMBOL_NAME_MAX);
	struct symbol_walked symbol = { .raw = name, .vaddr = sym->st_value, .size = sym->st_size };

	if (GELF_ST_TYPE(sym->st_info) == STT_FILE) {
		walk->file = name;
		return;
	}
	if (name == NULL || !kind_of(walk, sym, &symbol.kind))
		return;
	if (GELF_ST_BIND(sym->st_info) == STB_LOCAL)
		symbol.file = walk->file;
	walk->over = !walk->each(walk->context, &symbol);
}

static void
walk_symbols(struct walk *walk, Elf_Data *symbols, const Elf_Data *names)
{
	const size_t count = symbols->d_size / sizeof(Elf64_Sym);

	walk->file = NULL;
	for (size_t i = 0; i < count && i < INT_MAX && !walk->over; i++) {
		GElf_Sym sym;

		if (gelf_getsym(symbols, (int)i, &sym) == NULL)
			return;
		walk_symbol(walk, &sym, names);
	}
}

static void
walk_table(struct walk *walk, Elf *elf, uint32_t section_type)
{
	Elf_Scn *scn = NULL;

	if (elf == NULL || walk->over)
		return;
	walk->elf = elf;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr header;
		Elf_Data *symbols, *names;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type != section_type)
			continue;
		symbols = elf_section_data(scn, MAX_SYMBOL_BYTES);
		names = elf_section_data(elf_getscn(elf, header.sh_link), MAX_NAME_BYTES);
		if (symbols != NULL && names != NULL && symbols->d_type == ELF_T_SYM)
			walk_symbols(walk, symbols, names);
		return; /* the ABI allows one table of each kind */
	}
}

void
symbol_walk(struct symbols *symbols, const struct module *module,
	    bool (*each)(void *context, const struct symbol_walked *symbol), void *context)
{
	struct walk walk = { .each = each, .context = context };
	struct debug_files *files;
	struct debug_file file;

	if (module->image == NULL || !image_is_unchanged(module->image))
		return;
	files = debug_files_create(&symbols_settings(symbols)->files);
	debug_file_open(files, module, &file);
	walk_table(&walk, file.elf, SHT_SYMTAB);
	walk_table(&walk, file.own, SHT_SYMTAB);
	walk_table(&walk, file.mini, SHT_SYMTAB);
	walk_table(&walk, file.own, SHT_DYNSYM);
	debug_file_close(&file);
	debug_files_free(files);
}
