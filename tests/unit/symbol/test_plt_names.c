/* SPDX-License-Identifier: MIT */
/*
 * test_plt_names.c - stubs of programs that are linked here in every way there is, held
 * against what objdump says; and of such programs damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>

#include "symbol/plt_internal.h"
#include "symbol/symbol_internal.h"
#include "wallsample/base/base.h"

#define STUBS_MOST 512

/* Functions that are called, that are called and pointed at (.plt.got), that choose (ifunc). */
static const char source[] =
	"#include <math.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"static int plain(void) { return 1; }\n"
	"static int (*choose(void))(void) { return plain; }\n"
	"int chosen(void) __attribute__((ifunc(\"choose\")));\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	int (*volatile put)(const char *) = puts;\n"
	"	put(argv[0]);\n"
	"	puts(\"x\");\n"
	"	printf(\"%d %f\\n\", argc, sin(argc));\n"
	"	free(malloc(argc));\n"
	"	return (int)strlen(argv[0]) + chosen();\n"
	"}\n";

struct objdump_line {
	uint64_t vaddr;
	char name[128];
};

struct variant {
	const char *flags;
	bool may_have_none; /* objdump names no stubs of static programs */
	bool numbered;      /* .plt pushes numbers, the jumps are in .plt.sec */
};

static char folder[64];
static const char *const prefixes[] = { "", "aarch64-linux-gnu-" };

static int
run(const char *fmt, ...)
{
	char command[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	return system(command);
}

static int
make_folder(void **state)
{
	FILE *out;
	char path[128];

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/test_plt_names.XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/a.c", folder);
	out = fopen(path, "w");
	if (out == NULL)
		return -1;
	fputs(source, out);
	return fclose(out);
}

static int
remove_folder(void **state)
{
	(void)state;
	return run("rm -r '%s'", folder);
}

/* False when the compiler, or the linker that is asked for, is not there. */
static bool
build(const char *prefix, const char *flags)
{
	return run("cd '%s' && %sgcc -O1 -w %s -o a a.c -lm >/dev/null 2>&1", folder, prefix,
		   flags) == 0;
}

static size_t
read_objdump(const char *prefix, struct objdump_line *line)
{
	char command[256], text[512];
	size_t count = 0;
	FILE *in;

	snprintf(command, sizeof(command), "%sobjdump -d '%s/a' 2>/dev/null", prefix, folder);
	in = popen(command, "r");
	assert_non_null(in);
	while (fgets(text, sizeof(text), in) != NULL && count < STUBS_MOST) {
		char *name = strstr(text, " <"), *end = strstr(text, "@plt>:");
		const char *at = text;

		if (name == NULL || end == NULL || !parse_u64(&at, 16, &line[count].vaddr))
			continue;
		end[4] = '\0';
		snprintf(line[count].name, sizeof(line[count].name), "%.120s", name + 2);
		count++;
	}
	pclose(in);
	return count;
}

static uint8_t *
read_program(size_t *size)
{
	char path[128];
	struct stat st;
	uint8_t *bytes;
	FILE *in;

	snprintf(path, sizeof(path), "%s/a", folder);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(fstat(fileno(in), &st), 0);
	*size = (size_t)st.st_size;
	bytes = xmalloc(*size);
	assert_int_equal(fread(bytes, 1, *size, in), *size);
	fclose(in);
	return bytes;
}

static void
stubs_of_bytes(struct plt_stubs *stubs, uint8_t *bytes, size_t size)
{
	const struct symbol_file file = { elf_memory((char *)bytes, size), -1 };

	plt_stubs_read(stubs, &file);
	elf_end(file.elf);
}

static void
read_stubs(struct plt_stubs *stubs)
{
	size_t size;
	uint8_t *bytes = read_program(&size);

	stubs_of_bytes(stubs, bytes, size);
	free(bytes);
}

static const struct plt_stub *
stub_at(const struct plt_stubs *stubs, uint64_t vaddr)
{
	for (size_t i = 0; i < stubs->count; i++)
		if (stubs->stub[i].start == vaddr)
			return &stubs->stub[i];
	return NULL;
}

static size_t
count_named(const struct plt_stubs *stubs, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < stubs->count; i++)
		count += strcmp(stubs->stub[i].name, name) == 0;
	return count;
}

