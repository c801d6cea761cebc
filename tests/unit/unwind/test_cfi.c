/* SPDX-License-Identifier: MIT */
/*
 * test_cfi.c - the interpreter of call frame information: what each instruction and operation does,
 * where the limits are, and that invalid ones are refused. test_rule.c compares the rules of real
 * files with what libdw says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi_internal.h"
#include "wallsample/base/base.h"

#if defined(__x86_64__)
/* A register that functions preserve, one that they need not preserve, the stack pointer, and the
 * return address. */
enum { KEPT = 3, LOST = 1, SP = 7, RA = 16 };
#elif defined(__aarch64__)
enum { KEPT = 19, LOST = 1, SP = 31, RA = 30 };
#endif

#define START 1000 /* of the code that the entry describes */

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* Executes the instructions; false when they are refused. Code alignment 2, data alignment -8. */
static bool
execute(const uint8_t *common, size_t common_size, const uint8_t *own, size_t own_size,
	uint64_t vaddr, struct cfi_row *row)
{
	uint8_t *bytes = malloc(common_size + own_size + 1);
	const struct frame_section section = { .bytes = bytes, .high = common_size + own_size };
	const struct frame_entry entry = {
		.start = START, .size = 100, .code_alignment = 2, .data_alignment = -8,
		.return_register = RA, .encoding = DW_EH_PE_udata4,
		.common = { 0, common_size }, .own = { common_size, common_size + own_size },
	};
	bool done;

	assert_non_null(bytes);
	memcpy(bytes, common, common_size);
	memcpy(bytes + common_size, own, own_size);
	done = cfi_row_at(&section, &entry, vaddr, row);
	free(bytes);
	return done;
}

/* The usual beginning: CFA = SP + 8, return address at CFA - 8. */
#define COMMON BYTES(DW_CFA_def_cfa, SP, 8, DW_CFA_offset | RA, 1)

static void
check(const struct cfi_value *found, enum cfi_how how, int64_t value)
{
	assert_int_equal(found->how, how);
	assert_int_equal(found->value, value);
}

static void
test_defaults(void **state)
{
	struct cfi_row row;

	(void)state;
	assert_true(execute(BYTES(DW_CFA_nop), BYTES(DW_CFA_nop), START, &row));
	check(&row.cfa, CFI_UNDEFINED, 0);
	check(&row.reg[KEPT], CFI_SAME, 0);
	check(&row.reg[LOST], CFI_UNDEFINED, 0);
	assert_false(row.signed_return);
}

/* Each row is that of its addresses, and not of the address before or behind. */
static void
test_rows(void **state)
{
	struct cfi_row row;
	const uint8_t own[] = {
		DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, /* from START + 2 on */
		DW_CFA_advance_loc1, 4, DW_CFA_def_cfa_register, KEPT, /* from START + 10 on */
		DW_CFA_advance_loc2, 1, 0, DW_CFA_remember_state, DW_CFA_def_cfa, SP, 8,
		DW_CFA_offset | KEPT, 2, /* from START + 12 on */
		DW_CFA_advance_loc4, 1, 0, 0, 0, DW_CFA_restore_state, /* from START + 14 on */
		DW_CFA_set_loc, START % 256 + 20, START / 256, 0, 0, DW_CFA_def_cfa_sf, SP, 0x7e,
		0x1d, 1, 0, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset_sf, 0x7d /* START + 22 */
	};

	(void)state;
	for (uint64_t at = START; at < START + 100; at++) {
		const uint64_t distance = at - START;
		const bool saved = distance >= 12 && distance < 14;
		bool by_kept;

		assert_true(execute(COMMON, own, sizeof(own), at, &row));
		check(&row.cfa, CFI_OFFSET,
		      distance < 2 || saved ? 8 : distance < 22 ? 16 : 24);
		by_kept = (distance >= 10 && distance < 12) || (distance >= 14 && distance < 20);
		assert_int_equal(row.cfa_register, by_kept ? KEPT : SP);
		check(&row.reg[KEPT], saved ? CFI_SAVED : CFI_SAME, saved ? -16 : 0);
		check(&row.reg[RA], CFI_SAVED, -8);
	}
}

