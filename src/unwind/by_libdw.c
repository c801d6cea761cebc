/* SPDX-License-Identifier: MIT */
/*
 * by_libdw.c - unwinds a snapshot by CFI with libdw, which reads the snapshot through callbacks.
 *
 * Only --unwinder=libdw uses this method, as a reference for by_rule.c: hostile tables can make
 * libdw use gigabytes of memory. libdw itself follows frame pointers where it has no CFI. That is
 * prevented here, because by_pointer.c does it and marks the origin of the frame.
 */
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "unwind/unwind_method_internal.h"
#include "wallsample/base/bytes.h"
#include "wallsample/elf/elf_open.h"

/* A direct-mapped cache that keeps for addresses whether they have CFI. */
#define COVER_SLOTS 4096
struct cover_slot {
	uint64_t address;
	bool used, covered;
	/* The CFI marks the return address as undefined: the outermost frame. */
	bool end;
};

struct state {
	struct maps *maps;
	uint64_t generation;
	Dwfl *dwfl;
	bool attached, reported;
	struct cover_slot cover[COVER_SLOTS];
	/* The members below belong to the walk in progress. */
	struct walk *walk;
	struct regs next; /* registers of the frame that was added last */
	bool next_exact;  /* the address of the frame that was added last is exact */
	size_t seen;      /* number of frames that libdw has reported, including the first */
	/* The CFI marks the last reported frame as the outermost one. */
	bool last_end;
	/* The word that libdw read last, after it reported its last frame, is 0. If libdw finds no
	 * caller of that frame, the word was the return address. */
	bool read_zero;
	enum advance result;
};

/* Callback of libdw: opens the ELF file of a reported module, whose image is in *userdata. */
static int
find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, char **file,
	 Elf **elf)
{
	const struct image *image = *userdata;
	int fd;

	(void)module, (void)name, (void)base;
	*file = NULL;
	if (image == NULL)
		return -1;
	/* If only the descriptor were returned, libdw would make the Elf itself, and map the file:
	 * a file that is truncated meanwhile would then cause SIGBUS. */
	*elf = elf_open_unwind(image, &fd);
	return fd;
}

/* Callback of libdw: reports that there is no separate debug file. Such a file has symbols, which
 * are not needed, and its .eh_frame is empty; .debug_frame is read only from the ELF file. */
static int
find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
	       const char *file, const char *link, GElf_Word crc, char **debug)
{
	(void)module, (void)userdata, (void)name, (void)base;
	(void)file, (void)link, (void)crc, (void)debug;
	return -1;
}

static void
report_modules(struct state *state)
{
	dwfl_report_begin(state->dwfl);
	for (size_t i = 0; i < maps_count(state->maps); i++) {
		const struct mapping *mapping = maps_at(state->maps, i);
		const struct module *module;
		Dwfl_Module *reported;
		void **userdata;

		if (mapping->image == NULL)
			continue;
		/* A file with several executable segments is one module. */
		if (i > 0 && maps_at(state->maps, i - 1)->low == mapping->low &&
		    maps_at(state->maps, i - 1)->image == mapping->image)
			continue;
		module = modules_at(maps_modules(state->maps), mapping->module);
		reported = dwfl_report_module(state->dwfl, module->path, mapping->low,
					      mapping->high);
		if (reported != NULL &&
		    dwfl_module_info(reported, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
			*userdata = (void *)(uintptr_t)mapping->image;
	}
	dwfl_report_end(state->dwfl, NULL, NULL);
	state->reported = true;
	state->generation = maps_generation(state->maps);
	memset(state->cover, 0, sizeof(state->cover));
}

/* Callback of libdw: reports the snapshot's thread as the only thread of the process. */
static pid_t
next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct state *state = arg;

	(void)dwfl;
	if (*thread != NULL)
		return 0;
	*thread = state;
	return state->walk->snapshot->tid;
}

static bool
read_stack_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *arg)
{
	struct state *state = arg;
	uint64_t word;

	(void)dwfl;
	state->read_zero = false;
	if (!walk_read_word(state->walk, address, &word))
		return false;
	state->read_zero = word == 0;
	*value = word;
	return true;
}

static bool
set_initial_registers(Dwfl_Thread *thread, void *arg)
{
	struct state *state = arg;
	const struct regs *regs = &state->walk->regs;

	for (unsigned i = 0; i < regs_count; i++) {
		Dwarf_Word value;
		uint64_t known;

		if (!regs_get(regs, i, &known))
			continue;
		value = known;
		dwfl_thread_state_registers(thread, (int)i, 1, &value);
	}
	/* libdw looks up exactly this address in the CFI. If the pc is a return address, libdw gets
	 * an address in the call instruction instead. */
	dwfl_thread_state_register_pc(thread, walk_lookup(state->walk));
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_stack_word,
	.set_initial_registers = set_initial_registers,
};

static void *
state_create(struct maps *maps)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf,
		.find_debuginfo = find_debuginfo,
	};
	struct state *state = xcalloc(1, sizeof(*state));

	state->maps = maps;
	elf_version(EV_CURRENT);
	state->dwfl = dwfl_begin(&callbacks);
	return state;
}

