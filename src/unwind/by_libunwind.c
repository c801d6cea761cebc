/* SPDX-License-Identifier: MIT */
/*
 * by_libunwind.c - unwinds a snapshot with libunwind's interface for other processes (remote
 * unwinding). Only --unwinder=libunwind uses this method, as a reference for by_rule.c: expressions
 * in hostile tables can make libunwind loop forever.
 *
 * The accessors here read the stack from the copy and the unwind tables from the module's file: a
 * frame takes a third of a microsecond. With libunwind's own accessors it would take ten times as
 * long, during which the thread must be stopped.
 */
#include <libunwind.h>

#include "unwind/unwind_method_internal.h"
#include "wallsample/elf/frame_entry.h"

/* Exported by libunwind for debuggers, declared in none of its public headers. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
				       unw_proc_info_t *, int, void *);

/* Number of entries of libunwind's cache of parsed unwind rules by address; a large server has some
 * thousand live call sites. */
#define CACHE_SIZE 8192

/* The sorted table of an .eh_frame_hdr. */
struct search_table {
	bool tried;     /* the module has been searched for the table */
	uint64_t vaddr; /* address of the first entry in the image; 0: there is no table */
	uint64_t count; /* number of entries */
};

/* A direct-mapped cache that keeps for addresses whether they are those of signal trampolines. */
#define TRAMPOLINE_SLOTS 1024
struct trampoline_slot {
	uint64_t address;
	bool is; /* the code at the address is a trampoline */
};

struct state {
	unw_addr_space_t space;
	struct maps *maps;
	uint64_t generation;
	struct search_table *table; /* indexed by module number */
	size_t table_count;
	struct trampoline_slot trampoline[TRAMPOLINE_SLOTS];
	struct walk *walk; /* the walk in progress */
	/* A copy of the mapping that find_proc_info() or image_around() used last. */
	struct mapping code;
};

/* Returns the search table of the mapping's module; its `vaddr` is 0 when the module has none that
 * libunwind can search. */
static const struct search_table *
search_table(struct state *state, const struct mapping *mapping)
{
	const struct image *image = mapping->image;
	struct search_table *table;

	state->table = array_for_module(state->table, &state->table_count, mapping->module,
					sizeof(*state->table));
	table = &state->table[mapping->module];
	if (table->tried)
		return table;
	table->tried = true;
	if (image == NULL || !frame_entry_find_table(image, &table->vaddr, &table->count))
		table->vaddr = 0;
	return table;
}

static int
find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int need, void *arg)
{
	struct state *state = arg;
	const struct mapping *mapping = maps_find(state->maps, ip);
	const struct search_table *table = NULL;
	unw_dyn_info_t search = { 0 };
	int result;

	if (mapping != NULL && mapping->image != NULL)
		table = search_table(state, mapping);
	if (table == NULL || table->vaddr == 0) {
		state->walk->no_info = true;
		return -UNW_ENOINFO;
	}
	state->code = *mapping;
	search.start_ip = mapping->start;
	search.end_ip = mapping->end;
	search.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	search.u.rti.segbase = mapping->image->eh_frame_hdr + mapping->bias;
	search.u.rti.table_data = table->vaddr + mapping->bias;
	search.u.rti.table_len = table->count * 8 / sizeof(unw_word_t);
	result = UNW_OBJ(dwarf_search_unwind_table)(space, ip, &search, info, need, arg);
	if (result < 0)
		state->walk->no_info = true;
	return result;
}

/* libunwind frees the information that it has parsed; there is nothing to free here. */
static void
put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space, (void)info, (void)arg;
}

static int
get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *address, void *arg)
{
	(void)space, (void)address, (void)arg;
	return -UNW_ENOINFO;
}

/* Returns a mapping whose image contains the address, or NULL when no image contains it.
 * state->code alone does not suffice: libunwind does not call find_proc_info(), which sets it, for
 * an address whose rule is in its cache. */
