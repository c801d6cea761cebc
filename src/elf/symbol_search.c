/* SPDX-License-Identifier: MIT */
/*
 * symbol_search.c - finds symbols by name in symbol tables, which it reads piece by piece.
 */
#include "wallsample/elf/symbol_search.h"

#include <elf.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/symbol_names.h"

/* Number of bytes of one read: the smallest that image_read_offset() reads without keeping the
 * bytes in the image. */
#define PIECE ((size_t)64 << 10)

void
symbol_search_init(struct symbol_search *search, const struct image *image,
		   const struct symbol_wanted *wanted, size_t count)
{
	*search = (struct symbol_search){
		.image = image,
		.wanted = wanted,
		.wanted_count = count < SYMBOL_SEARCH_WANTED ? count : SYMBOL_SEARCH_WANTED,
	};
}

const struct symbol_search_found *
symbol_search_first(const struct symbol_search *search, size_t wanted)
{
	for (size_t i = 0; i < search->found_count; i++)
		if (search->found[i].wanted == wanted)
			return &search->found[i];
	return NULL;
}

static void
add_table(struct symbol_search *search, const Elf64_Shdr *symbols)
{
	Elf64_Shdr names;

	if (search->table_count == ARRAY_SIZE(search->table) ||
	    !image_section(search->image, symbols->sh_link, &names) ||
	    names.sh_type != SHT_STRTAB || (names.sh_flags & SHF_COMPRESSED) != 0 ||
	    symbols->sh_size > SYMBOL_TABLE_SIZE_MAX || names.sh_size > SYMBOL_NAMES_SIZE_MAX)
		return;
	search->table[search->table_count++] = (struct symbol_search_table){
		.symbols = symbols->sh_offset,
		.symbols_size = symbols->sh_size,
		.names = names.sh_offset,
		.names_size = names.sh_size,
	};
}

static void
find_tables(struct symbol_search *search)
{
	static const uint32_t types[] = { SHT_DYNSYM, SHT_SYMTAB };
	Elf64_Shdr section;

	for (size_t type = 0; type < ARRAY_SIZE(types); type++) {
		for (uint64_t i = 1; image_section(search->image, i, &section); i++) {
			if (section.sh_type != types[type] ||
			    (section.sh_flags & SHF_COMPRESSED) != 0)
				continue;
			add_table(search, &section);
			break; /* the ABI allows one table of each type */
		}
	}
}

/*
 * Reads the next piece of the file's bytes [from, from + size), of which the first search->at bytes
 * have been read, and returns its size, at most PIECE. Returns 0 when nothing is left or the file
 * cannot be read.
 */
static size_t
read_piece(struct symbol_search *search, uint64_t from, uint64_t size, uint8_t *to)
{
	uint64_t part = size - search->at;

	if (part > PIECE)
		part = PIECE;
	if (search->at >= size || from > search->image->size ||
	    search->at > search->image->size - from ||
	    !image_read_offset(search->image, from + search->at, to, (size_t)part))
		return 0;
	return (size_t)part;
}

static void
begin_stage(struct symbol_search *search, enum symbol_search_stage stage)
{
	search->stage = stage;
	search->at = 0;
}

static bool
all_found(const struct symbol_search *search)
{
	for (size_t i = 0; i < search->wanted_count; i++)
		if (search->wanted[i].parts || symbol_search_first(search, i) == NULL)
			return false;
	return true;
}

/* Continues with the names of the next table, or ends the search if no table is left or all symbols
 * were found. */
static void
next_table(struct symbol_search *search)
{
	search->current++;
	search->name_count = 0;
	begin_stage(search, search->current < search->table_count && !all_found(search) ?
				    SYMBOL_SEARCH_IN_NAMES :
				    SYMBOL_SEARCH_DONE);
}

/* Returns whether a symbol's name ends at `end`, or, if parts are wanted, the suffix of a part
 * (".cold") begins there. False at the end of the piece, where the next byte is not known. */
static bool
ends_at(const struct symbol_wanted *wanted, const uint8_t *end, const uint8_t *piece_end)
{
	return end < piece_end && (*end == '\0' || (wanted->parts && *end == '.'));
}

