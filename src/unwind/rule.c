/* SPDX-License-Identifier: MIT */
/* rule.c - compiles the unwind tables of an image, as libdw reads them, into rules. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "unwind/rule_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"
#include "wallsample/elf/elf_open.h"
#include "wallsample/elf/pclntab.h"
#include "wallsample/tracer/snapshot.h"

struct rule_source {
	const struct image *image;
	int fd;
	Elf *elf;
	/* Handle for .debug_frame. NULL: the file has none that may be used, or it was not opened
	 * yet. */
	Dwarf *dwarf;
	bool dwarf_tried;
	Dwarf_CFI *eh_frame;    /* owned by this struct */
	Dwarf_CFI *debug_frame; /* owned by dwarf */
};

struct rule_source *
rule_source_open(const struct image *image)
{
	struct rule_source *source = xcalloc(1, sizeof(*source));

	source->image = image;
	source->elf = elf_open_unwind(image, &source->fd);
	if (source->elf == NULL) {
		rule_source_free(source);
		return NULL;
	}
	source->eh_frame = dwarf_getcfi_elf(source->elf);
	return source;
}

void
rule_source_free(struct rule_source *source)
{
	if (source == NULL)
		return;
	if (source->eh_frame != NULL)
		dwarf_cfi_end(source->eh_frame);
	if (source->dwarf != NULL)
		dwarf_end(source->dwarf);
	if (source->elf != NULL)
		elf_end(source->elf);
	if (source->fd >= 0)
		close(source->fd);
	free(source);
}

/* Returns true, with *offset set, when the operations have the form "at CFA + offset":
 * DW_OP_call_frame_cfa, DW_OP_plus_uconst offset. */
static bool
is_saved(const Dwarf_Op *ops, size_t count, int64_t *offset)
{
	if (count == 0 || count > 2 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	*offset = 0;
	if (count == 2) {
		if (ops[1].atom != DW_OP_plus_uconst)
			return false;
		*offset = (int64_t)ops[1].number; /* negative offsets wrap around */
	}
	return *offset >= INT32_MIN && *offset <= INT32_MAX;
}

/* Adds a register of the caller to the rule, unless the register is undefined; if it is the return
 * address and undefined, sets the kind RULE_END. Returns false when a rule cannot represent the
 * register. */
static bool
compile_register(Dwarf_Frame *frame, unsigned number, struct rule *rule)
{
	Dwarf_Op memory[3], *ops;
	size_t count;
	int64_t offset = 0;
	bool saved;

	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) != 0)
		return false;
	if (count == 0 && ops == memory) { /* the register is undefined */
		if (number == rule->return_register)
			rule->kind = RULE_END;
		return true;
	}
	saved = count != 0;
	if (saved && !is_saved(ops, count, &offset))
		return false;
	if (rule->count == RULE_REGISTERS)
		return false;
	rule->reg[rule->count].number = (uint8_t)number;
	rule->reg[rule->count].saved = saved;
	rule->reg[rule->count].offset = (int32_t)offset;
	rule->count++;
	return true;
}

/* Sets the rule's CFA. Returns false unless the CFA has the form "register + offset", one
 * DW_OP_bregx or DW_OP_breg0…31. */
static bool
compile_cfa(Dwarf_Frame *frame, struct rule *rule)
{
	Dwarf_Op *ops;
	size_t count;
	uint64_t number;
	int64_t offset;

	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		number = ops[0].number;
		offset = (int64_t)ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		number = (uint64_t)(ops[0].atom - DW_OP_breg0);
		offset = (int64_t)ops[0].number;
	} else {
		return false;
	}
	if (number >= regs_count || offset < INT32_MIN || offset > INT32_MAX)
		return false;
	rule->cfa_register = (uint8_t)number;
	rule->cfa_offset = (int32_t)offset;
	return true;
}