/* Executes instructions for the register KEPT. */
static void
check_register(const uint8_t *own, size_t size, enum cfi_how how, int64_t value)
{
	struct cfi_row row;

	assert_true(execute(COMMON, own, size, START, &row));
	check(&row.reg[KEPT], how, value);
}

static void
test_registers(void **state)
{
	struct cfi_row row;

	(void)state;
	check_register(BYTES(DW_CFA_offset | KEPT, 3), CFI_SAVED, -24);
	check_register(BYTES(DW_CFA_offset_extended, KEPT, 4), CFI_SAVED, -32);
	check_register(BYTES(DW_CFA_offset_extended_sf, KEPT, 0x7f), CFI_SAVED, 8);
	check_register(BYTES(0x2f, KEPT, 1), CFI_SAVED, 8); /* GNU_negative_offset_extended */
	check_register(BYTES(DW_CFA_val_offset, KEPT, 1), CFI_OFFSET, -8);
	check_register(BYTES(DW_CFA_val_offset_sf, KEPT, 0x7f), CFI_OFFSET, 8);
	check_register(BYTES(DW_CFA_undefined, KEPT), CFI_UNDEFINED, 0);
	check_register(BYTES(DW_CFA_undefined, KEPT, DW_CFA_same_value, KEPT), CFI_SAME, 0);
	check_register(BYTES(DW_CFA_register, KEPT, LOST), CFI_REGISTER, LOST);
	/* The place of an expression is that of its length: 5 bytes of the CIE come before. */
	check_register(BYTES(DW_CFA_expression, KEPT, 1, DW_OP_nop), CFI_SAVED_EXPR, 7);
	check_register(BYTES(DW_CFA_val_expression, KEPT, 0), CFI_EXPR, 7);
	check_register(BYTES(DW_CFA_offset | KEPT, 3, DW_CFA_restore | KEPT), CFI_SAME, 0);
	check_register(BYTES(DW_CFA_offset | KEPT, 3, DW_CFA_restore_extended, KEPT), CFI_SAME, 0);
	check_register(BYTES(0x2e, 0x80, 1), CFI_SAME, 0); /* GNU_args_size */
	/* Registers that the unwinder does not know, such as vector registers, are ignored. */
	check_register(BYTES(DW_CFA_offset_extended, 60, 4, DW_CFA_undefined, 0xff, 0xff, 3),
		       CFI_SAME, 0);

	assert_true(execute(COMMON, BYTES(DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + SP, 0), START,
			    &row));
	check(&row.cfa, CFI_EXPR, 6);
}

static void
refused(const uint8_t *own, size_t size)
{
	struct cfi_row row;

	assert_false(execute(COMMON, own, size, START, &row));
}

static void
test_refused(void **state)
{
	struct cfi_row row;

	(void)state;
	refused(BYTES(0x3f)); /* not an instruction */
	refused(BYTES(DW_CFA_offset | KEPT)); /* without its operand */
	refused(BYTES(DW_CFA_offset_extended, KEPT, 0x80));
	refused(BYTES(DW_CFA_def_cfa, SP));
	refused(BYTES(DW_CFA_restore_state)); /* nothing is remembered */
	refused(BYTES(DW_CFA_expression, KEPT, 2, DW_OP_nop)); /* longer than the entry */
	refused(BYTES(DW_CFA_expression, KEPT, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		      1));
	refused(BYTES(DW_CFA_def_cfa_expression, 0, DW_CFA_def_cfa_offset, 8));
	refused(BYTES(DW_CFA_def_cfa_expression, 0, DW_CFA_def_cfa_register, SP));
	/* 2^63 * -8 */
	refused(BYTES(DW_CFA_offset | KEPT, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		      1));
	/* a number of more than 64 bits */
	refused(BYTES(DW_CFA_offset | KEPT, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		      0x80, 1));
	/* a location that wraps around */
	refused(BYTES(0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f));
	/* The CIE restores nothing, and does not move. */
	assert_false(execute(BYTES(DW_CFA_restore | KEPT), BYTES(DW_CFA_nop), START, &row));
	assert_false(execute(BYTES(DW_CFA_advance_loc | 1), BYTES(DW_CFA_nop), START, &row));
	/* What the CIE remembers, the FDE cannot recall. */
	assert_false(execute(BYTES(DW_CFA_remember_state), BYTES(DW_CFA_restore_state), START,
			     &row));
}

