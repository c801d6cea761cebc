/* SPDX-License-Identifier: MIT */
/* test_code_bytes.c - finds calls and system calls in code that is written byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "../scene/made_object.h"
#include "wallsample/base/base.h"
#include "wallsample/elf/code_bytes.h"

#define AT UINT64_C(0x40000)

/* Makes an image whose code is `count` words of `size` bytes at the given offsets. */
static struct image *
make_image(uint16_t machine, const uint32_t *offset, const void *bytes, size_t size, size_t count)
{
	struct made_object file;
	struct image *image;

	made_program_init(&file, AT);
	file.header.e_machine = machine;
	memset(file.code, 0, sizeof(file.code));
	for (size_t i = 0; i < count; i++)
		memcpy(file.code + offset[i], (const uint8_t *)bytes + i * size, size);
	image = image_open_memory(&file, sizeof(file));
	assert_non_null(image);
	return image;
}

static void
test_x86_64(void **state)
{
	/* call +0x80, from 0x10: calls 0x95; call +0x6b, from 0x20: calls 0x90; call -0x1d, from
	 * 0x88: calls 0x70; call 0x98 from 0x91, inside of [0x80, 0xa0) */
	static const uint32_t offset[] = { 0x10, 0x20, 0x88, 0x91, 0xc0 };
	static const uint8_t code[][5] = {
		{ 0xe8, 0x80, 0, 0, 0 },
		{ 0xe8, 0x6b, 0, 0, 0 },
		{ 0xe8, 0xe3, 0xff, 0xff, 0xff },
		{ 0xe8, 0x02, 0, 0, 0 },
		{ 0x0f, 0x05, 0xc3, 0, 0 },
	};
	struct image *image = make_image(EM_X86_64, offset, code, 5, ARRAY_SIZE(offset));

	(void)state;
	assert_int_equal(code_first_called(image, AT + 0x80, AT + 0xa0), AT + 0x90);
	assert_int_equal(code_first_called(image, AT + 0x90, AT + 0xa0), AT + 0x95);
	/* Only the call from inside calls an address in this range. */
	assert_int_equal(code_first_called(image, AT + 0x91, AT + 0x95), AT + 0x95);
	assert_int_equal(code_first_called(image, AT + 0x60, AT + 0x7f), AT + 0x70);
	assert_int_equal(code_first_called(image, AT + 0xb0, AT + 0xff), AT + 0xff);
	assert_true(code_follows_syscall(image, AT + 0xc2));
	assert_false(code_follows_syscall(image, AT + 0xc1));
	assert_false(code_follows_syscall(image, AT));
	assert_false(code_follows_syscall(image, 0));
	image_free(image);
}

static void
test_aarch64(void **state)
{
	/* bl +0x40, bl -0x20, svc #0 */
	static const uint32_t offset[] = { 0x10, 0x60, 0x80 };
	static const uint32_t code[] = { 0x94000010, 0x97fffff8, 0xd4000001 };
	struct image *image = make_image(EM_AARCH64, offset, code, 4, ARRAY_SIZE(offset));

	(void)state;
	assert_int_equal(code_first_called(image, AT + 0x48, AT + 0x58), AT + 0x50);
	assert_int_equal(code_first_called(image, AT + 0x30, AT + 0x48), AT + 0x40);
	assert_true(code_follows_syscall(image, AT + 0x84));
	assert_false(code_follows_syscall(image, AT + 0x80));
	image_free(image);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_aarch64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
