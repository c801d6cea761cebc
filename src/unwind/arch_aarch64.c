/* SPDX-License-Identifier: MIT */
/*
 * arch_aarch64.c - recognises aarch64 code by its bytes, and finds the registers of the caller or
 * of code that a signal interrupted.
 */
#include "unwind/cfi_internal.h"
#include "unwind/unwind_method_internal.h"

/* A return address follows a call instruction, BL or BLR (Arm ARM C6.2). */
bool
arch_is_return_address(const struct image *image, uint64_t vaddr)
{
	uint32_t code;

	if (vaddr % 4 != 0 || vaddr < 4 || !image_read_vaddr(image, vaddr - 4, &code, 4))
		return false;
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000;
}

bool
arch_call_target(const struct image *image, uint64_t vaddr, uint64_t *target)
{
	uint32_t code;

	if (vaddr % 4 != 0 || vaddr < 4 || !image_read_vaddr(image, vaddr - 4, &code, 4) ||
	    (code & 0xfc000000) != 0x94000000)
		return false;
	*target = vaddr - 4 + (uint64_t)((int64_t)(int32_t)(code << 6) >> 4);
	return true;
}

void
arch_follow_jump(const struct image *image, uint64_t *vaddr)
{
	uint32_t code;
	int32_t words;

	/* b: opcode 000101, and the distance in words */
	if (!image_read_vaddr(image, *vaddr, &code, sizeof(code)) || code >> 26 != 5)
		return;
	words = (int32_t)(code << 6) >> 6;
	*vaddr += (uint64_t)((int64_t)words * 4);
}

/* Always returns false: on aarch64, code that has saved its return address has also set up a frame
 * record, which by_pointer.c follows. */
bool
arch_is_epilogue(const uint8_t *code, size_t size, uint64_t *frame)
{
	(void)code;
	(void)size;
	*frame = 0;
	return false;
}

/* The vdso's trampoline calls rt_sigreturn: mov x8, #139; svc #0. */
bool
arch_is_signal_trampoline(const struct image *image, uint64_t vaddr)
{
	uint32_t code[2];

	return image_read_vaddr(image, vaddr, code, sizeof(code)) && code[0] == 0xd2801168 &&
	       code[1] == 0xd4000001;
}

/* Offset in bytes of x0 in the signal frame (struct rt_sigframe, arch/arm64/kernel/signal.c), which
 * is at the stack pointer: 128 bytes of siginfo, then 168 bytes of the ucontext before its struct
 * sigcontext, which has 8 bytes before x0-x30, sp and pc. */
#define SIGCONTEXT_X0 (128 + 168 + 8)

bool
arch_signal_registers(struct walk *walk, uint64_t sp, struct regs *interrupted)
{
	uint64_t value;

	interrupted->known = 0;
	for (unsigned i = 0; i <= regs_sp_number; i++) {
		if (!walk_read_word(walk, sp + SIGCONTEXT_X0 + i * sizeof(value), &value))
			return false;
		regs_set(interrupted, i, value);
	}
	interrupted->sp = interrupted->reg[regs_sp_number];
	return walk_read_word(walk, sp + SIGCONTEXT_X0 + 32 * sizeof(value), &interrupted->pc);
}

/*
 * The return address is at the stack pointer if the function has a frame; otherwise it is in the
 * link register (30), which is known for the leaf only. The saved frame pointer is one word below
 * the return address (cmd/internal/obj/arm64/obj7.go).
 */
bool
arch_pclntab_caller(struct walk *walk, uint32_t depth, bool is_assembler, struct regs *caller)
{
	uint64_t address, fp;
	bool known = regs_get(&walk->regs, regs_fp_number, &fp);

	if (depth == 0 && !regs_get(&walk->regs, 30, &address)) {
		walk->missing_register = true;
		return false;
	}
	if (depth > 0 && !walk_read_word(walk, walk->regs.sp, &address))
		return false;
	if (depth > 0 && !walk->exact && !is_assembler)
		known = walk_read_word(walk, walk->regs.sp - sizeof(fp), &fp);
	regs_set_sp_pc(caller, walk->regs.sp + depth, address);
	if (known)
		regs_set(caller, regs_fp_number, fp);
	return true;
}

/* The program counter has no number that compilers use (AADWARF64 4.1: 32 is reserved for it). */
const unsigned arch_pc_number = 32;

/* AAPCS64 6.1.1: a function preserves x19 to x29. The link register, x30, has the return address
 * until the function saves it. */
void
arch_cfi_defaults(struct cfi_row *row)
{
	for (unsigned i = 19; i <= 30; i++)
		row->reg[i].how = CFI_SAME;
	/* The caller's stack pointer is the CFA. */
	row->reg[regs_sp_number] = (struct cfi_value){ CFI_OFFSET, 0 };
}

/* DW_CFA_AARCH64_negate_ra_state_with_pc and DW_CFA_AARCH64_negate_ra_state: AADWARF64 4.4. */
#define NEGATE_RA_STATE_WITH_PC 0x2c
#define NEGATE_RA_STATE 0x2d

bool
arch_cfi_instruction(struct cfi_row *row, unsigned code)
{
	if (code != NEGATE_RA_STATE && code != NEGATE_RA_STATE_WITH_PC)
		return false;
	row->signed_return = !row->signed_return;
	return true;
}

/*
 * The signature is in the bits above those of an address, of which there are 48, or 42 or 39 in
 * kernels with other settings. Addresses of 52 bits exist only in programs that ask for them
 * (Documentation/arch/arm64/memory.rst). Of several numbers of bits, the first is taken with which
 * the address is in the code of the process.
 */
uint64_t
arch_strip_signature(const struct walk *walk, uint64_t address)
{
	static const unsigned bits[] = { 48, 42, 39 };

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		const uint64_t found = address & ((UINT64_C(1) << bits[i]) - 1);

		if (maps_find(walk->maps, found - 1) != NULL)
			return found;
	}
	return address & ((UINT64_C(1) << bits[0]) - 1);
}
