/* SPDX-License-Identifier: MIT */
/*
 * arch_x86_64.c - recognises x86-64 code by its bytes, and finds the registers of the caller or of
 * code that a signal interrupted.
 */
#include <string.h>

#include "unwind/cfi_internal.h"
#include "unwind/unwind_method_internal.h"

/*
 * A return address follows a call instruction: E8 with four bytes, or FF /2 with a ModRM byte and
 * its operands, 2 to 7 bytes in all (Intel SDM vol. 2, CALL). A prefix before FF makes no
 * difference here.
 */
bool
arch_is_return_address(const struct image *image, uint64_t vaddr)
{
	uint8_t code[7]; /* the bytes before `vaddr` */

	if (vaddr < sizeof(code) ||
	    !image_read_vaddr(image, vaddr - sizeof(code), code, sizeof(code)))
		return false;
	if (code[2] == 0xe8)
		return true;
	for (unsigned length = 2; length <= sizeof(code); length++) {
		const uint8_t *call = code + sizeof(code) - length;

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

bool
arch_call_target(const struct image *image, uint64_t vaddr, uint64_t *target)
{
	uint8_t code[5];
	int32_t distance;

	if (vaddr < sizeof(code) ||
	    !image_read_vaddr(image, vaddr - sizeof(code), code, sizeof(code)) || code[0] != 0xe8)
		return false;
	memcpy(&distance, code + 1, sizeof(distance));
	*target = vaddr + (uint64_t)(int64_t)distance;
	return true;
}

void
arch_follow_jump(const struct image *image, uint64_t *vaddr)
{
	uint8_t code[5];
	int32_t distance;

	/* jmp: E9, and the distance from the next instruction (Intel SDM vol. 2, JMP) */
	if (!image_read_vaddr(image, *vaddr, code, sizeof(code)) || code[0] != 0xe9)
		return;
	memcpy(&distance, code + 1, sizeof(distance));
	*vaddr += sizeof(code) + (uint64_t)(int64_t)distance;
}

/*
 * The epilogue is add $size, %rsp; ret. The trampolines that interpreters generate for perf end in
 * it, for example sub $8, %rsp; call *%rcx; add $8, %rsp; ret. They have no unwind tables, and
 * preserve all other registers.
 */
bool
arch_is_epilogue(const uint8_t *code, size_t size, uint64_t *frame)
{
	int32_t wide;

	if (size >= 5 && memcmp(code, "\x48\x83\xc4", 3) == 0 && code[4] == 0xc3) {
		*frame = code[3];
		return code[3] < 0x80 && code[3] % sizeof(uint64_t) == 0;
	}
	if (size < 8 || memcmp(code, "\x48\x81\xc4", 3) != 0 || code[7] != 0xc3)
		return false;
	memcpy(&wide, code + 3, sizeof(wide));
	*frame = (uint64_t)(int64_t)wide;
	return wide >= 0 && wide % sizeof(uint64_t) == 0;
}

/* The trampoline makes system call 15, rt_sigreturn: mov $15, %rax (or %eax); syscall. */
bool
arch_is_signal_trampoline(const struct image *image, uint64_t vaddr)
{
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t narrow[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[sizeof(wide)];

	return image_read_vaddr(image, vaddr, code, sizeof(code)) &&
	       (memcmp(code, wide, sizeof(wide)) == 0 || memcmp(code, narrow, sizeof(narrow)) == 0);
}

/* struct ucontext is at the stack pointer. Its struct sigcontext
 * (arch/x86/include/uapi/asm/sigcontext.h) begins at the offset SIGCONTEXT, and has the registers
 * in the order of this array of DWARF register numbers. */
#define SIGCONTEXT 40
static const uint8_t sigcontext_order[] = {
	8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16
};

bool
arch_signal_registers(struct walk *walk, uint64_t sp, struct regs *interrupted)
{
	interrupted->known = 0;
	for (unsigned i = 0; i < sizeof(sigcontext_order); i++) {
		uint64_t value;

		if (!walk_read_word(walk, sp + SIGCONTEXT + i * sizeof(value), &value))
			return false;
		regs_set(interrupted, sigcontext_order[i], value);
	}
	interrupted->sp = interrupted->reg[7];
	interrupted->pc = interrupted->reg[16];
	return true;
}

/*
 * A function that has set up a frame record has it one word below the return address, and the frame
 * pointer points to it. In a leaf or in assembler code, the record is used only if the frame
 * pointer points there; otherwise the frame pointer is taken to be the caller's. Compiled code that
 * has called another function always has a record, even when the frame pointer points below it, as
 * during a call of runtime.duffcopy.
 */
bool
arch_pclntab_caller(struct walk *walk, uint32_t depth, bool is_assembler, struct regs *caller)
{
	const uint64_t slot = walk->regs.sp + depth;
	const uint64_t record = slot - sizeof(uint64_t);
	uint64_t address, fp;
	bool known = regs_get(&walk->regs, regs_fp_number, &fp);

	if (!walk_read_word(walk, slot, &address))
		return false;
	if (depth >= sizeof(fp) && ((known && fp == record) || !(walk->exact || is_assembler)))
		known = walk_read_word(walk, record, &fp);
	regs_set_sp_pc(caller, slot + sizeof(address), address);
	if (known)
		regs_set(caller, regs_fp_number, fp);
	return true;
}

/* DWARF numbers: System V ABI, AMD64 supplement, figure 3.36. */
enum { RBX = 3, RBP = 6, RSP = 7, R12 = 12, R15 = 15, RETURN_ADDRESS = 16 };

const unsigned arch_pc_number = RETURN_ADDRESS;

void
arch_cfi_defaults(struct cfi_row *row)
{
	row->reg[RBX].how = CFI_SAME;
	row->reg[RBP].how = CFI_SAME;
	for (unsigned i = R12; i <= R15; i++)
		row->reg[i].how = CFI_SAME;
	/* The caller's stack pointer is the CFA. The call has pushed the return address. */
	row->reg[RSP] = (struct cfi_value){ CFI_OFFSET, 0 };
	row->reg[RETURN_ADDRESS] = (struct cfi_value){ CFI_SAVED, -(int64_t)sizeof(uint64_t) };
}

bool
arch_cfi_instruction(struct cfi_row *row, unsigned code)
{
	(void)row;
	(void)code;
	return false;
}

uint64_t
arch_strip_signature(const struct walk *walk, uint64_t address)
{
	(void)walk;
	return address;
}