static void
check_order(const struct plt_stubs *stubs)
{
	for (size_t i = 0; i < stubs->count; i++) {
		assert_true(stubs->stub[i].start < stubs->stub[i].end);
		assert_true(i == 0 || stubs->stub[i - 1].end <= stubs->stub[i].start);
		assert_string_equal(stubs->stub[i].name + strlen(stubs->stub[i].name) - 4, "@plt");
	}
}

static void
check_variant(const char *prefix, const struct variant *variant)
{
	static struct objdump_line line[STUBS_MOST];
	const size_t count = read_objdump(prefix, line);
	struct plt_stubs stubs;

	if (count == 0 && !variant->may_have_none)
		fail_msg("objdump names no stub with %s", variant->flags);
	read_stubs(&stubs);
	check_order(&stubs);
	for (size_t i = 0; i < count; i++) {
		const struct plt_stub *stub = stub_at(&stubs, line[i].vaddr);

		if (stub == NULL)
			fail_msg("%s: no stub at %jx, %s", variant->flags,
				 (intmax_t)line[i].vaddr, line[i].name);
		if (strncmp(line[i].name, "*ABS*", 5) != 0)
			assert_string_equal(stub->name, line[i].name);
		else
			/* objdump does not ask who that is. */
			assert_string_equal(stub->name, "chosen@plt");
	}
	/* What objdump leaves out: numbered stubs of .plt, each once more in .plt.sec. */
	for (size_t i = 0; i < stubs.count && count > 0; i++) {
		bool told = false;

		for (size_t k = 0; k < count; k++)
			told |= line[k].vaddr == stubs.stub[i].start;
		if (!told && (!variant->numbered || count_named(&stubs, stubs.stub[i].name) != 2))
			fail_msg("%s: a stub %s at %jx, which objdump does not know",
				 variant->flags, stubs.stub[i].name,
				 (intmax_t)stubs.stub[i].start);
	}
	assert_int_equal(count_named(&stubs, "chosen@plt"), variant->numbered ? 2 : 1);
	plt_stubs_release(&stubs);
}

static void
check_variants(const char *prefix, const struct variant *variant, size_t count)
{
	size_t checked = 0;

	for (size_t i = 0; i < count; i++) {
		if (!build(prefix, variant[i].flags)) {
			print_message("cannot be built here: %sgcc %s\n", prefix, variant[i].flags);
			continue;
		}
		check_variant(prefix, &variant[i]);
		checked++;
	}
	if (checked == 0)
		skip();
}

static void
test_x86_64(void **state)
{
	static const struct variant variant[] = {
		{ "-fcf-protection=none -Wl,-z,lazy", false, false },
		{ "-fcf-protection=none -Wl,-z,now", false, false },
		{ "-fcf-protection=none -fno-pie -no-pie -Wl,-z,lazy", false, false },
		{ "-fcf-protection=none -fno-pie -no-pie -Wl,-z,now", false, false },
		{ "-fcf-protection -Wl,-z,ibtplt,-z,lazy", false, true },
		{ "-fcf-protection -Wl,-z,ibtplt,-z,now", false, true },
		{ "-fcf-protection -fno-pie -no-pie -Wl,-z,ibtplt", false, true },
		{ "-fuse-ld=gold", false, false },
		{ "-fuse-ld=gold -Wl,-z,now", false, false },
		{ "-static", true, false },
		{ "-static-pie", true, false },
	};

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	check_variants("", variant, ARRAY_SIZE(variant));
}

static void
test_aarch64(void **state)
{
	static const struct variant variant[] = {
		{ "-Wl,-z,lazy", false, false },
		{ "-Wl,-z,now", false, false },
		{ "-fno-pie -no-pie", false, false },
		{ "-mbranch-protection=standard -Wl,-z,force-bti", false, false },
		{ "-mbranch-protection=standard -Wl,-z,force-bti,-z,pac-plt", false, false },
		{ "-Wl,-z,pac-plt", false, false },
		{ "-static", true, false },
	};

	(void)state;
	check_variants(prefixes[1], variant, ARRAY_SIZE(variant));
}

