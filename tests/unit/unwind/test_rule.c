/* SPDX-License-Identifier: MIT */
/*
 * test_rule.c - rules compiled from unwind tables: they say what libdw says, for code of the C
 * library and of this very program, and damaged tables do no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../scene/own_file.h"
#include "unwind/rule_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/snapshot.h"

static struct frame_budget budget = { .bytes = UINT64_MAX, .entries = UINT64_MAX };

/* The same file, once as rules and once as libdw reads it. */
struct pair {
	struct image *image;
	struct rule_source *rules;
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *cfi;         /* .eh_frame */
	Dwarf_CFI *debug_frame; /* owned by dwarf */
	size_t kinds[RULE_DAMAGED + 1];
};

static void
pair_open(struct pair *pair, const char *path)
{
	memset(pair, 0, sizeof(*pair));
	pair->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(pair->fd >= 0);
	pair->image = image_open_fd(dup(pair->fd), NULL);
	assert_non_null(pair->image);
	pair->rules = rule_source_open(pair->image, &budget);
	assert_non_null(pair->rules);
	elf_version(EV_CURRENT);
	pair->elf = elf_begin(pair->fd, ELF_C_READ, NULL);
	assert_non_null(pair->elf);
	pair->cfi = dwarf_getcfi_elf(pair->elf);
	pair->dwarf = dwarf_begin_elf(pair->elf, DWARF_C_READ, NULL);
	if (pair->dwarf != NULL)
		pair->debug_frame = dwarf_getcfi(pair->dwarf);
	assert_true(pair->cfi != NULL || pair->debug_frame != NULL);
}

static void
pair_close(struct pair *pair)
{
	if (pair->cfi != NULL)
		dwarf_cfi_end(pair->cfi);
	dwarf_end(pair->dwarf);
	elf_end(pair->elf);
	close(pair->fd);
	rule_source_free(pair->rules);
	image_free(pair->image);
}

/* A stack that rules and libdw's operations both read. */
#define STACK_LOW UINT64_C(0x7000000000)
static uint64_t stack[2048];

static bool
stack_word(uint64_t address, uint64_t *value)
{
	const uint64_t offset = address - STACK_LOW;

	if (address < STACK_LOW || offset > sizeof(stack) - sizeof(*value))
		return false;
	memcpy(value, (const uint8_t *)stack + offset, sizeof(*value));
	return true;
}

/* A walk whose last frame has all registers, each a different place of the stack. */
static void
walk_init(struct walk *walk, struct snapshot *snapshot)
{
	memset(walk, 0, sizeof(*walk));
	memset(snapshot, 0, sizeof(*snapshot));
	for (size_t i = 0; i < ARRAY_SIZE(stack); i++)
		stack[i] = STACK_LOW + (i * 4099 % ARRAY_SIZE(stack)) * sizeof(stack[0]);
	snapshot->stack = (uint8_t *)stack;
	snapshot->stack_size = snapshot->stack_wanted = sizeof(stack);
	snapshot->stack_address = STACK_LOW;
	walk->snapshot = snapshot;
	regs_set_sp_pc(&walk->regs, STACK_LOW + 4096, 0x1230);
	for (unsigned i = 0; i < regs_count; i++)
		regs_set(&walk->regs, i, i == regs_sp_number ? walk->regs.sp :
							STACK_LOW + 4096 + UINT64_C(128) * i);
	regs_set(&walk->regs, arch_pc_number, walk->regs.pc);
}

/* A value found by the operations of libdw's answer. */
struct found {
	bool known;
	bool at; /* it is the address at which the register is saved, not its value */
	uint64_t value;
};