static const struct mapping *
image_around(struct state *state, uint64_t address)
{
	const struct mapping *code = &state->code;

	if (code->image != NULL && address - code->low < code->high - code->low)
		return &state->code;
	for (size_t i = 0; i < maps_count(state->maps); i++) {
		const struct mapping *mapping = maps_at(state->maps, i);

		if (mapping->image != NULL &&
		    address - mapping->low < mapping->high - mapping->low) {
			state->code = *mapping;
			return &state->code;
		}
	}
	return NULL;
}

static int
access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *arg)
{
	struct state *state = arg;
	const struct mapping *code;

	(void)space;
	if (write)
		return -UNW_EINVAL;
	if (walk_read_copy(state->walk, address, value))
		return 0;
	code = image_around(state, address);
	if (code != NULL) {
		/*
		 * The only word of the tables that is outside read-only segments is the pointer to
		 * a personality routine. libunwind reads this pointer but does not call the
		 * routine.
		 */
		if (!image_read_vaddr(code->image, address - code->bias, value, sizeof(*value)))
			*value = 0;
		return 0;
	}
	return walk_read_word(state->walk, address, value) ? 0 : -UNW_EINVAL;
}

/* libunwind numbers the general registers as DWARF does, on both architectures. */
static int
access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write, void *arg)
{
	struct state *state = arg;
	const struct regs *regs = &state->walk->regs;

	(void)space;
	if (write)
		return -UNW_EREADONLYREG;
	if (number == UNW_REG_IP) {
		/* Unwind tables are looked up by an address in the call instruction, not by the
		 * return address. */
		*value = walk_lookup(state->walk);
		return 0;
	}
	if (regs_get(regs, (unsigned)number, value))
		return 0;
	state->walk->missing_register = true;
	return -UNW_EBADREG;
}

static int
access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write, void *arg)
{
	(void)space, (void)number, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG;
}

/* The accessors for unw_resume() and unw_get_proc_name() are missing, because these functions are
 * not called. */
static const unw_accessors_t our_accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = get_dyn_info_list_addr,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
};

static void *
state_create(struct maps *maps)
{
	struct state *state = xcalloc(1, sizeof(*state));
	unw_accessors_t accessors;

	state->maps = maps;
	state->generation = maps_generation(maps);
	/* libunwind copies the accessors, but its parameter is not const. */
	accessors = our_accessors;
	state->space = unw_create_addr_space(&accessors, 0);
	if (state->space != NULL) {
		unw_set_caching_policy(state->space, UNW_CACHE_GLOBAL);
		unw_set_cache_size(state->space, CACHE_SIZE, 0);
	}
	return state;
}

static void
state_free(void *opaque)
{
	struct state *state = opaque;

	if (state->space != NULL)
		unw_destroy_addr_space(state->space);
	free(state->table);
	free(state);
}

/* Clears the caches, which find entries by address, when mappings have changed. */
static void
forget_if_stale(struct state *state)
{
	uint64_t generation = maps_generation(state->maps);

	if (generation == state->generation)
		return;
	state->generation = generation;
	unw_flush_cache(state->space, 0, 0);
	memset(state->trampoline, 0, sizeof(state->trampoline));
	state->code.image = NULL;
}

static bool
is_trampoline(struct state *state, uint64_t address)
{
	struct trampoline_slot
		*slot = &state->trampoline[(address ^ address >> 10) % TRAMPOLINE_SLOTS];
	const struct mapping *mapping;

	if (slot->address == address)
		return slot->is;
	mapping = maps_find(state->maps, address);
	slot->address = address;
	slot->is = mapping != NULL && mapping->image != NULL &&
		   arch_is_signal_trampoline(mapping->image, address - mapping->bias);
	return slot->is;
}

/*
 * Makes up to `most` steps from the walk's registers, which are not changed, and stores the number
 * of steps made. With `add`, appends the frames to the chain. Returns ADVANCE_FULL when all steps
 * were made or the chain is full; only then is the cursor valid. Returns ADVANCE_DONE at the
 * thread's first function, and ADVANCE_STUCK when a step fails.
 */
