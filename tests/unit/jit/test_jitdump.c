/* SPDX-License-Identifier: MIT */
/* test_jitdump.c - jitdump files: whole, growing, damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../scene/jit_scene.h"

enum { LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING };

struct bytes {
	char data[1 << 16];
	size_t size;
};

static void
put(struct bytes *bytes, const void *from, size_t size)
{
	assert_true(bytes->size + size <= sizeof(bytes->data));
	memcpy(bytes->data + bytes->size, from, size);
	bytes->size += size;
}

static void
put32(struct bytes *bytes, uint32_t value)
{
	put(bytes, &value, sizeof(value));
}

static void
put64(struct bytes *bytes, uint64_t value)
{
	put(bytes, &value, sizeof(value));
}

static void
put_header(struct bytes *bytes, uint32_t magic, uint32_t version, uint32_t padding)
{
	put32(bytes, magic);
	put32(bytes, version);
	put32(bytes, 40);
	put32(bytes, 62);
	put32(bytes, padding);
	put32(bytes, (uint32_t)getpid());
	put64(bytes, 1);
	put64(bytes, 0);
}

static void
put_record(struct bytes *bytes, uint32_t id, size_t payload)
{
	put32(bytes, id);
	put32(bytes, (uint32_t)(16 + payload));
	put64(bytes, 1);
}

static void
put_load(struct bytes *bytes, uint64_t start, uint64_t size, uint64_t index, const char *name)
{
	static const char code[4096];
	const size_t code_size = size < sizeof(code) ? (size_t)size : 0;

	put_record(bytes, LOAD, 40 + strlen(name) + 1 + code_size);
	put32(bytes, (uint32_t)getpid());
	put32(bytes, (uint32_t)getpid());
	put64(bytes, start);
	put64(bytes, start);
	put64(bytes, size);
	put64(bytes, index);
	put(bytes, name, strlen(name) + 1);
	put(bytes, code, code_size);
}

static void
put_move(struct bytes *bytes, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	put_record(bytes, MOVE, 48);
	put32(bytes, (uint32_t)getpid());
	put32(bytes, (uint32_t)getpid());
	put64(bytes, to);
	put64(bytes, from);
	put64(bytes, to);
	put64(bytes, size);
	put64(bytes, index);
}

/* Three lines, not in order, the last of the same file as the one before. */
static void
put_debug(struct bytes *bytes, uint64_t start, uint64_t shift)
{
	put_record(bytes, DEBUG_INFO, 16 + 3 * 16 + 5 + 5 + 2);
	put64(bytes, start);
	put64(bytes, 3);
	put64(bytes, start + shift + 0x20);
	put32(bytes, 30);
	put32(bytes, 0);
	put(bytes, "a.js", 5);
	put64(bytes, start + shift + 4);
	put32(bytes, 10);
	put32(bytes, 0);
	put(bytes, "b.js", 5);
	put64(bytes, start + shift + 0x10);
	put32(bytes, 20);
	put32(bytes, 0);
	put(bytes, "\xff", 2);
}

static void
put_unwinding(struct bytes *bytes)
{
	put_record(bytes, UNWINDING, 24 + 8);
	put64(bytes, 8);
	put64(bytes, 4);
	put64(bytes, 0);
	put64(bytes, 0);
}

/* Adds the bytes to the dump; the first time, maps it as a runtime does. */
static void
write_dump(struct scene *scene, struct bytes *bytes)
{
	write_file(scene->dump_path, "a", bytes->data, bytes->size);
	bytes->size = 0;
	if (scene->mapped != NULL)
		return;
	int fd = open(scene->dump_path, O_RDONLY | O_CLOEXEC);
	scene->mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (scene->mapped == MAP_FAILED) {
		scene->mapped = NULL;
		print_message("no code can be mapped from /tmp\n");
		skip();
	}
	maps_refresh(scene->maps);
}

static void
check_line(struct scene *scene, uint64_t address, const char *file, uint32_t line)
{
	struct jit_symbol symbol;

	assert_true(jit_find(scene->jit, address, jit_epoch(scene->jit), &symbol));
	assert_int_equal(symbol.line, line);
	if (file == NULL)
		assert_null(symbol.file);
	else
		assert_string_equal(symbol.file, file);
}

static void
check_lines(struct scene *scene, uint64_t start)
{
	check_line(scene, start, NULL, 0);
	check_line(scene, start + 4, "b.js", 10);
	check_line(scene, start + 0x10, "b.js", 20);
	check_line(scene, start + 0x1f, "b.js", 20);
	check_line(scene, start + 0x3f, "a.js", 30);
}