/* Evaluates the operations that occur in real tables. */
static struct found
evaluate(const Dwarf_Op *ops, size_t count, const struct regs *regs, uint64_t cfa)
{
	struct found found = { .known = true, .at = true };
	uint64_t value[16] = { 0 }, *top = value;

	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *op = &ops[i];

		assert_true(top < value + 14);
		if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
			*++top = regs->reg[op->atom - DW_OP_breg0] + op->number;
		} else if (op->atom == DW_OP_bregx) {
			*++top = regs->reg[op->number] + op->number2;
		} else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
			*++top = regs->reg[op->atom - DW_OP_reg0];
			found.at = false;
		} else if (op->atom == DW_OP_regx) {
			*++top = regs->reg[op->number];
			found.at = false;
		} else if (op->atom == DW_OP_call_frame_cfa) {
			*++top = cfa;
		} else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			*++top = op->atom - DW_OP_lit0;
		} else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts) {
			*++top = op->number; /* libdw has extended the sign */
		} else if (op->atom == DW_OP_plus_uconst) {
			*top += op->number;
		} else if (op->atom == DW_OP_drop) {
			top--;
		} else if (op->atom == DW_OP_deref) {
			found.known &= stack_word(*top, top);
		} else if (op->atom == DW_OP_plus) {
			top--;
			top[0] += top[1];
		} else if (op->atom == DW_OP_minus) {
			top--;
			top[0] -= top[1];
		} else if (op->atom == DW_OP_mul) {
			top--;
			top[0] *= top[1];
		} else if (op->atom == DW_OP_and) {
			top--;
			top[0] &= top[1];
		} else if (op->atom == DW_OP_ge) {
			top--;
			top[0] = (int64_t)top[0] >= (int64_t)top[1];
		} else if (op->atom == DW_OP_shl) {
			top--;
			top[0] <<= top[1];
		} else if (op->atom == DW_OP_stack_value) {
			found.at = false;
		} else {
			fail_msg("an expression with operation %#x", op->atom);
		}
	}
	found.value = *top;
	return found;
}

/* Finds a register of the caller as libdw says. */
static struct found
find_register(Dwarf_Frame *frame, unsigned number, const struct regs *regs, uint64_t cfa)
{
	struct found found = { .known = false };
	Dwarf_Op memory[3], *ops;
	struct cfi_row defaults;
	size_t count;

	assert_int_equal(dwarf_frame_register(frame, (int)number, memory, &ops, &count), 0);
	/* The ABI decides whether a register that an entry does not mention is preserved. libdw
	 * treats rax (0) as preserved instead of rbx (3). */
	memset(&defaults, 0, sizeof(defaults));
	arch_cfi_defaults(&defaults);
	if (count == 0 && number == regs_sp_number)
		return (struct found){ .known = true, .value = cfa };
	if (count == 0)
		return (struct found){ .known = defaults.reg[number].how == CFI_SAME,
				       .value = regs->reg[number] };
	found = evaluate(ops, count, regs, cfa);
	if (found.known && found.at)
		found.known = stack_word(found.value, &found.value);
	return found;
}

/* The caller that the rule finds is the one that libdw's operations find. */
static void
check_plain(const struct rule_source *rules, const struct rule *rule, Dwarf_Frame *frame)
{
	struct snapshot snapshot;
	struct found found;
	struct regs caller;
	struct walk walk;
	Dwarf_Op *ops;
	size_t count;
	bool applied;
	uint64_t cfa;

	walk_init(&walk, &snapshot);
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	assert_true(count > 0);
	found = evaluate(ops, count, &walk.regs, 0);
	cfa = found.value;
	applied = rule_apply(rules, rule, &walk, 0, &caller);
	if (!found.known || !find_register(frame, rule->return_register, &walk.regs, cfa).known) {
		assert_false(applied);
		return;
	}
	assert_true(applied);
	found = find_register(frame, regs_sp_number, &walk.regs, cfa);
	assert_true(caller.sp == (found.known ? found.value : cfa));
	assert_true(rule->count <= RULE_REGISTERS);
	for (unsigned number = 0; number < regs_count; number++) {
		uint64_t value = 0;

		if (number == regs_sp_number)
			continue;
		found = find_register(frame, number, &walk.regs, cfa);
		assert_int_equal(regs_get(&caller, number, &value), found.known);
		if (found.known)
			assert_true(value == found.value);
	}
}

static void
check_end(const struct rule *rule, Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	assert_int_equal(dwarf_frame_register(frame, rule->return_register, memory, &ops, &count),
			 0);
	assert_int_equal(count, 0);
	assert_true(ops == memory);
}