/* Linkers whose stubs objdump does not know: all names have to be there, each once or twice. */
static void
test_other_linkers(void **state)
{
	static const char *const flags[] = {
		"-fuse-ld=mold", "-fuse-ld=mold -Wl,-z,now", "-fuse-ld=lld",
		"-fuse-ld=lld -Wl,-z,retpolineplt", "-fuse-ld=lld -Wl,-z,force-ibt -fcf-protection",
	};
	static const char *const wanted[] = { "puts@plt", "printf@plt", "sin@plt",
					      "strlen@plt" };
	size_t checked = 0;

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		struct plt_stubs stubs;

		if (!build("", flags[i])) {
			print_message("cannot be built here: gcc %s\n", flags[i]);
			continue;
		}
		read_stubs(&stubs);
		check_order(&stubs);
		for (size_t k = 0; k < ARRAY_SIZE(wanted); k++)
			if (count_named(&stubs, wanted[k]) == 0)
				fail_msg("%s: no %s", flags[i], wanted[k]);
		plt_stubs_release(&stubs);
		checked++;
	}
	if (checked == 0)
		skip();
}

/* Stripped static programs: who chooses has no name any more. */
static void
test_no_name(void **state)
{
	struct plt_stubs stubs;

	(void)state;
	if (!build("", "-static -s"))
		skip();
	read_stubs(&stubs);
	check_order(&stubs);
	assert_true(stubs.count > 0);
	for (size_t i = 0; i < stubs.count; i++)
		assert_memory_equal(stubs.stub[i].name, "*ABS*+0x", 8);
	plt_stubs_release(&stubs);
}

static void
test_nothing_there(void **state)
{
	static char no_elf[] = "#!/bin/sh\n";
	struct plt_stubs stubs;

	(void)state;
	plt_stubs_read(&stubs, &(const struct symbol_file){ NULL, -1 });
	assert_int_equal(stubs.count, 0);
	stubs_of_bytes(&stubs, (uint8_t *)no_elf, sizeof(no_elf));
	assert_int_equal(stubs.count, 0);
	plt_stubs_release(&stubs);
}

/* A code of which no byte may be read behind its end. */
static void
test_short_code(void **state)
{
	static const uint8_t x86[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 1, 0, 0, 0,
				       0xf2, 0xff, 0x25, 0x10, 0, 0, 0 };
	static const uint8_t arm[] = { 0x5f, 0x24, 0x03, 0xd5, 0x10, 0, 0, 0xf0,
				       0x11, 0x06, 0x40, 0xf9 };
	struct plt_jump jump;

	(void)state;
	for (size_t size = 0; size <= sizeof(x86); size++) {
		uint8_t *code = xmalloc(size + 1);

		memcpy(code, x86, size);
		assert_int_equal(plt_arch_x86_64.decode(code, size, 0x1000, &jump),
				 size == sizeof(x86));
		free(code);
	}
	assert_int_equal(jump.value, 0x1000 + sizeof(x86) + 0x10);
	for (size_t size = 0; size <= sizeof(arm); size++) {
		uint8_t *code = xmalloc(size + 1);

		memcpy(code, arm, size);
		assert_int_equal(plt_arch_aarch64.decode(code, size, 0x5010, &jump),
				 size == sizeof(arm));
		free(code);
	}
	assert_int_equal(jump.value, 0x5000 + 0x3000 + 8);
}

/* Anything may be said of damaged files, but in order, and with nothing read outside. */
static void
damage(const char *flags, uint64_t seed, size_t rounds)
{
	struct plt_stubs stubs;
	uint8_t *bytes, *copy;
	struct rng rng;
	size_t size;

	if (!build("", flags))
		return;
	bytes = read_program(&size);
	copy = xmalloc(size);
	rng_seed(&rng, seed);
	for (size_t round = 0; round < rounds; round++) {
		const size_t flips = 1 + rng_next(&rng) % 40;
		const uint64_t where = rng_next(&rng) % 3;

		memcpy(copy, bytes, size);
		for (size_t i = 0; i < flips; i++) {
			/* headers and relocations, section headers, anywhere */
			size_t at = rng_next(&rng) % (where == 2 ? size : 4096);

			if (where == 1)
				at = size - 1 - at;
			copy[at] = rng_next(&rng) % 4 ? (uint8_t)rng_next(&rng) : 0xff;
		}
		stubs_of_bytes(&stubs, copy, size - (round % 8 == 0 ? rng_next(&rng) % size : 0));
		check_order(&stubs);
		plt_stubs_release(&stubs);
	}
	free(copy);
	free(bytes);
}

static void
test_damage(void **state)
{
	(void)state;
	damage("-Wl,-z,lazy", 1, 3000);
	damage("-fcf-protection -Wl,-z,ibtplt", 2, 3000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_other_linkers),
		cmocka_unit_test(test_no_name),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_short_code),
		cmocka_unit_test(test_damage),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