/* Executes `count` times the same instruction. */
static bool
repeat(uint8_t instruction, size_t count)
{
	uint8_t *own = malloc(count);
	struct cfi_row row;
	bool done;

	assert_non_null(own);
	memset(own, instruction, count);
	done = execute(COMMON, own, count, START, &row);
	free(own);
	return done;
}

static void
test_limits(void **state)
{
	(void)state;
	assert_true(repeat(DW_CFA_remember_state, 16));
	assert_false(repeat(DW_CFA_remember_state, 17));
	/* Two instructions are in the CIE. */
	assert_true(repeat(DW_CFA_nop, 65534));
	assert_false(repeat(DW_CFA_nop, 65535));
}

/* --- expressions -------------------------------------------------------------------------- */

#define STACK_LOW UINT64_C(0x7000000000)
#define BIAS UINT64_C(0x100000)

struct scene {
	uint64_t stack[4];
	struct snapshot snapshot;
	struct walk walk;
};

/* SP is STACK_LOW, the register KEPT is 5, the program counter 0x4321, and no other register is
 * known. */
static void
scene_init(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	scene->stack[0] = STACK_LOW + 8;
	scene->stack[1] = UINT64_C(0x1122334455667788);
	scene->snapshot.stack = (uint8_t *)scene->stack;
	scene->snapshot.stack_size = scene->snapshot.stack_wanted = sizeof(scene->stack);
	scene->snapshot.stack_address = STACK_LOW;
	scene->walk.snapshot = &scene->snapshot;
	regs_set_sp_pc(&scene->walk.regs, STACK_LOW, 0x4321);
	regs_set(&scene->walk.regs, KEPT, 5);
}

/* Evaluates the operations, with 77 as the first value on the stack. */
static bool
evaluate(struct scene *scene, const uint8_t *operations, size_t size, uint64_t *value)
{
	uint8_t *bytes = malloc(size + 3);
	const struct frame_section section = { .bytes = bytes, .low = 40, .high = 40 + size + 2 };
	const struct cfi_place place = { &scene->walk, &section, BIAS };
	const uint64_t cfa = 77;
	bool done;

	assert_non_null(bytes);
	assert_true(size < 1 << 14);
	bytes[0] = (uint8_t)(0x80 | (size & 0x7f));
	bytes[1] = (uint8_t)(size >> 7);
	memcpy(bytes + 2, operations, size);
	done = cfi_evaluate(&place, 40, &cfa, value);
	free(bytes);
	return done;
}

static void
gives(uint64_t wanted, const uint8_t *operations, size_t size)
{
	struct scene scene;
	uint64_t value = 0;

	scene_init(&scene);
	assert_true(evaluate(&scene, operations, size, &value));
	assert_true(value == wanted);
}

static void
fails(const uint8_t *operations, size_t size)
{
	struct scene scene;
	uint64_t value = 0;

	scene_init(&scene);
	assert_false(evaluate(&scene, operations, size, &value));
}

#define MINUS(number) (0 - UINT64_C(number))