static void
state_free(void *opaque)
{
	struct state *state = opaque;

	if (state->dwfl != NULL)
		dwfl_end(state->dwfl);
	free(state);
}

static bool
libdw_prepare(struct state *state)
{
	if (state->dwfl == NULL)
		return false;
	if (!state->reported || state->generation != maps_generation(state->maps))
		report_modules(state);
	if (!state->attached)
		state->attached = dwfl_attach_state(state->dwfl, NULL,
						    maps_process(state->maps)->pid,
						    &thread_callbacks, state);
	return state->attached;
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

/*
 * Returns true when the file has a .debug_frame, and all of its debug sections together have at
 * most 256 MiB when unpacked. To reach .debug_frame, libdw reads and unpacks all debug sections;
 * for some programs this would take seconds and gigabytes while samples are taken.
 */
static bool
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

/* --- searching the CFI ---------------------------------------------------------------------- */

/* Returns true when the CFI marks the return address as undefined, as in a thread's first
 * function. */
static bool
is_end(Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	size_t count;
	int column = dwarf_frame_info(frame, NULL, NULL, NULL);

	return column >= 0 && dwarf_frame_register(frame, column, memory, &ops, &count) == 0 &&
	       count == 0 && ops == memory;
}

/* Searches the CFI for `address` and stores the result in *slot. */
static void
cover_slot_fill(struct state *state, uint64_t address, struct cover_slot *slot)
{
	Dwfl_Module *module = dwfl_addrmodule(state->dwfl, address);
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (module == NULL)
		return;
	cfi = dwfl_module_eh_cfi(module, &bias);
	if (cfi != NULL)
		slot->covered = dwarf_cfi_addrframe(cfi, address - bias, &frame) == 0;
	if (!slot->covered && debug_frame_is_cheap(dwfl_module_getelf(module, &bias))) {
		cfi = dwfl_module_dwarf_cfi(module, &bias);
		if (cfi != NULL)
			slot->covered = dwarf_cfi_addrframe(cfi, address - bias, &frame) == 0;
	}
	slot->end = slot->covered && is_end(frame);
	free(frame);
}

static const struct cover_slot *
find_cfi(struct state *state, uint64_t address)
{
	struct cover_slot *slot = &state->cover[(address ^ address >> 12) % COVER_SLOTS];

	if (!slot->used || slot->address != address) {
		*slot = (struct cover_slot){ .address = address, .used = true };
		cover_slot_fill(state, address, slot);
	}
	return slot;
}

static void
keep_registers(struct state *state, Dwfl_Frame *frame, uint64_t pc)
{
	struct regs *regs = &state->next;
	Dwarf_Word value;

	regs->known = 0;
	for (unsigned i = 0; i < regs_count; i++)
		if (dwfl_frame_reg(frame, i, &value) == 0)
			regs_set(regs, i, value);
	regs->pc = pc;
	if (!regs_get(regs, regs_sp_number, &regs->sp))
		regs->sp = 0;
}

/* Callback of libdw, called first with the frame from which the walk starts, then with each caller
 * that libdw finds. Appends the callers to the chain. */
static int
on_frame(Dwfl_Frame *frame, void *arg)
{
	struct state *state = arg;
	struct walk *walk = state->walk;
	const struct cover_slot *cfi;
	bool exact;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	if (state->seen++ > 0) {
		if (pc == 0) {
			state->result = ADVANCE_DONE;
			return DWARF_CB_ABORT;
		}
		keep_registers(state, frame, pc);
		state->next_exact = exact;
		if (!chain_add(walk->chain, pc, state->next.sp, FRAME_CFI, exact)) {
			state->result = ADVANCE_FULL;
			return DWARF_CB_ABORT;
		}
	}
	cfi = find_cfi(state, exact || state->seen == 1 ? pc : pc - 1);
	state->last_end = cfi->end;
	state->read_zero = false;
	/* Without CFI, libdw would follow the frame pointer from this frame. */
	if (!cfi->covered) {
		walk->no_info = true;
		return DWARF_CB_ABORT;
	}
	return DWARF_CB_OK;
}

static enum advance
advance(void *opaque, struct walk *walk)
{
	struct state *state = opaque;
	int result;

	state->walk = walk;
	if (!libdw_prepare(state))
		return ADVANCE_STUCK;
	state->seen = 0;
	state->last_end = false;
	state->read_zero = false;
	state->result = ADVANCE_STUCK;
	result = dwfl_getthread_frames(state->dwfl, walk->snapshot->tid, on_frame, state);
	if (state->seen > 1 && state->next.sp != 0) {
		walk->regs = state->next;
		walk->exact = state->next_exact;
	}
	/* libdw also returns 0 when it does not know a register that it needs. */
	if (result == 0 && (state->last_end || state->read_zero))
		return ADVANCE_DONE;
	walk->missing_register |= result == 0 && !walk->beyond_copy && !walk->bad_memory;
	return state->result;
}

static bool
covers(void *opaque, uint64_t address)
{
	struct state *state = opaque;

	return libdw_prepare(state) && find_cfi(state, address)->covered;
}

const struct unwind_method unwind_by_libdw = {
	.create = state_create,
	.free = state_free,
	.advance = advance,
	.covers = covers,
};