static void
compile(Dwarf_Frame *frame, struct rule *rule)
{
	int column = dwarf_frame_info(frame, NULL, NULL, &rule->signal_frame);

	rule->kind = RULE_COMPLEX;
	if (column < 0 || (unsigned)column >= REGS_MAX)
		return;
	rule->return_register = (uint8_t)column;
	if (!compile_cfa(frame, rule))
		return;
	for (unsigned number = 0; number < regs_count; number++) {
		/* The caller's stack pointer is the CFA by definition. */
		if (number == regs_sp_number)
			continue;
		if (!compile_register(frame, number, rule))
			return;
		if (rule->kind == RULE_END)
			return;
	}
	rule->kind = RULE_PLAIN;
}

/* Returns true when the image has a function table (pclntab.h), by which unwinding is more precise
 * than by .debug_frame where code switches stacks. */
static bool
has_pclntab(const struct image *image)
{
	struct pclntab *table = pclntab_open(image);
	const bool found = table != NULL;

	pclntab_free(table);
	return found;
}

static Dwarf_CFI *
debug_frame(struct rule_source *source)
{
	if (!source->dwarf_tried) {
		source->dwarf_tried = true;
		if (debug_frame_is_cheap(source->elf) && !has_pclntab(source->image))
			source->dwarf = dwarf_begin_elf(source->elf, DWARF_C_READ, NULL);
		if (source->dwarf != NULL)
			source->debug_frame = dwarf_getcfi(source->dwarf);
	}
	return source->debug_frame;
}

void
rule_source_find(struct rule_source *source, uint64_t vaddr, struct rule *rule)
{
	Dwarf_Frame *frame = NULL;

	memset(rule, 0, sizeof(*rule));
	if ((source->eh_frame == NULL ||
	     dwarf_cfi_addrframe(source->eh_frame, vaddr, &frame) != 0) &&
	    (debug_frame(source) == NULL ||
	     dwarf_cfi_addrframe(source->debug_frame, vaddr, &frame) != 0))
		return;
	compile(frame, rule);
	free(frame);
}

/* --- the size of debug information ----------------------------------------------------------- */

/*
 * Largest size in bytes of a file's debug sections, when unpacked, that libdw may read. Reading
 * this size takes about a fifth of a second. The debug sections of programs whose only unwind
 * tables are in .debug_frame have a tenth of this size.
 */
#define DEBUG_BYTES_MOST (UINT64_C(256) << 20)

/* Number of bytes at the beginning of a section ".zdebug_…": "ZLIB" and its unpacked size,
 * big-endian. */
#define OLD_HEADER_BYTES 12

static uint64_t
old_unpacked_size(Elf *elf, const GElf_Shdr *header)
{
	const Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header->sh_offset,
						    OLD_HEADER_BYTES, ELF_T_BYTE);

	if (data == NULL || data->d_buf == NULL || data->d_size < OLD_HEADER_BYTES)
		return UINT64_MAX;
	return bytes_big((const uint8_t *)data->d_buf + 4, sizeof(uint64_t));
}

/* Returns the size in bytes of the section when unpacked; UINT64_MAX when it is not known. */
static uint64_t
unpacked_size(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, bool old)
{
	GElf_Chdr packed;

	if (header->sh_type == SHT_NOBITS)
		return 0;
	if (old)
		return old_unpacked_size(elf, header);
	if ((header->sh_flags & SHF_COMPRESSED) == 0)
		return header->sh_size;
	return gelf_getchdr(section, &packed) != NULL ? packed.ch_size : UINT64_MAX;
}

bool
debug_frame_is_cheap(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t left = DEBUG_BYTES_MOST;
	size_t names;
	bool found = false;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name;
		uint64_t size;
		bool old;

		if (gelf_getshdr(section, &header) == NULL)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		old = name != NULL && strncmp(name, ".zdebug_", 8) == 0;
		if (name == NULL || (!old && strncmp(name, ".debug_", 7) != 0))
			continue;
		size = unpacked_size(elf, section, &header, old);
		if (size > left)
			return false;
		left -= size;
		found |= strcmp(name + (old ? 8 : 7), "frame") == 0;
	}
	return found;
}