static void
test_constants(void **state)
{
	(void)state;
	gives(77, BYTES(DW_OP_nop));
	gives(31, BYTES(DW_OP_lit31));
	gives(0x100000 + 0x0807060504030201,
	      BYTES(DW_OP_addr, 1, 2, 3, 4, 5, 6, 7, 8));
	gives(0xff, BYTES(DW_OP_const1u, 0xff));
	gives(MINUS(1), BYTES(DW_OP_const1s, 0xff));
	gives(0xfffe, BYTES(DW_OP_const2u, 0xfe, 0xff));
	gives(MINUS(2), BYTES(DW_OP_const2s, 0xfe, 0xff));
	gives(0xfffffffd, BYTES(DW_OP_const4u, 0xfd, 0xff, 0xff, 0xff));
	gives(MINUS(3), BYTES(DW_OP_const4s, 0xfd, 0xff, 0xff, 0xff));
	gives(UINT64_C(0x0807060504030201), BYTES(DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8));
	gives(UINT64_C(0x8807060504030201), BYTES(DW_OP_const8s, 1, 2, 3, 4, 5, 6, 7, 0x88));
	gives(300, BYTES(DW_OP_constu, 0xac, 2));
	gives(MINUS(2), BYTES(DW_OP_consts, 0x7e));
	fails(BYTES(DW_OP_const4u, 1, 2, 3));
	fails(BYTES(DW_OP_constu, 0x80));
}

static void
test_stack(void **state)
{
	uint8_t many[70];

	(void)state;
	gives(77, BYTES(DW_OP_lit1, DW_OP_drop));
	gives(154, BYTES(DW_OP_dup, DW_OP_plus));
	gives(78, BYTES(DW_OP_lit1, DW_OP_over, DW_OP_plus));
	gives(77, BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_pick, 2));
	gives(77, BYTES(DW_OP_lit1, DW_OP_swap));
	/* 77 1 2 becomes 2 77 1 */
	gives(1, BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_rot));
	gives(77, BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_rot, DW_OP_drop));
	gives(2, BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_rot, DW_OP_drop, DW_OP_drop));
	fails(BYTES(DW_OP_drop));
	fails(BYTES(DW_OP_drop, DW_OP_drop));
	fails(BYTES(DW_OP_plus));
	fails(BYTES(DW_OP_over));
	fails(BYTES(DW_OP_swap));
	fails(BYTES(DW_OP_lit1, DW_OP_rot));
	fails(BYTES(DW_OP_pick, 1));
	/* 64 values: 77 is the first. */
	memset(many, DW_OP_lit7, sizeof(many));
	gives(7, many, 63);
	fails(many, 64);
}

