/* SPDX-License-Identifier: MIT */
/*
 * plt_names.c - reads relocations and stubs, and brings them together by the GOT slot.
 */
#include "symbol/plt_internal.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/elf_open.h"

/*
 * Bounds of the cost of damaged or hostile files. The largest browsers have some
 * thousand stubs in two sections, and a million relocations of which few matter here.
 */
#define SECTIONS_MOST 16 /* of stubs, and of relocations each */
#define STUB_BYTES_MOST (UINT64_C(16) << 20)
#define RELOCATION_BYTES_MOST (UINT64_C(512) << 20)
#define SYMBOL_BYTES_MOST (UINT64_C(256) << 20)
#define SYMBOL_NAME_BYTES_MOST (UINT64_C(1) << 30)
#define NAME_MOST 16384
#define NAMES_MOST (UINT64_C(64) << 20) /* bytes of all of them */
#define RESOLVERS_MOST 16384
#define RESOLVER_NAME_MOST 4096

#define ENDING "@plt"

/* One relocation of a GOT slot. */
struct slot {
	uint64_t vaddr;
	const char *name;  /* in the file; NULL: `resolver` says */
	uint64_t resolver; /* of an IRELATIVE one: the function that chooses */
	size_t order;      /* in which they were read: the same file gives the same names */
	bool is_weak;      /* of a resolver's name: "rindex" beside "strrchr" */
};

