/* SPDX-License-Identifier: MIT */
/*
 * plt_names.c - reads relocations and stubs, and matches them by the GOT slot.
 */
#include "symbol/plt_internal.h"
#include "symbol/symbol_internal.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/search.h"
#include "wallsample/elf/elf_open.h"

/* Limits for damaged and hostile files. The largest browsers have some thousand stubs in two
 * sections, and a million relocations of 24 bytes, in a program without symbols for them. */
#define SECTIONS_MOST 16 /* largest number of sections of stubs, and of sections of relocations */
#define STUB_BYTES_MOST (UINT64_C(8) << 20)         /* bytes of all sections of stubs */
#define RELOCATION_BYTES_MOST (UINT64_C(32) << 20)  /* bytes of all sections of relocations */
#define SYMBOL_BYTES_MOST (UINT64_C(12) << 20)      /* bytes of a symbol table */
#define SYMBOL_NAME_BYTES_MOST (UINT64_C(24) << 20) /* bytes of the names of a symbol table */
#define NAME_MOST 16384                             /* bytes of the name of a stub */
#define NAMES_MOST (UINT64_C(8) << 20)              /* bytes of the names of all stubs */
#define RESOLVERS_MOST 16384    /* number of resolvers: functions of type STT_GNU_IFUNC */
#define RESOLVER_NAME_MOST 4096 /* bytes of the name of a resolver */

#define ENDING "@plt"

/* One relocation of a GOT slot; an element of reader.resolver is one resolver. */
struct slot {
	uint64_t vaddr; /* address of the slot, or of the resolver */
	/* Borrowed from the file, or of a resolver from reader.texts; NULL when the slot has a
	 * `resolver` instead. */
	const char *name;
	uint64_t resolver; /* vaddr of the resolver of an IRELATIVE relocation */
	/* Number of slots added before this one; slots at one address are sorted by it. */
	size_t order;
	/* The element is a resolver whose symbol is weak: names of other symbols at its address are
	 * preferred. */
	bool is_weak;
};

struct reader {
	Elf *elf;
	const struct plt_arch *arch;
	struct slot *slot; /* sorted by vaddr when all relocations are read */
	size_t slot_count, slot_capacity;
	struct slot *numbered; /* slots of .rela.plt, in the order of the section */
	size_t numbered_count, numbered_capacity;
	struct slot *resolver; /* resolvers (functions of type STT_GNU_IFUNC), ascending by vaddr */
	size_t resolver_count, resolver_capacity;
	struct strings *texts; /* names of resolvers */
	struct plt_stubs *stubs;
	size_t stub_capacity;
	uint64_t names_left, stub_bytes_left, relocation_bytes_left;
};

static const struct plt_arch *
arch_of(Elf *elf)
{
	static const struct plt_arch *const known[] = { &plt_arch_x86_64, &plt_arch_aarch64 };
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i]->machine == header.e_machine)
			return known[i];
	return NULL;
}

/* Returns the bytes of a section, owned by its Elf, and subtracts their number from *left; NULL
 * when they cannot be read or are more than *left. */
static Elf_Data *
section_data(Elf_Scn *scn, uint64_t *left)
{
	Elf_Data *data = elf_section_data(scn, *left);

	if (data != NULL)
		*left -= data->d_size;
	return data;
}

static int
compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void
sort_slots(struct slot *slot, size_t count)
{
	if (count > 0)
		qsort(slot, count, sizeof(*slot), compare_slots);
}

static const struct slot *
find_slot(const struct slot *slot, size_t count, uint64_t vaddr)
{
	size_t index;

	SEARCH_FIRST_NOT(index, count, slot[index].vaddr < vaddr);
	return index < count && slot[index].vaddr == vaddr ? &slot[index] : NULL;
}

/* --- relocations ------------------------------------------------------------------- */

/* A table of symbols and its names; both members are NULL when the table cannot be used. */
struct dynamic {
	Elf_Data *symbols, *names;
};

