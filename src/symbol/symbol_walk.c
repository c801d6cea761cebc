/* SPDX-License-Identifier: MIT */
/*
 * symbol_walk.c - reads the symbol tables of a module's files, piece by piece: libelf would keep a
 * whole table and all its names in memory until the file is closed.
 */
#include "symbol/symbol_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/symbol_names.h"

/* Largest size in bytes of names that are read in one piece; of others, NAME_PIECE bytes are read
 * at a time, or as many as the longest name has. */
#define NAMES_LOADED (UINT64_C(32) << 20)
#define NAME_PIECE ((size_t)4 << 10)

/* Limit of the bytes of names that are read from one table: about a second. A hostile table can
 * have a name of 64 KiB for each of its symbols. */
#define NAMES_READ_MOST (UINT64_C(4) << 30)

#define SYMBOLS_A_PIECE 2048

/* A range of a file's bytes. */
struct part {
	const struct symbol_file *file;
	uint64_t offset, size;
};

struct symbol_names {
	struct part part;
	/* The names from `at` on that are in memory. */
	char *text;
	uint64_t at;
	size_t size, capacity;
	uint64_t left; /* bytes that may still be read */
};

/* Reads bytes of the part; false when they are not in the file. */
static bool
part_read(const struct part *part, uint64_t at, void *to, size_t size)
{
	const uint64_t offset = part->offset + at;
	const char *bytes;
	size_t there;

	if (part->file->fd >= 0)
		return file_read_at(part->file->fd, offset, to, size) == size;
	/* Of a file in memory, libelf returns the bytes and copies nothing. */
	bytes = elf_rawfile(part->file->elf, &there);
	if (bytes == NULL || offset > there || size > there - offset)
		return false;
	memcpy(to, bytes + offset, size);
	return true;
}

static bool
part_of_section(struct part *part, const struct symbol_file *file, const GElf_Shdr *header,
		uint64_t most)
{
	*part = (struct part){ .file = file, .offset = header->sh_offset, .size = header->sh_size };
	return header->sh_type != SHT_NOBITS && (header->sh_flags & SHF_COMPRESSED) == 0 &&
	       header->sh_size <= most && header->sh_offset <= UINT64_MAX - most;
}

/* --- names ------------------------------------------------------------------------------- */

/* Reads names from `at` on: all that are left if they are few, else `size` bytes. */
static bool
names_load(struct symbol_names *names, uint64_t at, size_t size)
{
	const uint64_t rest = names->part.size - at;

	if (names->part.size <= NAMES_LOADED) {
		at = 0;
		size = (size_t)names->part.size;
	} else if (size > rest) {
		size = (size_t)rest;
	}
	names->text = xgrow(names->text, &names->capacity, size, 1);
	names->at = at;
	names->size = 0;
	if (size > names->left || !part_read(&names->part, at, names->text, size)) {
		names->part.size = 0; /* no further name is read */
		return false;
	}
	names->size = size;
	names->left -= size;
	return true;
}

/* Returns the name at `offset` if it and its terminating zero are in memory. */
static const char *
name_in_memory(const struct symbol_names *names, uint64_t offset, size_t most)
{
	const uint64_t within = offset - names->at;
	size_t rest;

	if (within >= names->size)
		return NULL;
	rest = names->size - (size_t)within;
	return memchr(names->text + within, '\0', rest < most ? rest : most) != NULL ?
		       names->text + within :
		       NULL;
}

static const char *
name_at(struct symbol_names *names, uint64_t offset, size_t most)
{
	const char *name = name_in_memory(names, offset, most);

	if (name == NULL && offset < names->part.size && names->size < names->part.size &&
	    names_load(names, offset, NAME_PIECE))
		name = name_in_memory(names, offset, most);
	if (name == NULL && names->at == offset && names->size == NAME_PIECE && most > NAME_PIECE &&
	    names_load(names, offset, most))
		name = name_in_memory(names, offset, most);
	return name != NULL && name[0] != '\0' ? name : NULL;
}

const char *
symbol_entry_name(const struct symbol_entry *entry, size_t most)
{
	return name_at(entry->names, entry->sym.st_name, most);
}

/* --- symbols ----------------------------------------------------------------------------- */

struct walk {
	const struct symbol_file *file;
	bool (*each)(void *context, const struct symbol_entry *entry);
	void *context;
	struct symbol_entry entry;
	size_t section;     /* index of the section whose header is in entry.section */
	struct strbuf path; /* name of the last STT_FILE symbol */
};