static enum advance
step(struct state *state, unw_cursor_t *cursor, size_t most, bool add, size_t *steps)
{
	struct walk *walk = state->walk;
	bool in_trampoline = walk->exact && is_trampoline(state, walk->regs.pc);

	*steps = 0;
	if (unw_init_remote(cursor, state->space, state) < 0)
		return ADVANCE_STUCK;
	while (*steps < most) {
		int result = unw_step(cursor);
		bool exact = in_trampoline;
		unw_word_t pc, sp;

		/* Without tables libunwind would follow frame pointers. That is left to
		 * by_pointer.c, which marks the origin of such frames. */
		if (walk->no_info || result < 0)
			return ADVANCE_STUCK;
		if (result == 0)
			return ADVANCE_DONE;
		if (unw_get_reg(cursor, UNW_REG_IP, &pc) < 0)
			return ADVANCE_STUCK;
		if (pc == 0)
			return ADVANCE_DONE;
		in_trampoline = is_trampoline(state, pc);
		if (unw_get_reg(cursor, UNW_REG_SP, &sp) < 0)
			sp = 0;
		if (add && !chain_add(walk->chain, pc, sp, FRAME_CFI, exact || in_trampoline))
			return ADVANCE_FULL;
		(*steps)++;
	}
	return ADVANCE_FULL;
}

/* Copies the registers of the cursor into the walk. */
static void
take_registers(struct walk *walk, unw_cursor_t *cursor)
{
	struct regs regs = { .known = 0 };
	unw_word_t value;

	for (unsigned i = 0; i < regs_count; i++)
		if (unw_get_reg(cursor, (unw_regnum_t)i, &value) == 0)
			regs_set(&regs, i, value);
	unw_get_reg(cursor, UNW_REG_IP, &regs.pc);
	unw_get_reg(cursor, UNW_REG_SP, &regs.sp);
	regs_set(&regs, regs_sp_number, regs.sp);
	walk->regs = regs;
}

static enum advance
advance(void *opaque, struct walk *walk)
{
	struct state *state = opaque;
	unw_cursor_t cursor;
	enum advance result;
	size_t steps, again;
	struct walk flags;

	if (state->space == NULL)
		return ADVANCE_STUCK;
	state->walk = walk;
	forget_if_stale(state);
	result = step(state, &cursor, SIZE_MAX, true, &steps);
	if (result != ADVANCE_STUCK || steps == 0)
		return result;
	/*
	 * A failed step leaves the cursor invalid. Saving the cursor before each step would slow
	 * down all walks. So the few walks in which a step fails repeat the successful steps, for
	 * the registers of the last frame.
	 */
	flags = *walk;
	walk->no_info = false; /* step() fails while it is set */
	if (step(state, &cursor, steps, false, &again) == ADVANCE_FULL) {
		take_registers(walk, &cursor);
		walk->exact = walk->chain->frame[walk->chain->count - 1].exact;
	}
	walk->missing_register = flags.missing_register;
	walk->no_info = flags.no_info;
	return result;
}

/* Finds the entry of the unwind tables for the address. Returns false when there is none. */
static bool
find_entry(struct state *state, uint64_t address, unw_proc_info_t *info)
{
	static const struct snapshot nothing;
	struct walk unused = { .maps = state->maps, .snapshot = &nothing };

	state->walk = &unused;
	return state->space != NULL && find_proc_info(state->space, address, info, 0, state) == 0;
}

static bool
covers(void *opaque, uint64_t address)
{
	unw_proc_info_t info;

	return find_entry(opaque, address, &info);
}

static uint64_t
function_start(void *opaque, uint64_t address)
{
	unw_proc_info_t info;

	return find_entry(opaque, address, &info) ? info.start_ip : 0;
}

const struct unwind_method unwind_by_libunwind = {
	.create = state_create,
	.free = state_free,
	.advance = advance,
	.covers = covers,
	.function_start = function_start,
};