static struct dynamic
read_table(Elf *elf, Elf_Scn *scn)
{
	struct dynamic table = { elf_section_data(scn, SYMBOL_BYTES_MOST), NULL };
	GElf_Shdr header;

	if (table.symbols != NULL && gelf_getshdr(scn, &header) != NULL)
		table.names = elf_section_data(elf_getscn(elf, header.sh_link),
					       SYMBOL_NAME_BYTES_MOST);
	if (table.names == NULL)
		table.symbols = NULL;
	return table;
}

/* Returns the name of the symbol with this number in the table; NULL when it has none. */
static const char *
symbol_name(const struct dynamic *table, size_t index)
{
	GElf_Sym sym;

	if (table->symbols == NULL || index == 0 || index > INT32_MAX ||
	    gelf_getsym(table->symbols, (int)index, &sym) == NULL)
		return NULL;
	return elf_text_at(table->names, sym.st_name, NAME_MOST);
}

/* Sets *slot to the slot that a relocation fills. Returns false for types of relocation whose slots
 * no stub reads, and for symbols without a name. */
static bool
make_slot(const struct reader *reader, const GElf_Rela *rela, const struct dynamic *table,
	  struct slot *slot)
{
	const uint32_t type = (uint32_t)GELF_R_TYPE(rela->r_info);

	*slot = (struct slot){ .vaddr = rela->r_offset };
	if (type == reader->arch->irelative) {
		slot->resolver = (uint64_t)rela->r_addend;
		return true;
	}
	if (type != reader->arch->jump_slot && type != reader->arch->glob_dat)
		return false;
	slot->name = symbol_name(table, GELF_R_SYM(rela->r_info));
	return slot->name != NULL;
}

static void
add_slot(struct slot **slots, size_t *count, size_t *capacity, const struct slot *slot)
{
	*slots = xgrow(*slots, capacity, *count + 1, sizeof(**slots));
	(*slots)[*count] = *slot;
	(*slots)[*count].order = *count;
	(*count)++;
}

static void
read_relocations(struct reader *reader, Elf_Scn *scn, const GElf_Shdr *header)
{
	const bool is_numbered = strcmp(elf_section_name(reader->elf, header), ".rela.plt") == 0;
	Elf_Data *data = section_data(scn, &reader->relocation_bytes_left);
	Elf_Scn *symbols = elf_getscn(reader->elf, header->sh_link);
	struct dynamic table = { NULL, NULL };
	GElf_Shdr symbols_header;
	GElf_Rela rela;

	if (data == NULL)
		return;
	if (symbols != NULL && gelf_getshdr(symbols, &symbols_header) != NULL &&
	    symbols_header.sh_type == SHT_DYNSYM)
		table = read_table(reader->elf, symbols);
	for (int i = 0; gelf_getrela(data, i, &rela) != NULL && i < INT32_MAX; i++) {
		struct slot slot;
		const bool good = make_slot(reader, &rela, &table, &slot);

		if (good)
			add_slot(&reader->slot, &reader->slot_count, &reader->slot_capacity, &slot);
		if (is_numbered)
			add_slot(&reader->numbered, &reader->numbered_count,
				 &reader->numbered_capacity, &slot);
	}
}

/* --- resolvers: functions that choose another function (STT_GNU_IFUNC) ----------------- */

static bool
is_better_name(const struct slot *a, const struct slot *b)
{
	const size_t before_a = strspn(a->name, "_"), before_b = strspn(b->name, "_");

	if (a->is_weak != b->is_weak)
		return b->is_weak;
	return before_a != before_b ? before_a < before_b : strcmp(a->name, b->name) < 0;
}

/* Sorts the resolvers. Of several at one address, keeps the one whose name is the best by
 * is_better_name(). */
static void
settle_resolvers(struct reader *reader)
{
	size_t kept = 0;

	sort_slots(reader->resolver, reader->resolver_count);
	for (size_t i = 0; i < reader->resolver_count; i++) {
		const struct slot *next = &reader->resolver[i];

		if (kept == 0 || reader->resolver[kept - 1].vaddr != next->vaddr)
			reader->resolver[kept++] = *next;
		else if (is_better_name(next, &reader->resolver[kept - 1]))
			reader->resolver[kept - 1] = *next;
	}
	reader->resolver_count = kept;
}