static void
keep_name(struct symbol_search *search, uint64_t offset, size_t wanted)
{
	const struct symbol_search_name name = { (uint32_t)offset, (uint32_t)wanted };

	/* The name has been added already if it lies in the overlap of two pieces. */
	for (size_t i = 0; i < search->name_count; i++)
		if (search->name[i].offset == name.offset)
			return;
	if (search->name_count < SYMBOL_SEARCH_NAMES && offset <= UINT32_MAX)
		search->name[search->name_count++] = name;
}

static void
keep_names(struct symbol_search *search, size_t wanted, const uint8_t *piece, size_t size)
{
	const char *name = search->wanted[wanted].name;
	const size_t length = strnlen(name, SYMBOL_SEARCH_NAME_MOST);
	const uint8_t *at = piece, *end = piece + size, *found;

	while ((found = memmem(at, (size_t)(end - at), name, length)) != NULL) {
		if (ends_at(&search->wanted[wanted], found + length, end))
			keep_name(search, search->at + (uint64_t)(found - piece), wanted);
		at = found + 1;
	}
}

/* Searches the next piece of the current table's names for wanted names, and returns the number of
 * bytes read. After the last piece, continues with the symbols or with the next table. */
static size_t
step_names(struct symbol_search *search, uint8_t *piece)
{
	const struct symbol_search_table *table = &search->table[search->current];
	const size_t size = read_piece(search, table->names, table->names_size, piece);

	for (size_t i = 0; i < search->wanted_count && size > 0; i++)
		keep_names(search, i, piece, size);
	if (size == PIECE) {
		/* Pieces overlap, because a name and the byte behind it may lie across the border
		 * of two pieces. */
		search->at += size - SYMBOL_SEARCH_NAME_MOST;
		return size;
	}
	if (search->name_count > 0)
		begin_stage(search, SYMBOL_SEARCH_IN_SYMBOLS);
	else
		next_table(search);
	return size;
}

static bool
is_defined(const Elf64_Sym *symbol, bool code)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0)
		return false;
	return type == STT_NOTYPE || type == (code ? STT_FUNC : STT_OBJECT);
}

static void
keep_symbol(struct symbol_search *search, const Elf64_Sym *symbol, size_t wanted)
{
	for (size_t i = 0; i < search->found_count; i++)
		if (search->found[i].vaddr == symbol->st_value && search->found[i].wanted == wanted)
			return;
	if (search->found_count < SYMBOL_SEARCH_FOUND)
		search->found[search->found_count++] = (struct symbol_search_found){
			wanted, symbol->st_value, symbol->st_size
		};
}

static void
match_names(struct symbol_search *search, const Elf64_Sym *symbol)
{
	for (size_t i = 0; i < search->name_count; i++) {
		const struct symbol_search_name *name = &search->name[i];

		if (name->offset == symbol->st_name &&
		    is_defined(symbol, search->wanted[name->wanted].code))
			keep_symbol(search, symbol, name->wanted);
	}
}

/* Searches the next piece of the current table's symbols for symbols with the names that were
 * found, and returns the number of bytes read. */
static size_t
step_symbols(struct symbol_search *search, uint8_t *piece)
{
	const struct symbol_search_table *table = &search->table[search->current];
	const size_t size = read_piece(search, table->symbols, table->symbols_size, piece);

	for (size_t at = 0; at + sizeof(Elf64_Sym) <= size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, piece + at, sizeof(symbol));
		match_names(search, &symbol);
	}
	search->at += size / sizeof(Elf64_Sym) * sizeof(Elf64_Sym);
	if (size < PIECE || all_found(search))
		next_table(search);
	return size;
}

bool
symbol_search_step(struct symbol_search *search, uint64_t *budget)
{
	uint8_t *piece;

	if (search->stage == SYMBOL_SEARCH_BEGIN) {
		find_tables(search);
		begin_stage(search,
			    search->table_count > 0 ? SYMBOL_SEARCH_IN_NAMES : SYMBOL_SEARCH_DONE);
	}
	if (search->stage == SYMBOL_SEARCH_DONE)
		return true;
	piece = xmalloc(PIECE);
	while (search->stage != SYMBOL_SEARCH_DONE && *budget > 0) {
		size_t size = search->stage == SYMBOL_SEARCH_IN_NAMES ? step_names(search, piece) :
									step_symbols(search, piece);

		*budget -= size < *budget ? size : *budget;
	}
	free(piece);
	return search->stage == SYMBOL_SEARCH_DONE;
}