static void
check_address(struct pair *pair, uint64_t vaddr)
{
	Dwarf_Frame *frame = NULL;
	bool covered = (pair->cfi != NULL &&
			dwarf_cfi_addrframe(pair->cfi, vaddr, &frame) == 0) ||
		       (pair->debug_frame != NULL &&
			dwarf_cfi_addrframe(pair->debug_frame, vaddr, &frame) == 0);
	struct rule rule;
	bool signal_frame;

	rule_source_find(pair->rules, vaddr, &rule);
	assert_true(rule.kind <= RULE_DAMAGED);
	pair->kinds[rule.kind]++;
	if (!covered) {
		assert_int_equal(rule.kind, RULE_NONE);
		return;
	}
	assert_true(rule.kind == RULE_PLAIN || rule.kind == RULE_END);
	assert_int_equal(dwarf_frame_info(frame, NULL, NULL, &signal_frame), rule.return_register);
	assert_int_equal(signal_frame, rule.signal_frame);
	if (rule.kind == RULE_PLAIN)
		check_plain(pair->rules, &rule, frame);
	if (rule.kind == RULE_END)
		check_end(&rule, frame);
	free(frame);
}

/* Some thousand addresses all over the code. */
static void
check_segments(struct pair *pair)
{
	for (size_t i = 0; i < pair->image->segment_count; i++) {
		const struct image_segment *segment = &pair->image->segment[i];
		uint64_t step = segment->mem_size / 4000 + 1;

		for (uint64_t at = 0; segment->executable && at < segment->mem_size; at += step)
			check_address(pair, segment->vaddr + at);
	}
}

/* Each address of some functions, and some all over the code. */
static void
check_functions(struct pair *pair, const uint64_t *vaddr, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (uint64_t at = 0; at < 400; at++)
			check_address(pair, vaddr[i] + at);
	/* Of functions that there are, tables say something simple. */
	assert_true(pair->kinds[RULE_PLAIN] > 300 * count);
	check_segments(pair);
}

static void
test_c_library(void **state)
{
	static const char *const names[] = { "read", "qsort", "printf", "getaddrinfo", "strtod",
					     "abort", "raise", "fopen", "execvp", "regcomp" };
	void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	uint64_t vaddr[ARRAY_SIZE(names)];
	struct link_map *map;
	struct pair pair;

	(void)state;
	if (library == NULL)
		skip(); /* another C library */
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		void *address = dlsym(library, names[i]);

		assert_non_null(address);
		vaddr[i] = (uintptr_t)address - map->l_addr;
	}
	pair_open(&pair, map->l_name);
	check_functions(&pair, vaddr, ARRAY_SIZE(vaddr));
	pair_close(&pair);
	dlclose(library);
}

static void
test_own_program(void **state)
{
	uint64_t bias = own_file_bias();
	const uint64_t vaddr[] = {
		(uintptr_t)test_own_program - bias, (uintptr_t)check_address - bias,
		(uintptr_t)rule_source_find - bias, (uintptr_t)image_open_memory - bias,
	};
	struct pair pair;

	(void)state;
	pair_open(&pair, "/proc/self/exe");
	check_functions(&pair, vaddr, ARRAY_SIZE(vaddr));
	pair_close(&pair);
}

/* Addresses outside of all code, and numbers that wrap round. */
static void
test_no_code(void **state)
{
	static const uint64_t nowhere[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1,
					    UINT64_C(0x8000000000000000),
					    UINT64_C(0x7fffffffffff) };
	struct pair pair;
	struct rule rule;

	(void)state;
	pair_open(&pair, "/proc/self/exe");
	for (size_t i = 0; i < ARRAY_SIZE(nowhere); i++) {
		rule_source_find(pair.rules, nowhere[i], &rule);
		assert_int_equal(rule.kind, RULE_NONE);
	}
	pair_close(&pair);
	rule_source_free(NULL);
}

/* --- damage ------------------------------------------------------------------ */

struct program { /* bytes of this program's file */
	uint8_t *bytes;
	size_t size;
	uint64_t low, high; /* of its code: vaddr */
};

static void
program_read(struct program *program)
{
	program->bytes = own_file_read(&program->size);
	/* The library's functions that a test links lie behind its own. */
	program->low = (uintptr_t)check_functions - own_file_bias();
	program->high = program->low + 8192;
}

/* Offset and size of a section. */
static void
find_section(const struct program *program, const char *name, size_t *offset, size_t *size)
{
	const Elf64_Ehdr *header = (const void *)program->bytes;
	const Elf64_Shdr *section = (const void *)(program->bytes + header->e_shoff);
	const char *names = (const char *)program->bytes + section[header->e_shstrndx].sh_offset;

	for (size_t i = 0; i < header->e_shnum; i++) {
		if (strcmp(names + section[i].sh_name, name) != 0)
			continue;
		*offset = section[i].sh_offset;
		*size = section[i].sh_size;
		return;
	}
	fail_msg("this program has no %s", name);
}