static void
test_arithmetic(void **state)
{
	(void)state;
	gives(2, BYTES(DW_OP_const1s, 0xfe, DW_OP_abs));
	gives(UINT64_C(1) << 63, BYTES(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_abs));
	gives(MINUS(77), BYTES(DW_OP_neg));
	gives(MINUS(78), BYTES(DW_OP_not));
	gives(77 + 300, BYTES(DW_OP_plus_uconst, 0xac, 2));
	gives(77 & 12, BYTES(DW_OP_lit12, DW_OP_and));
	gives(77 | 18, BYTES(DW_OP_lit18, DW_OP_or));
	gives(77 ^ 31, BYTES(DW_OP_lit31, DW_OP_xor));
	gives(70, BYTES(DW_OP_lit7, DW_OP_minus));
	gives(MINUS(1), BYTES(DW_OP_const1u, 78, DW_OP_minus));
	gives(154, BYTES(DW_OP_lit2, DW_OP_mul));
	gives(11, BYTES(DW_OP_lit7, DW_OP_div));
	gives(MINUS(77), BYTES(DW_OP_const1s, 0xff, DW_OP_div));
	gives(MINUS(11), BYTES(DW_OP_neg, DW_OP_lit7, DW_OP_div));
	gives(UINT64_C(1) << 63, BYTES(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_const1s,
				       0xff, DW_OP_div));
	gives(7, BYTES(DW_OP_lit10, DW_OP_mod));
	fails(BYTES(DW_OP_lit0, DW_OP_div));
	fails(BYTES(DW_OP_lit0, DW_OP_mod));
	gives(77 << 3, BYTES(DW_OP_lit3, DW_OP_shl));
	gives(0, BYTES(DW_OP_const1u, 64, DW_OP_shl));
	gives(77 >> 3, BYTES(DW_OP_lit3, DW_OP_shr));
	gives(0, BYTES(DW_OP_const1u, 200, DW_OP_shr));
	gives(MINUS(1), BYTES(DW_OP_neg, DW_OP_const1u, 200, DW_OP_shra));
	gives(MINUS(39), BYTES(DW_OP_neg, DW_OP_lit1, DW_OP_shra));
	/* Comparisons are signed. */
	gives(1, BYTES(DW_OP_const1s, 0xff, DW_OP_gt));
	gives(1, BYTES(DW_OP_const1s, 0xff, DW_OP_ge));
	gives(0, BYTES(DW_OP_const1s, 0xff, DW_OP_lt));
	gives(0, BYTES(DW_OP_const1s, 0xff, DW_OP_le));
	gives(1, BYTES(DW_OP_const1u, 77, DW_OP_eq));
	gives(1, BYTES(DW_OP_const1u, 77, DW_OP_ge));
	gives(1, BYTES(DW_OP_const1u, 77, DW_OP_le));
	gives(0, BYTES(DW_OP_const1u, 77, DW_OP_ne));
	gives(0, BYTES(DW_OP_const1u, 77, DW_OP_gt));
	gives(0, BYTES(DW_OP_const1u, 77, DW_OP_lt));
}

static void
test_registers_and_memory(void **state)
{
	struct scene scene;
	uint64_t value;

	(void)state;
	gives(4, BYTES(DW_OP_breg0 + KEPT, 0x7f));
	gives(8, BYTES(DW_OP_bregx, KEPT, 3));
	gives(STACK_LOW + 8, BYTES(DW_OP_breg0 + SP, 0, DW_OP_deref));
	gives(UINT64_C(0x1122334455667788), BYTES(DW_OP_breg0 + SP, 8, DW_OP_deref));
	gives(0x55, BYTES(DW_OP_breg0 + SP, 11, DW_OP_deref_size, 1));
	gives(0x3344, BYTES(DW_OP_breg0 + SP, 12, DW_OP_deref_size, 2));
	gives(0x55667788, BYTES(DW_OP_breg0 + SP, 8, DW_OP_deref_size, 4));
	fails(BYTES(DW_OP_breg0 + SP, 8, DW_OP_deref_size, 0));
	fails(BYTES(DW_OP_breg0 + SP, 8, DW_OP_deref_size, 9));
	fails(BYTES(DW_OP_breg0 + SP, 1, DW_OP_deref)); /* a part of two words */
	gives(0x4321, BYTES(DW_OP_bregx, (uint8_t)arch_pc_number, 0));
	fails(BYTES(DW_OP_bregx, 0xff, 0xff, 3, 0));

	scene_init(&scene);
	assert_false(evaluate(&scene, BYTES(DW_OP_breg0 + LOST, 0), &value));
	assert_true(scene.walk.missing_register);
	scene_init(&scene);
	scene.snapshot.stack_wanted = sizeof(scene.stack) + 8;
	assert_false(evaluate(&scene, BYTES(DW_OP_breg0 + SP, 32, DW_OP_deref), &value));
	assert_true(scene.walk.bad_memory);
	scene_init(&scene);
	assert_false(evaluate(&scene, BYTES(DW_OP_breg0 + SP, 32, DW_OP_deref), &value));
	assert_true(scene.walk.beyond_copy);
}