static bool
add_resolver(void *context, const struct symbol_entry *entry)
{
	struct reader *reader = context;
	struct slot slot = { .vaddr = entry->sym.st_value,
			     .is_weak = GELF_ST_BIND(entry->sym.st_info) == STB_WEAK };
	const char *name;

	if (GELF_ST_TYPE(entry->sym.st_info) != STT_GNU_IFUNC)
		return true;
	name = symbol_entry_name(entry, RESOLVER_NAME_MOST);
	if (name == NULL)
		return true;
	slot.name = strings_text(reader->texts, strings_intern(reader->texts, name));
	add_slot(&reader->resolver, &reader->resolver_count, &reader->resolver_capacity, &slot);
	return reader->resolver_count < RESOLVERS_MOST;
}

/* --- stubs --------------------------------------------------------------------------- */

/*
 * Returns the name of a stub: "puts@plt". A slot that a resolver of this file fills has no symbol:
 * the stub gets the name of the resolver, by which source code calls it, or if it has none, the
 * resolver's address, as disassemblers write it. Returns NULL when the name or all names together
 * have too many bytes. The caller frees the name.
 */
static char *
make_name(struct reader *reader, const struct slot *slot)
{
	const char *name = slot->name;
	struct strbuf text = STRBUF_INIT;
	size_t length = 0;

	if (name == NULL) {
		const struct slot *resolver = find_slot(reader->resolver, reader->resolver_count,
							slot->resolver);
		name = resolver != NULL ? resolver->name : NULL;
	}
	if (name != NULL)
		length = strnlen(name, NAME_MOST);
	if (length >= reader->names_left) {
		reader->names_left = 0;
		return NULL;
	}
	reader->names_left -= length;
	if (length == NAME_MOST)
		return NULL;
	if (name != NULL)
		strbuf_add(&text, name, length);
	else
		strbuf_add_format(&text, "*ABS*+0x%" PRIx64, slot->resolver);
	strbuf_add_text(&text, ENDING);
	return text.data;
}

static const struct slot *
slot_of(const struct reader *reader, const struct plt_jump *jump)
{
	const struct slot *slot;

	if (!jump->is_index)
		return find_slot(reader->slot, reader->slot_count, jump->value);
	if (jump->value >= reader->numbered_count)
		return NULL;
	slot = &reader->numbered[jump->value];
	return slot->name != NULL || slot->resolver != 0 ? slot : NULL;
}

static void
add_stub(struct reader *reader, const struct slot *slot, uint64_t start, uint64_t end)
{
	struct plt_stubs *stubs = reader->stubs;
	char *name = make_name(reader, slot);

	if (name == NULL)
		return;
	stubs->stub = xgrow(stubs->stub, &reader->stub_capacity, stubs->count + 1,
			    sizeof(*stubs->stub));
	stubs->stub[stubs->count++] = (struct plt_stub){ start, end, name };
}

/* Returns the largest size of a stub in the section. A stub is shorter when the next stub starts
 * earlier. */
static size_t
stub_size(const struct plt_arch *arch, const GElf_Shdr *header)
{
	const size_t most = 64;

	return header->sh_entsize >= arch->step && header->sh_entsize <= most ?
		       (size_t)header->sh_entsize :
		       arch->size;
}

static void
read_stubs(struct reader *reader, Elf_Scn *scn, const GElf_Shdr *header)
{
	const struct plt_arch *arch = reader->arch;
	const size_t size = stub_size(arch, header);
	Elf_Data *data = section_data(scn, &reader->stub_bytes_left);
	/* Slot of the stub that begins at `start` and whose end is not known yet; NULL: there is no
	 * such stub. */
	const struct slot *slot = NULL;
	uint64_t start = 0;

	if (data == NULL || header->sh_addr > UINT64_MAX - data->d_size)
		return;
	for (size_t at = 0; at < data->d_size; at += arch->step) {
		const uint8_t *code = (const uint8_t *)data->d_buf + at;
		const uint64_t vaddr = header->sh_addr + at;
		struct plt_jump jump;

		if (slot != NULL && vaddr - start >= size) {
			add_stub(reader, slot, start, start + size);
			slot = NULL;
		}
		if (!arch->decode(code, data->d_size - at, vaddr, &jump))
			continue;
		/* The current stub begins with a bti instruction: the instruction after it decodes
		 * as the same stub. */
		if (slot != NULL && slot == slot_of(reader, &jump))
			continue;
		if (slot != NULL)
			add_stub(reader, slot, start, vaddr);
		slot = slot_of(reader, &jump);
		start = vaddr;
	}
	if (slot != NULL) {
		const uint64_t end = header->sh_addr + data->d_size;

		add_stub(reader, slot, start, end - start < size ? end : start + size);
	}
}