struct reader {
	Elf *elf;
	const struct plt_arch *arch;
	struct slot *slot; /* ascending by vaddr once all are read */
	size_t slot_count, slot_capacity;
	struct slot *numbered; /* those of .rela.plt, as they stand there */
	size_t numbered_count, numbered_capacity;
	struct slot *resolver; /* functions that choose, by name, ascending by vaddr */
	size_t resolver_count, resolver_capacity;
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

static const char *
section_name(Elf *elf, const GElf_Shdr *header)
{
	const char *name;
	size_t index;

	if (elf_getshdrstrndx(elf, &index) != 0)
		return "";
	name = elf_strptr(elf, index, header->sh_name);
	return name != NULL ? name : "";
}

/* The bytes of a section that are in the file, no more than `*left`, which shrinks. */
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
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (slot[middle].vaddr < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && slot[low].vaddr == vaddr ? &slot[low] : NULL;
}

/* --- relocations ------------------------------------------------------------------- */

/* A table of symbols; both are NULL, or neither. */
struct symbols {
	Elf_Data *symbols, *names;
};

static struct symbols
read_table(Elf *elf, Elf_Scn *scn)
{
	struct symbols table = { elf_section_data(scn, SYMBOL_BYTES_MOST), NULL };
	GElf_Shdr header;

	if (table.symbols != NULL && gelf_getshdr(scn, &header) != NULL)
		table.names = elf_section_data(elf_getscn(elf, header.sh_link),
					       SYMBOL_NAME_BYTES_MOST);
	if (table.names == NULL)
		table.symbols = NULL;
	return table;
}

/* The name of symbol `index` of a table, or NULL. */
static const char *
symbol_name(const struct symbols *table, size_t index)
{
	GElf_Sym sym;

	if (table->symbols == NULL || index == 0 || index > INT32_MAX ||
	    gelf_getsym(table->symbols, (int)index, &sym) == NULL)
		return NULL;
	return elf_text_at(table->names, sym.st_name, NAME_MOST);
}

/* False when the relocation is of no slot that stubs read. */
static bool
make_slot(const struct reader *reader, const GElf_Rela *rela, const struct symbols *table,
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
	const bool is_numbered = strcmp(section_name(reader->elf, header), ".rela.plt") == 0;
	Elf_Data *data = section_data(scn, &reader->relocation_bytes_left);
	Elf_Scn *symbols = elf_getscn(reader->elf, header->sh_link);
	struct symbols table = { NULL, NULL };
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

/* --- functions that choose another (STT_GNU_IFUNC) ---------------------------------- */

static bool
is_better_name(const struct slot *a, const struct slot *b)
{
	const size_t before_a = strspn(a->name, "_"), before_b = strspn(b->name, "_");

	if (a->is_weak != b->is_weak)
		return b->is_weak;
	return before_a != before_b ? before_a < before_b : strcmp(a->name, b->name) < 0;
}

/* Of several names of one address the best stays. */
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

static void
read_resolvers(struct reader *reader, Elf_Scn *scn, const GElf_Shdr *header)
{
	const struct symbols table = read_table(reader->elf, scn);
	GElf_Sym sym;

	(void)header;
	if (table.symbols == NULL)
		return;
	for (int i = 1; gelf_getsym(table.symbols, i, &sym) != NULL && i < INT32_MAX; i++) {
		struct slot slot = { .vaddr = sym.st_value };

		if (reader->resolver_count == RESOLVERS_MOST)
			return;
		if (GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		slot.is_weak = GELF_ST_BIND(sym.st_info) == STB_WEAK;
		slot.name = symbol_name(&table, (size_t)i);
		if (slot.name != NULL &&
		    strnlen(slot.name, RESOLVER_NAME_MOST) < RESOLVER_NAME_MOST)
			add_slot(&reader->resolver, &reader->resolver_count,
				 &reader->resolver_capacity, &slot);
	}
}

/* --- stubs --------------------------------------------------------------------------- */

/*
 * "puts@plt". A slot that is filled by a function of this very file that chooses among
 * several has no name of its own: it takes that function's, which is what its callers know, and
 * without that the address, as disassemblers write it.
 */
static char *
make_name(struct reader *reader, const struct slot *slot)
{
	const char *name = slot->name;
	struct strbuf text;
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
	strbuf_init(&text);
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

/* How long stubs of a section are at most: the next one's start ends them before that. */
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
	const struct slot *slot = NULL; /* of the stub that is not yet ended */
	uint64_t start = 0;

	if (data == NULL || header->sh_addr > UINT64_MAX - data->d_size)
		return;
	for (size_t at = 0; at < data->d_size; at += arch->step) {
		const uint8_t *code = (const uint8_t *)data->d_buf + at;
		const uint64_t vaddr = header->sh_addr + at;
		struct plt_jump jump;

		/* In no other section than a stub's does a jump tell where one begins. */
		if (slot != NULL && vaddr - start >= size) {
			add_stub(reader, slot, start, start + size);
			slot = NULL;
		}
		if (!arch->decode(code, data->d_size - at, vaddr, &jump))
			continue;
		/* bti: the stub has begun with the instruction before */
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
holds_stubs(Elf *elf, const GElf_Shdr *header)
{
	const char *name = section_name(elf, header);

	/* .plt, .plt.sec, .plt.got, .plt.bnd, .iplt */
	return header->sh_type == SHT_PROGBITS && (header->sh_flags & SHF_EXECINSTR) != 0 &&
	       (strncmp(name, ".plt", 4) == 0 || strcmp(name, ".iplt") == 0);
}

static bool
holds_relocations(Elf *elf, const GElf_Shdr *header)
{
	(void)elf;
	return header->sh_type == SHT_RELA && (header->sh_flags & SHF_ALLOC) != 0;
}

static bool
holds_symbols(Elf *elf, const GElf_Shdr *header)
{
	(void)elf;
	return header->sh_type == SHT_SYMTAB || header->sh_type == SHT_DYNSYM;
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

/* Sections that overlap are damage; the list must be in order all the same. */
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
plt_stubs_read(struct plt_stubs *stubs, Elf *elf)
{
	struct reader reader = {
		.elf = elf,
		.arch = elf != NULL ? arch_of(elf) : NULL,
		.stubs = stubs,
		.names_left = NAMES_MOST,
		.stub_bytes_left = STUB_BYTES_MOST,
		.relocation_bytes_left = RELOCATION_BYTES_MOST,
	};
	bool chooses = false;

	*stubs = (struct plt_stubs){ .stub = NULL };
	if (reader.arch == NULL)
		return;
	each_section(&reader, holds_relocations, read_relocations);
	sort_slots(reader.slot, reader.slot_count);
	for (size_t i = 0; i < reader.slot_count && !chooses; i++)
		chooses = reader.slot[i].name == NULL;
	if (chooses) {
		each_section(&reader, holds_symbols, read_resolvers);
		settle_resolvers(&reader);
	}
	if (reader.slot_count > 0)
		each_section(&reader, holds_stubs, read_stubs);
	settle_stubs(stubs);
	free(reader.slot);
	free(reader.numbered);
	free(reader.resolver);
}

void
plt_stubs_release(struct plt_stubs *stubs)
{
	for (size_t i = 0; i < stubs->count; i++)
		free(stubs->stub[i].name);
	free(stubs->stub);
	*stubs = (struct plt_stubs){ .stub = NULL };
}
