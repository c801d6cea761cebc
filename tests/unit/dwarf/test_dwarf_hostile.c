/* SPDX-License-Identifier: MIT */
/*
 * test_dwarf_hostile.c - DWARF whose entries share what is long costs no more than its size.
 *
 * The files are made here, section by section: one unit, or many, in which every function has
 * the same list of address ranges, or of entries that have none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "wallsample/dwarf/dwarf_lines.h"
#include "wallsample/base/base.h"

#define CODE 0x1000

enum { RANGES = 100000, FUNCTIONS = 1000000 };
enum { NOTHING, ABBREVIATIONS, INFO, LISTS, NAMES, SECTIONS };

static const char section_names[] = "\0.debug_abbrev\0.debug_info\0.debug_ranges\0.shstrtab";
static const uint32_t section_name[] = {0, 1, 15, 27, 41};

/* 1: a unit with addresses, 2: one without, 3: a function with the number of a list. */
static const uint8_t abbreviations[] = {
	1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0,
	2, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, 0, 0,
	3, DW_TAG_subprogram, 0, DW_AT_ranges, DW_FORM_sec_offset, 0, 0,
	0,
};

static void
add_number(struct strbuf *to, uint64_t value, size_t size)
{
	strbuf_add(to, (const char *)&value, size);
}

/* A unit of DWARF 4 with so many functions, all of the list at 0. */
static void
add_unit(struct strbuf *info, bool silent, size_t functions)
{
	add_number(info, 7 + 9 + (silent ? 0 : 4) + functions * 5 + 1, 4);
	add_number(info, 4, 2);
	add_number(info, 0, 4);
	add_number(info, 8, 1);
	add_number(info, silent ? 2 : 1, 1);
	add_number(info, CODE, 8);
	if (!silent)
		add_number(info, 0x10000, 4);
	for (size_t i = 0; i < functions; i++) {
		add_number(info, 3, 1);
		add_number(info, 0, 4);
	}
	add_number(info, 0, 1);
}

/* Takes over `info`. `bases`: the list only says where ranges would begin. */
static int
make_file(struct strbuf *info, bool bases)
{
	Elf64_Shdr section[SECTIONS] = {0};
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(header), .e_shoff = sizeof(header),
		.e_shentsize = sizeof(*section), .e_shnum = SECTIONS, .e_shstrndx = NAMES,
	};
	struct strbuf lists;
	int fd = memfd_create("hostile", MFD_CLOEXEC);
	uint64_t at = sizeof(header) + sizeof(section);

	strbuf_init(&lists);
	for (uint64_t i = 0; i < RANGES; i++) {
		add_number(&lists, bases ? UINT64_MAX : i % 16, 8);
		add_number(&lists, 16, 8);
	}
	strbuf_add(&lists, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	const struct {
		const void *bytes;
		size_t size;
	} content[SECTIONS] = {
		{"", 0}, {abbreviations, sizeof(abbreviations)}, {info->data, info->length},
		{lists.data, lists.length}, {section_names, sizeof(section_names)},
	};
	assert_true(fd >= 0);
	for (size_t i = 1; i < SECTIONS; i++) {
		section[i] = (Elf64_Shdr){
			.sh_name = section_name[i],
			.sh_type = i == NAMES ? SHT_STRTAB : SHT_PROGBITS,
			.sh_offset = at, .sh_size = content[i].size, .sh_addralign = 1,
		};
		assert_int_equal(pwrite(fd, content[i].bytes, content[i].size, (off_t)at),
				 content[i].size);
		at += content[i].size;
	}
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, section, sizeof(section), sizeof(header)), sizeof(section));
	strbuf_release(&lists);
	strbuf_release(info);
	return fd;
}

struct file {
	int fd, slow;
	int opened, fails; /* the opening of which nothing comes; 0: none */
};

static Dwarf *
open_dwarf(void *context)
{
	struct file *file = context;

	return ++file->opened == file->fails ? NULL : dwarf_begin(file->fd, DWARF_C_READ);
}

static void
close_dwarf(void *context, Dwarf *dwarf)
{
	(void)context;
	dwarf_end(dwarf);
}