static void
test_dump(void **state)
{
	struct scene *scene = *state;
	struct bytes bytes = { .size = 0 };

	put_header(&bytes, 0x4A695444, 1, 0);
	put_debug(&bytes, 0x1000, 0);
	put_unwinding(&bytes);
	put_load(&bytes, 0x1000, 0x40, 1, "one");
	put_load(&bytes, 0x2000, 0x40, 2, "two");
	write_dump(scene, &bytes);
	tick(scene);
	assert_string_equal(name_of(scene, 0x103f), "one");
	assert_string_equal(name_of(scene, 0x2000), "two");
	check_lines(scene, 0x1000);
	check_line(scene, 0x2010, NULL, 0);
	/* It moves, another takes its place, and what is moved needs to be known. */
	put_move(&bytes, 0x1000, 0x3000, 0x40, 1);
	put_load(&bytes, 0x1000, 0x40, 3, "three");
	put_record(&bytes, 77, 8);
	put64(&bytes, 0);
	put_load(&bytes, 0x5000, 0, 4, "empty");
	put_record(&bytes, CLOSE, 0);
	write_dump(scene, &bytes);
	tick(scene);
	assert_int_equal(jit_epoch(scene->jit), 1);
	assert_string_equal(name_of(scene, 0x3000), "one");
	check_lines(scene, 0x3000);
	assert_string_equal(name_of(scene, 0x1000), "three");
	assert_string_equal(name_in(scene, 0x1000, 0), "one");
	check_line(scene, 0x1010, NULL, 0);
	jit_refresh(scene->jit);
	assert_int_equal(lines_said(scene), 0);
	put_move(&bytes, 0x7000, 0x8000, 0x40, 99);
	write_dump(scene, &bytes);
	jit_refresh(scene->jit);
	assert_int_equal(times_said(scene, "1 of 10 records are damaged"), 1);
}

/* A dump and a perf map of the same code: nothing is replaced, and lines are known. */
static void
test_dump_and_map(void **state)
{
	struct scene *scene = *state;
	struct bytes bytes = { .size = 0 };

	put_header(&bytes, 0x4A695444, 1, 0xDEADBEEF);
	put_debug(&bytes, 0x1000, 0x40);
	put_load(&bytes, 0x1000, 0x40, 1, "one");
	write_dump(scene, &bytes);
	tick(scene);
	append(scene, "1000 40 one, too\n2000 40 two\n");
	tick(scene);
	assert_string_equal(name_of(scene, 0x1000), "one");
	assert_string_equal(name_of(scene, 0x2000), "two");
	/* V8 counts an ELF header in. */
	check_lines(scene, 0x1000);
	assert_int_equal(jit_epoch(scene->jit), 0);
}

/* Byte by byte: a function counts once its name is there; the code behind it may be late. */
static void
test_dump_grows(void **state)
{
	struct scene *scene = *state;
	struct bytes bytes = { .size = 0 }, part = { .size = 0 };
	size_t first, second;

	put_header(&bytes, 0x4A695444, 1, 0);
	put_debug(&bytes, 0x1000, 0);
	put_load(&bytes, 0x1000, 0x40, 1, "one");
	first = bytes.size - 0x40;
	put_load(&bytes, 0x2000, 0x40, 2, "two");
	second = bytes.size - 0x40;
	for (size_t i = 0; i < bytes.size; i++) {
		put(&part, bytes.data + i, 1);
		write_dump(scene, &part);
		scene->now_ns += 20 * NS_PER_MS + (i == 0 ? NS_PER_SEC : 0);
		jit_tick(scene->jit, scene->now_ns, false);
		assert_int_equal(jit_count(scene->jit), (i + 1 >= first) + (i + 1 >= second));
	}
	check_lines(scene, 0x1000);
	jit_refresh(scene->jit);
	assert_int_equal(lines_said(scene), 0);
}

static void
check_broken(struct scene *scene, struct bytes *bytes, const char *words, size_t entries)
{
	write_dump(scene, bytes);
	tick(scene);
	jit_refresh(scene->jit);
	jit_refresh(scene->jit);
	assert_int_equal(times_said(scene, words), 1);
	assert_int_equal(lines_said(scene), 1);
	assert_int_equal(jit_count(scene->jit), entries);
}

/* A tick reads no more because there are more files; all are read in the end. */
static void
test_dumps(void **state)
{
	enum { DUMPS = 16, PARTS = 4, RECORDS = 700, RECORD = 16 + 40 + 2 + 16 };
	struct scene *scene = *state;
	void *mapped[DUMPS];
	char path[DUMPS][80];
	size_t first;

	for (uint64_t i = 0; i < DUMPS; i++) {
		struct bytes bytes = { .size = 0 };
		int fd;

		snprintf(path[i], sizeof(path[i]), "/tmp/jit-%d%02d.dump", (int)getpid(), (int)i);
		put_header(&bytes, 0x4A695444, 1, 0);
		for (uint64_t part = 0; part < PARTS; part++) {
			for (uint64_t k = part * RECORDS; k < (part + 1) * RECORDS; k++)
				put_load(&bytes, 0x100000 * (i + 1) + 16 * k, 16, k, "f");
			write_file(path[i], part == 0 ? "w" : "a", bytes.data, bytes.size);
			bytes.size = 0;
		}
		fd = open(path[i], O_RDONLY | O_CLOEXEC);
		mapped[i] = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		close(fd);
	}
	maps_refresh(scene->maps);
	tick(scene);
	first = jit_count(scene->jit);
	for (int i = 0; i < 100; i++)
		tick(scene);
	for (int i = 0; i < DUMPS; i++) {
		unlink(path[i]);
		if (mapped[i] != MAP_FAILED)
			munmap(mapped[i], 4096);
	}
	if (mapped[0] == MAP_FAILED)
		skip();
	assert_in_range(first, 1, (128 << 10) / RECORD);
	assert_int_equal(jit_count(scene->jit), DUMPS * PARTS * RECORDS);
	assert_int_equal(lines_said(scene), 0);
}