/* Asks for rules of damaged tables; what they say does not matter. Returns how many of 20
 * addresses in code have a plain one. */
static size_t
ask(const struct program *program, struct rng *rng)
{
	struct image *image = image_open_memory(program->bytes, program->size);
	struct rule_source *source;
	size_t plain = 0;

	if (image == NULL)
		return 0;
	source = rule_source_open(image, &budget);
	for (int i = 0; source != NULL && i < 24; i++) {
		uint64_t at = program->low + rng_next(rng) % (program->high - program->low);
		struct rule rule;

		rule_source_find(source, i < 20 ? at : rng_next(rng), &rule);
		plain += rule.kind == RULE_PLAIN;
		assert_true(rule.kind <= RULE_DAMAGED);
		assert_true(rule.count <= RULE_REGISTERS);
		assert_true(rule.cfa_register < regs_count);
		for (unsigned j = 0; j < rule.count; j++)
			assert_true(rule.reg[j].number < regs_count);
	}
	rule_source_free(source);
	image_free(image);
	return plain;
}

#define MOST_FLIPS 32

/* Variants of the program with some bytes of [offset, offset + size) changed. */
static void
damage(struct program *program, size_t offset, size_t size, uint64_t seed, int variants)
{
	static const uint8_t liked[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct rng rng;

	rng_seed(&rng, seed);
	for (int variant = 0; variant < variants; variant++) {
		size_t flips = 1 + rng_next(&rng) % MOST_FLIPS, at[MOST_FLIPS];
		uint8_t kept[MOST_FLIPS];

		for (size_t i = 0; i < flips; i++) {
			at[i] = offset + rng_next(&rng) % size;
			kept[i] = program->bytes[at[i]];
			program->bytes[at[i]] =
				rng_next(&rng) % 2 != 0 ?
					liked[rng_next(&rng) % sizeof(liked)] :
					(uint8_t)rng_next(&rng);
		}
		ask(program, &rng);
		/* backwards, in case a byte was changed twice */
		for (size_t i = flips; i-- > 0;)
			program->bytes[at[i]] = kept[i];
	}
}

static void
check_damage(const char *section, size_t most, uint64_t seed)
{
	struct program program;
	size_t offset = 0, size = 0;

	program_read(&program);
	find_section(&program, section, &offset, &size);
	/* One that is large is damaged most where a look-up begins. */
	damage(&program, offset, size, seed, 400);
	damage(&program, offset, size < most ? size : most, seed + 1, 400);
	free(program.bytes);
}

/* Else the tests below would damage something that nobody reads. */
static void
test_undamaged(void **state)
{
	struct program program;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 29);
	program_read(&program);
	assert_true(ask(&program, &rng) >= 10);
	free(program.bytes);
}

static void
test_damaged_eh_frame(void **state)
{
	(void)state;
	check_damage(".eh_frame", 512, 30);
}

static void
test_damaged_eh_frame_hdr(void **state)
{
	(void)state;
	check_damage(".eh_frame_hdr", 16, 40);
}

/* The file itself: ends early, or its headers are wrong. */
static void
test_damaged_file(void **state)
{
	struct program program;
	size_t whole, table;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 50);
	program_read(&program);
	whole = program.size;
	for (int i = 0; i < 200; i++) {
		program.size = rng_next(&rng) % whole;
		ask(&program, &rng);
	}
	program.size = whole;
	damage(&program, 0, 1024, 51, 400); /* program headers */
	table = (size_t)((const Elf64_Ehdr *)(const void *)program.bytes)->e_shoff;
	damage(&program, table, whole - table, 52, 400); /* section headers */
	free(program.bytes);
}