/* Returns false when the symbols behind this one are not wanted. */
static bool
visit(struct walk *walk, const Elf64_Sym *sym)
{
	struct symbol_entry *entry = &walk->entry;
	const char *name;

	entry->sym =
		*sym; /* GElf_Sym is Elf64_Sym, and files are little-endian like this machine */
	if (GELF_ST_TYPE(sym->st_info) == STT_FILE) {
		name = symbol_entry_name(entry, SYMBOL_NAME_MAX);
		strbuf_clear(&walk->path);
		strbuf_add_text(&walk->path, name != NULL ? name : "");
		entry->file = name != NULL ? walk->path.data : NULL;
		return true;
	}
	/* SHN_ABS, SHN_COMMON and SHN_XINDEX are no numbers of sections: symbols with them are
	 * skipped here. */
	if (sym->st_shndx == SHN_UNDEF ||
	    (sym->st_shndx != walk->section &&
	     gelf_getshdr(elf_getscn(walk->file->elf, sym->st_shndx), &entry->section) == NULL))
		return true;
	walk->section = sym->st_shndx;
	return walk->each(walk->context, entry);
}

static bool
walk_symbols(struct walk *walk, const struct part *symbols)
{
	Elf64_Sym *piece = xmalloc(SYMBOLS_A_PIECE * sizeof(*piece));
	const uint64_t total = symbols->size / sizeof(*piece);
	bool more = true;

	for (uint64_t first = 0; more && first < total; first += SYMBOLS_A_PIECE) {
		const size_t count = total - first < SYMBOLS_A_PIECE ? (size_t)(total - first) :
								       SYMBOLS_A_PIECE;

		if (!part_read(symbols, first * sizeof(*piece), piece, count * sizeof(*piece)))
			break;
		for (size_t i = 0; more && i < count; i++)
			more = visit(walk, &piece[i]);
	}
	free(piece);
	return more;
}

/* Finds the symbol table of this type in a file, and visits each of its symbols. Returns false
 * when `each` has returned false. */
static bool
walk_table(struct walk *walk, const struct symbol_file *file, uint32_t type,
	   enum symbol_source source)
{
	struct symbol_names names = { .left = NAMES_READ_MOST };
	GElf_Shdr header = { .sh_type = SHT_NULL }, names_header;
	struct part symbols;
	Elf_Scn *scn = NULL;
	bool more = true;

	/* The first table is used: the ABI allows only one of each type. */
	while (file->elf != NULL && header.sh_type != type &&
	       (scn = elf_nextscn(file->elf, scn)) != NULL)
		if (gelf_getshdr(scn, &header) == NULL)
			header.sh_type = SHT_NULL;
	if (scn == NULL ||
	    gelf_getshdr(elf_getscn(file->elf, header.sh_link), &names_header) == NULL ||
	    !part_of_section(&symbols, file, &header, SYMBOL_TABLE_SIZE_MAX) ||
	    !part_of_section(&names.part, file, &names_header, SYMBOL_NAMES_SIZE_MAX))
		return true;
	walk->file = file;
	walk->section = SHN_UNDEF;
	walk->entry = (struct symbol_entry){ .source = source, .names = &names };
	more = walk_symbols(walk, &symbols);
	free(names.text);
	return more;
}

/* .dynsym is read in addition to .symtab: some distributions remove from .symtab all symbols but
 * those that debuggers need, and then .dynsym has more. */
void
symbol_files_walk(const struct symbol_files *files,
		  bool (*each)(void *context, const struct symbol_entry *entry), void *context)
{
	struct walk walk = { .each = each, .context = context, .path = STRBUF_INIT };

	(void)(walk_table(&walk, &files->separate, SHT_SYMTAB, SYMBOL_SYMTAB) &&
	       walk_table(&walk, &files->own, SHT_SYMTAB, SYMBOL_SYMTAB) &&
	       walk_table(&walk, &files->mini, SHT_SYMTAB, SYMBOL_MINIDEBUG) &&
	       walk_table(&walk, &files->own, SHT_DYNSYM, SYMBOL_DYNSYM));
	strbuf_release(&walk.path);
}

struct symbol_files
symbol_files_of(const struct module *module, const struct debug_file *file)
{
	return (struct symbol_files){
		.separate = { file->elf, file->fd },
		.own = { file->own, module->image != NULL ? module->image->fd : -1 },
		.mini = { file->mini, -1 },
	};
}
