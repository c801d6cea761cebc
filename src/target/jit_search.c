/* SPDX-License-Identifier: MIT */
/*
 * jit_search.c - finds the descriptor of the GDB JIT interface in symbol tables of any size.
 */
#include "jit_search.h"

#include <elf.h>
#include <string.h>

#include "wallsample/base.h"

#define WANTED "__jit_debug_descriptor"

/* As large as a block of an image: blocks read whole are not kept. */
#define PIECE ((size_t)64 << 10)

/* A linked program has some forty sections. */
#define SECTIONS_MAX 4096

/* Larger tables are damage or a sparse file: see symbol_table.c. */
#define SYMBOLS_MAX_SIZE (UINT64_C(256) << 20)
#define NAMES_MAX_SIZE (UINT64_C(1) << 30)

void
jit_search_init(struct jit_search *search, const struct image *image)
{
	*search = (struct jit_search){ .image = image };
}

static bool
read_section(const struct image *image, const Elf64_Ehdr *header, uint64_t index, Elf64_Shdr *to)
{
	return index < header->e_shnum && header->e_shoff < image->size &&
	       image_read_offset(image, header->e_shoff + index * sizeof(*to), to, sizeof(*to));
}

static void
add_table(struct jit_search *search, const Elf64_Ehdr *header, const Elf64_Shdr *symbols)
{
	Elf64_Shdr names;

	if (search->table_count == ARRAY_SIZE(search->table) ||
	    !read_section(search->image, header, symbols->sh_link, &names) ||
	    names.sh_type != SHT_STRTAB || (names.sh_flags & SHF_COMPRESSED) != 0 ||
	    symbols->sh_size > SYMBOLS_MAX_SIZE || names.sh_size > NAMES_MAX_SIZE)
		return;
	search->table[search->table_count++] = (struct jit_search_table){
		.symbols = symbols->sh_offset,
		.symbols_size = symbols->sh_size,
		.names = names.sh_offset,
		.names_size = names.sh_size,
	};
}

static void
find_tables(struct jit_search *search)
{
	static const uint32_t types[] = { SHT_DYNSYM, SHT_SYMTAB };
	Elf64_Ehdr header;

	if (!image_read_offset(search->image, 0, &header, sizeof(header)) ||
	    header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > SECTIONS_MAX)
		return;
	for (size_t type = 0; type < ARRAY_SIZE(types); type++) {
		for (uint64_t i = 1; i < header.e_shnum; i++) {
			Elf64_Shdr section;

			if (!read_section(search->image, &header, i, &section))
				return;
			if (section.sh_type != types[type] ||
			    (section.sh_flags & SHF_COMPRESSED) != 0)
				continue;
			add_table(search, &header, &section);
			break; /* the ABI allows one table of each kind */
		}
	}
}

/* The next piece of the range [from, from + size), of which `at` bytes are done; 0: none. */
static size_t
read_piece(struct jit_search *search, uint64_t from, uint64_t size, uint8_t *to)
{
	uint64_t part = size - search->at;

	if (part > PIECE)
		part = PIECE;
	if (from > search->image->size || search->at > search->image->size - from ||
	    !image_read_offset(search->image, from + search->at, to, (size_t)part))
		return 0;
	return (size_t)part;
}

static void
begin_stage(struct jit_search *search, enum jit_search_stage stage)
{
	search->stage = stage;
	search->at = 0;
}

/* The table has no such symbol: on with the next. */
static void
next_table(struct jit_search *search)
{
	search->current++;
	search->name_count = 0;
	begin_stage(search, search->current < search->table_count ? JIT_SEARCH_IN_NAMES :
								    JIT_SEARCH_DONE);
}

static void
keep_names(struct jit_search *search, const uint8_t *piece, size_t size)
{
	const uint8_t *at = piece, *found;

	while (search->name_count < JIT_SEARCH_NAMES &&
	       (found = memmem(at, (size_t)(piece + size - at), WANTED, sizeof(WANTED)))) {
		uint64_t offset = search->at + (uint64_t)(found - piece);

		if (offset > UINT32_MAX)
			return;
		search->name[search->name_count++] = (uint32_t)offset;
		at = found + 1;
	}
}

/* One piece of the names; returns how many bytes were read. */
static size_t
step_names(struct jit_search *search, uint8_t *piece)
{
	const struct jit_search_table *table = &search->table[search->current];
	size_t size = 0;

	if (search->at < table->names_size)
		size = read_piece(search, table->names, table->names_size, piece);
	if (size > 0)
		keep_names(search, piece, size);
	if (size == PIECE) {
		/* The name may lie across the border; twice in the piece it does not matter. */
		search->at += size - (sizeof(WANTED) - 1);
		return size;
	}
	if (search->name_count > 0)
		begin_stage(search, JIT_SEARCH_IN_SYMBOLS);
	else
		next_table(search);
	return size;
}

static bool
is_it(const struct jit_search *search, const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0 ||
	    (type != STT_OBJECT && type != STT_NOTYPE))
		return false;
	for (size_t i = 0; i < search->name_count; i++)
		if (search->name[i] == symbol->st_name)
			return true;
	return false;
}

/* One piece of the symbols. */
static size_t
step_symbols(struct jit_search *search, uint8_t *piece)
{
	const struct jit_search_table *table = &search->table[search->current];
	size_t size = 0;

	if (search->at < table->symbols_size)
		size = read_piece(search, table->symbols, table->symbols_size, piece);
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, piece + at, sizeof(symbol));
		if (!is_it(search, &symbol))
			continue;
		search->found = true;
		search->vaddr = symbol.st_value;
		begin_stage(search, JIT_SEARCH_DONE);
		return size;
	}
	search->at += size / sizeof(Elf64_Sym) * sizeof(Elf64_Sym);
	if (size < PIECE)
		next_table(search);
	return size;
}

bool
jit_search_step(struct jit_search *search, uint64_t *budget)
{
	uint8_t *piece;

	if (search->stage == JIT_SEARCH_BEGIN) {
		find_tables(search);
		begin_stage(search, search->table_count > 0 ? JIT_SEARCH_IN_NAMES :
							      JIT_SEARCH_DONE);
	}
	if (search->stage == JIT_SEARCH_DONE)
		return true;
	piece = xmalloc(PIECE);
	while (search->stage != JIT_SEARCH_DONE && *budget > 0) {
		size_t size = search->stage == JIT_SEARCH_IN_NAMES ? step_names(search, piece) :
								     step_symbols(search, piece);

		*budget -= size < *budget ? size : *budget;
	}
	free(piece);
	return search->stage == JIT_SEARCH_DONE;
}