/* Asks for an address in the lists and one outside; both have no name. */
static void
check(struct strbuf *info)
{
	struct dwarf_opener opener = {.open = open_dwarf, .close = close_dwarf};
	uint64_t began = clock_own_cpu_ns();
	struct dwarf_lines *lines;
	struct dwarf_place place[4];
	struct file file = {.fd = make_file(info, false)};

	opener.context = &file;
	elf_version(EV_CURRENT);
	lines = dwarf_lines_create(&opener);
	assert_true(dwarf_lines_find(lines, CODE + 8, place, 4) <= 1);
	assert_int_equal(dwarf_lines_find(lines, CODE - 1, place, 4), 0);
	dwarf_lines_free(lines);
	close(file.fd);
	print_message("%.2f s\n", (double)(clock_own_cpu_ns() - began) / 1e9);
}

static void
count_slow(void *context)
{
	((struct file *)context)->slow++;
}

/* With a tenth of a second for a unit and three for all: what was asked for ends in time. */
static void
check_time(struct strbuf *info)
{
	struct file file = {.fd = make_file(info, true)};
	struct dwarf_opener opener = {.open = open_dwarf, .close = close_dwarf,
				      .slow = count_slow, .context = &file};
	const uint64_t began = clock_own_cpu_ns();
	struct dwarf_lines *lines;
	struct dwarf_place place[4];

	elf_version(EV_CURRENT);
	lines = dwarf_lines_create(&opener);
	dwarf_lines_set_time(lines, NS_PER_SEC / 10, 3 * NS_PER_SEC / 10);
	for (uint64_t i = 0; i < 100; i++)
		assert_true(dwarf_lines_find(lines, CODE + i, place, 4) <= 1);
	assert_int_equal(file.slow, 1);
	dwarf_lines_free(lines);
	close(file.fd);
	print_message("%.2f s\n", (double)(clock_own_cpu_ns() - began) / 1e9);
	/* A list takes some milliseconds, with sanitizers more. */
	assert_true(clock_own_cpu_ns() - began < 2 * NS_PER_SEC);
}

/* 20,000 functions of 100,000 entries each: ten seconds if nobody looks at the time. */
static void
bases_of_unit(void **state)
{
	struct strbuf info;

	(void)state;
	strbuf_init(&info);
	add_unit(&info, false, 20000);
	check_time(&info);
}

/* The same in units that are each within their time. */
static void
bases_of_silent_units(void **state)
{
	struct strbuf info;

	(void)state;
	strbuf_init(&info);
	for (int i = 0; i < 1000; i++)
		add_unit(&info, true, 20);
	check_time(&info);
}

/*
 * The handle cannot be opened again half-way through units that do not say where their code
 * is: what was read before is known, and it is tried again.
 */
static void
opened_again(void **state)
{
	struct dwarf_opener opener = {.open = open_dwarf, .close = close_dwarf};
	struct dwarf_lines *lines;
	struct dwarf_place place[4];
	struct strbuf info;
	struct file file = {.fails = 3};

	(void)state;
	strbuf_init(&info);
	for (int i = 0; i < 4; i++)
		add_unit(&info, true, 1);
	file.fd = make_file(&info, false);
	opener.context = &file;
	elf_version(EV_CURRENT);
	lines = dwarf_lines_create(&opener);
	dwarf_lines_set_limit(lines, 0); /* one unit for each handle */
	/* The third fails: the units before it have the address. */
	assert_int_equal(dwarf_lines_find(lines, CODE + 8, place, 4), 1);
	assert_int_equal(file.opened, 4);
	assert_int_equal(dwarf_lines_find(lines, CODE + 8, place, 4), 1);
	dwarf_lines_free(lines);
	close(file.fd);
}

static void
one_unit(void **state)
{
	struct strbuf info;

	(void)state;
	strbuf_init(&info);
	add_unit(&info, false, FUNCTIONS);
	check(&info);
}

/* Units that do not say where their code is are read until somebody knows the address. */
static void
silent_units(void **state)
{
	struct strbuf info;

	(void)state;
	strbuf_init(&info);
	for (int i = 0; i < 1000; i++)
		add_unit(&info, true, FUNCTIONS / 1000);
	check(&info);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_unit),
		cmocka_unit_test(silent_units),
		cmocka_unit_test(bases_of_unit),
		cmocka_unit_test(bases_of_silent_units),
		cmocka_unit_test(opened_again),
	};

	/* All 100,000 million ranges would take hours; how busy the machine is does not count. */
	const struct rlimit limit = {.rlim_cur = 200, .rlim_max = 200};

	setrlimit(RLIMIT_CPU, &limit);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