/* The procedure linkage table of x86-64: CFA = sp + 8 + ((pc & 15) >= 11) << 3. */
static void
test_plt(void **state)
{
	const uint8_t operations[] = { DW_OP_breg0 + SP, 8, DW_OP_bregx, (uint8_t)arch_pc_number, 0,
				       DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
				       DW_OP_shl, DW_OP_plus };

	(void)state;
	for (uint64_t pc = 0x4320; pc < 0x4340; pc++) {
		struct scene scene;
		uint64_t value;

		scene_init(&scene);
		scene.walk.regs.pc = pc;
		assert_true(evaluate(&scene, operations, sizeof(operations), &value));
		assert_true(value == STACK_LOW + (pc % 16 >= 11 ? 16 : 8));
	}
}

static void
test_jumps(void **state)
{
	/* Counts down from 9 to 0. */
	const uint8_t loop[] = { DW_OP_drop, DW_OP_lit9, DW_OP_lit1, DW_OP_minus, DW_OP_dup,
				 DW_OP_bra, 0xfa, 0xff };

	(void)state;
	gives(3, BYTES(DW_OP_lit3, DW_OP_skip, 1, 0, DW_OP_lit4));
	gives(4, BYTES(DW_OP_lit3, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit4));
	gives(3, BYTES(DW_OP_lit3, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit4));
	fails(BYTES(DW_OP_skip, 1, 0)); /* behind the end */
	fails(BYTES(DW_OP_skip, 0xfc, 0xff)); /* before the beginning */
	fails(BYTES(DW_OP_skip, 0));
	fails(BYTES(DW_OP_drop, DW_OP_bra, 0, 0));
	fails(BYTES(DW_OP_skip, 0xfd, 0xff)); /* to itself, for ever */
	gives(0, loop, sizeof(loop));
}

/* 4,096 operations are executed, and no more; in one walk some more, and then none. */
static void
test_operation_limit(void **state)
{
	uint8_t many[4097];
	struct scene scene;
	uint64_t value;

	(void)state;
	memset(many, DW_OP_nop, sizeof(many));
	gives(77, many, 4096);
	fails(many, 4097);
	scene_init(&scene);
	for (uint32_t i = 0; i < WALK_WORK_MOST / 4096; i++)
		assert_true(evaluate(&scene, many, 4096, &value));
	assert_false(evaluate(&scene, many, 1, &value));
}

static void
test_executed(void **state)
{
	struct cfi_row row;

	(void)state;
	assert_true(execute(COMMON, BYTES(DW_CFA_remember_state, DW_CFA_nop, DW_CFA_restore_state),
			    START, &row));
	assert_int_equal(row.executed, 5);
	assert_false(execute(COMMON, BYTES(DW_CFA_nop, 0x3f), START, &row));
	assert_int_equal(row.executed, 4);
}

static void
test_not_allowed(void **state)
{
	static const uint8_t codes[] = { DW_OP_reg0, DW_OP_fbreg, DW_OP_call4, DW_OP_piece,
					 DW_OP_xderef, DW_OP_push_object_address,
					 DW_OP_call_frame_cfa, DW_OP_stack_value, 0, 0xff };

	(void)state;
	for (size_t i = 0; i < sizeof(codes); i++)
		fails(BYTES(DW_OP_lit1, codes[i], 0, 0, 0, 0));
}

/* --- entries ------------------------------------------------------------------------------ */

/* A section that ends where its memory ends, so that a sanitizer finds reads behind it. */
static bool
read_entry(const uint8_t *bytes, size_t size, bool debug_frame, uint64_t place,
	   struct frame_entry *entry, uint64_t *next)
{
	uint8_t *copy = malloc(size);
	const struct frame_section section = { .bytes = copy, .low = 100, .high = 100 + size,
					       .debug_frame = debug_frame };
	bool found;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	found = frame_entry_read(&section, 100 + place, entry, next);
	free(copy);
	return found;
}