static bool
has_stubs(Elf *elf, const GElf_Shdr *header)
{
	const char *name = elf_section_name(elf, header);

	/* Sections of stubs are .plt, .plt.sec, .plt.got, .plt.bnd and .iplt. */
	return header->sh_type == SHT_PROGBITS && (header->sh_flags & SHF_EXECINSTR) != 0 &&
	       (strncmp(name, ".plt", 4) == 0 || strcmp(name, ".iplt") == 0);
}

static bool
has_relocations(Elf *elf, const GElf_Shdr *header)
{
	(void)elf;
	return header->sh_type == SHT_RELA && (header->sh_flags & SHF_ALLOC) != 0;
}

static void
each_section(struct reader *reader, bool (*is_wanted)(Elf *elf, const GElf_Shdr *header),
	     void (*read)(struct reader *reader, Elf_Scn *scn, const GElf_Shdr *header))
{
	size_t count = 0;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(reader->elf, scn)) != NULL && count < SECTIONS_MOST) {
		GElf_Shdr header;

		if (gelf_getshdr(scn, &header) == NULL || !is_wanted(reader->elf, &header))
			continue;
		read(reader, scn, &header);
		count++;
	}
}

/* --- the whole --------------------------------------------------------------------------- */

static int
compare_stubs(const void *a, const void *b)
{
	const struct plt_stub *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sorts the stubs, and removes each stub that overlaps the one before it: in a damaged file,
 * sections of stubs may overlap. */
static void
settle_stubs(struct plt_stubs *stubs)
{
	size_t kept = 0;

	if (stubs->count > 0)
		qsort(stubs->stub, stubs->count, sizeof(*stubs->stub), compare_stubs);
	for (size_t i = 0; i < stubs->count; i++) {
		struct plt_stub *next = &stubs->stub[i];

		if (kept > 0 && next->start < stubs->stub[kept - 1].end)
			free(next->name);
		else
			stubs->stub[kept++] = *next;
	}
	stubs->count = kept;
}

void
plt_stubs_read(struct plt_stubs *stubs, const struct symbol_file *file)
{
	const struct symbol_files files = { .own = *file };
	Elf *elf = file->elf;
	struct reader reader = {
		.elf = elf,
		.arch = elf != NULL ? arch_of(elf) : NULL,
		.stubs = stubs,
		.names_left = NAMES_MOST,
		.stub_bytes_left = STUB_BYTES_MOST,
		.relocation_bytes_left = RELOCATION_BYTES_MOST,
	};
	bool resolves = false;

	*stubs = (struct plt_stubs){ .stub = NULL };
	if (reader.arch == NULL)
		return;
	each_section(&reader, has_relocations, read_relocations);
	sort_slots(reader.slot, reader.slot_count);
	for (size_t i = 0; i < reader.slot_count && !resolves; i++)
		resolves = reader.slot[i].name == NULL;
	if (resolves) {
		reader.texts = strings_create();
		symbol_files_walk(&files, add_resolver, &reader);
		settle_resolvers(&reader);
	}
	if (reader.slot_count > 0)
		each_section(&reader, has_stubs, read_stubs);
	settle_stubs(stubs);
	free(reader.slot);
	free(reader.numbered);
	free(reader.resolver);
	strings_free(reader.texts);
}

void
plt_stubs_release(struct plt_stubs *stubs)
{
	for (size_t i = 0; i < stubs->count; i++)
		free(stubs->stub[i].name);
	free(stubs->stub);
	*stubs = (struct plt_stubs){ .stub = NULL };
}