static void
test_dump_magic(void **state)
{
	struct bytes bytes = { .size = 0 };

	put_header(&bytes, 0x12345678, 1, 0);
	put_load(&bytes, 0x1000, 0x40, 1, "one");
	check_broken(*state, &bytes, "no jitdump file", 0);
}

static void
test_dump_byte_order(void **state)
{
	struct bytes bytes = { .size = 0 };

	put_header(&bytes, 0x4454694A, 0x01000000, 0);
	check_broken(*state, &bytes, "other byte order", 0);
}

static void
test_dump_version(void **state)
{
	struct bytes bytes = { .size = 0 };

	put_header(&bytes, 0x4A695444, 2, 0);
	put_load(&bytes, 0x1000, 0x40, 1, "one");
	check_broken(*state, &bytes, "version", 0);
}

/* Sizes of records that cannot be end the reading; what was before counts. */
static void
test_dump_sizes(void **state)
{
	struct bytes bytes = { .size = 0 };

	put_header(&bytes, 0x4A695444, 1, 0);
	put_load(&bytes, 0x1000, 0x40, 1, "one");
	put_record(&bytes, LOAD, (size_t)-8);
	put_load(&bytes, 0x2000, 0x40, 2, "two");
	check_broken(*state, &bytes, "up to its record 1:", 1);
}

static void
test_dump_large_size(void **state)
{
	struct bytes bytes = { .size = 0 };

	put_header(&bytes, 0x4A695444, 1, 0);
	put_record(&bytes, CLOSE, 0x7fffffff);
	check_broken(*state, &bytes, "a size that cannot be", 0);
}

/* What is wrong within a record costs that record. */
static void
test_dump_records(void **state)
{
	struct bytes bytes = { .size = 0 };
	struct bytes name = { .size = 0 };

	put_header(&bytes, 0x4A695444, 1, 0);
	/* A name without an end. */
	put_record(&bytes, LOAD, 40 + 3);
	put(&bytes, name.data, 40);
	put(&bytes, "abc", 3);
	/* No room for its fields. */
	put_record(&bytes, LOAD, 8);
	put64(&bytes, 0);
	put_record(&bytes, MOVE, 8);
	put64(&bytes, 0);
	put_record(&bytes, DEBUG_INFO, 8);
	put64(&bytes, 0);
	/* Code that wraps round. */
	put_load(&bytes, UINT64_MAX - 8, 0x1000, 7, "wraps");
	/* More lines than there are: none is believed. */
	put_record(&bytes, DEBUG_INFO, 16 + 16 + 2);
	put64(&bytes, 0x1000);
	put64(&bytes, UINT64_MAX);
	put64(&bytes, 0x1000);
	put64(&bytes, 1);
	put(&bytes, "a", 2);
	put_load(&bytes, 0x1000, 0x40, 1, "good");
	check_broken(*state, &bytes, "5 of 7 records are damaged", 1);
	check_line(*state, 0x1000, NULL, 0);
}

/* Every byte of a good file in turn is another one: nothing bad may come of it. */
static void
test_dump_flipped(void **state)
{
	struct scene *scene = *state;
	struct bytes bytes = { .size = 0 };

	put_header(&bytes, 0x4A695444, 1, 0);
	put_debug(&bytes, 0x1000, 0);
	put_load(&bytes, 0x1000, 0x40, 1, "one");
	put_move(&bytes, 0x1000, 0x2000, 0x40, 1);
	for (size_t i = 0; i < bytes.size; i++) {
		static const char other[] = { 0, 1, 0x7f, -1 };

		for (size_t k = 0; k < sizeof(other); k++) {
			struct bytes damaged = bytes;

			damaged.data[i] = other[k];
			unlink(scene->dump_path);
			if (scene->mapped != NULL)
				munmap(scene->mapped, 4096);
			scene->mapped = NULL;
			write_dump(scene, &damaged);
			jit_free(scene->jit);
			scene->jit = jit_create(scene->process, scene->maps, NULL, NULL);
			jit_refresh(scene->jit);
			name_of(scene, 0x1010);
			assert_true(jit_count(scene->jit) <= 2);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JIT_ROW(test_dump), JIT_ROW(test_dump_and_map), JIT_ROW(test_dump_grows),
		JIT_ROW(test_dumps),
		JIT_ROW(test_dump_magic), JIT_ROW(test_dump_byte_order),
		JIT_ROW(test_dump_version), JIT_ROW(test_dump_sizes),
		JIT_ROW(test_dump_large_size), JIT_ROW(test_dump_records),
		JIT_ROW(test_dump_flipped),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