/* Where no table covers an address, a gigabyte of other debug information is not read for it. */
static void
test_much_debug_information(void **state)
{
	static const char names[] = "\0.shstrtab\0.debug_info\0.debug_frame";
	const uint64_t hole = UINT64_C(1) << 30;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr section[4];
		char names[sizeof(names)];
	} file = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4,
			    .e_shstrndx = 1 },
		.segment = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(file),
			     .p_memsz = 4096 },
		.section[1] = { .sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = sizeof(names) },
		.section[2] = { .sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = 4096,
				.sh_size = hole },
		.section[3] = { .sh_name = 23, .sh_type = SHT_PROGBITS, .sh_offset = 4096 },
	};
	const int fd = memfd_create("much", MFD_CLOEXEC);
	struct rusage before, after;
	struct rule_source *source;
	struct image *image;
	struct rule rule;

	(void)state;
	file.header.e_phoff = offsetof(__typeof__(file), segment);
	file.header.e_shoff = offsetof(__typeof__(file), section);
	file.section[1].sh_offset = offsetof(__typeof__(file), names);
	memcpy(file.names, names, sizeof(names));
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	assert_int_equal(ftruncate(fd, (off_t)(4096 + hole)), 0);
	image = image_open_fd(fd, NULL);
	assert_non_null(image);
	source = rule_source_open(image, &budget);
	assert_non_null(source);
	getrusage(RUSAGE_SELF, &before);
	rule_source_find(source, 64, &rule);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(rule.kind, RULE_NONE);
	/* KiB; the most that was used so far may have been more than now, but not so much. */
	assert_true(after.ru_maxrss - before.ru_maxrss < 100 << 10);
	rule_source_free(source);
	image_free(image);
}

/*
 * Names of sections that take no room on the disk, and three gigabytes when libelf reads them:
 * nobody reads them. A file without any section is as good as another.
 */
static void
test_section_names(void **state)
{
	const uint64_t large = UINT64_C(3) << 30;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr section[2];
	} file = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 2,
			    .e_shstrndx = 1, .e_phoff = sizeof(Elf64_Ehdr),
			    .e_shoff = offsetof(__typeof__(file), section) },
		.segment = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(file),
			     .p_memsz = 4096 },
		.section[1] = { .sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = 4096,
				.sh_size = large },
	};
	const int fd = memfd_create("names", MFD_CLOEXEC);
	struct rusage before, after;
	struct rule_source *source;
	struct image *image;
	struct rule rule;

	(void)state;
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	assert_int_equal(ftruncate(fd, (off_t)(4096 + large)), 0);
	image = image_open_fd(dup(fd), NULL);
	assert_non_null(image);
	getrusage(RUSAGE_SELF, &before);
	source = rule_source_open(image, &budget);
	rule_source_find(source, 64, &rule);
	rule_source_free(source);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(rule.kind, RULE_NONE);
	assert_true(after.ru_maxrss - before.ru_maxrss < 100 << 10);
	image_free(image);

	file.header.e_shoff = 0;
	file.header.e_shnum = file.header.e_shstrndx = 0;
	assert_int_equal(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	image = image_open_fd(fd, NULL);
	source = rule_source_open(image, &budget);
	assert_non_null(source);
	rule_source_find(source, 64, &rule);
	assert_int_equal(rule.kind, RULE_NONE);
	rule_source_free(source);
	image_free(image);
}

/* The program with the table of its sections taken away, as sstrip(1) leaves it. */
static void
test_without_sections(void **state)
{
	struct program program;
	Elf64_Ehdr *header;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 60);
	program_read(&program);
	header = (void *)program.bytes;
	header->e_shoff = 0;
	header->e_shnum = header->e_shstrndx = 0;
	assert_true(ask(&program, &rng) >= 10);
	free(program.bytes);
}

/* Checks a file that was given as an argument. */
static void
test_file(void **state)
{
	struct pair pair;

	pair_open(&pair, *state);
	check_segments(&pair);
	print_message("%s: none %zu, plain %zu, end %zu\n", (const char *)*state,
		      pair.kinds[RULE_NONE], pair.kinds[RULE_PLAIN], pair.kinds[RULE_END]);
	pair_close(&pair);
}

/* With an argument, checks this file in place of the tests. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c_library),
		cmocka_unit_test(test_own_program),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_undamaged),
		cmocka_unit_test(test_damaged_eh_frame),
		cmocka_unit_test(test_damaged_eh_frame_hdr),
		cmocka_unit_test(test_damaged_file),
		cmocka_unit_test(test_much_debug_information),
		cmocka_unit_test(test_section_names),
		cmocka_unit_test(test_without_sections),
	};

	if (argc > 1) {
		const struct CMUnitTest file[] = {
			cmocka_unit_test_prestate(test_file, argv[1]),
		};

		return cmocka_run_group_tests(file, NULL, NULL);
	}
	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