static void
test_eh_frame_entry(void **state)
{
	const uint8_t section[] = {
		/* CIE: version 1, augmentation zRS, alignments 1 and -8, register 16 */
		16, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_CFA_nop, DW_CFA_nop,
		/* FDE: at 20; its reference to the CIE is at 24 */
		14, 0, 0, 0, 24, 0, 0, 0, 0xf0, 0xff, 0xff, 0xff, 9, 0, 0, 0, 0, DW_CFA_nop
	};
	struct frame_entry entry;
	uint64_t next;

	(void)state;
	assert_false(read_entry(section, sizeof(section), false, 0, &entry, &next));
	assert_int_equal(next, 120);
	assert_true(read_entry(section, sizeof(section), false, 20, &entry, &next));
	assert_int_equal(next, 138);
	assert_int_equal(entry.start, 128 - 16);
	assert_int_equal(entry.size, 9);
	assert_int_equal(entry.code_alignment, 1);
	assert_int_equal(entry.data_alignment, -8);
	assert_int_equal(entry.return_register, 16);
	assert_true(entry.signal_frame);
	assert_int_equal(entry.common.at, 118);
	assert_int_equal(entry.common.end, 120);
	assert_int_equal(entry.own.at, 137);
	assert_int_equal(entry.own.end, 138);
	assert_true(frame_entry_contains(&entry, 112));
	assert_true(frame_entry_contains(&entry, 120));
	assert_false(frame_entry_contains(&entry, 111));
	assert_false(frame_entry_contains(&entry, 121));
	/* Cut anywhere, it is refused. */
	for (size_t size = 20; size < sizeof(section); size++)
		assert_false(read_entry(section, size, false, 20, &entry, &next));
}

/* .debug_frame of 64-bit DWARF, version 4. */
static void
test_debug_frame_entry(void **state)
{
	const uint8_t section[] = {
		/* CIE: version 4, no augmentation, sizes 8 and 0, alignments 4 and -8, and the
		 * register 30 */
		0xff, 0xff, 0xff, 0xff, 16, 0, 0, 0, 0, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 4, 0x78, 30,
		DW_CFA_nop,
		/* FDE: at 28; the reference is the offset of the CIE */
		0xff, 0xff, 0xff, 0xff, 24, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0,
		0, 0x10, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0
	};
	struct frame_entry entry;
	uint64_t next;

	(void)state;
	assert_true(read_entry(section, sizeof(section), true, 28, &entry, &next));
	assert_int_equal(next, 100 + sizeof(section));
	assert_int_equal(entry.start, 0x1000);
	assert_int_equal(entry.size, 0x20);
	assert_int_equal(entry.code_alignment, 4);
	assert_int_equal(entry.return_register, 30);
	assert_false(entry.signal_frame);
	assert_int_equal(entry.own.at, entry.own.end);
}

/* Reads and executes whatever random bytes say; a sanitizer finds what is wrong with it. */
static void
test_random(void **state)
{
	static uint8_t bytes[256];
	struct frame_entry entry;
	struct cfi_row row;
	struct rng rng;
	uint64_t next;

	(void)state;
	rng_seed(&rng, 7);
	for (int i = 0; i < 20000; i++) {
		struct scene scene;
		uint64_t value;
		const size_t size = 1 + rng_next(&rng) % sizeof(bytes);

		for (size_t j = 0; j < size; j++)
			bytes[j] = (uint8_t)rng_next(&rng);
		read_entry(bytes, size, i % 2 != 0, rng_next(&rng) % size, &entry, &next);
		execute(bytes, size / 2, bytes + size / 2, size - size / 2, START + i % 100, &row);
		scene_init(&scene);
		evaluate(&scene, bytes, size, &value);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_registers_and_memory),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_operation_limit),
		cmocka_unit_test(test_executed),
		cmocka_unit_test(test_not_allowed),
		cmocka_unit_test(test_eh_frame_entry),
		cmocka_unit_test(test_debug_frame_entry),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
