/* SPDX-License-Identifier: MIT */
/*
 * gdbjit.c - a program that makes code at run time and tells debuggers of it (the GDB JIT
 * interface), in the two shapes that compilers use: "object", an object file whose sections
 * were given addresses and whose tables are not relocated, as LLVM does, and "program", a
 * file with segments. One thread runs in the code, another sleeps in a read that the code
 * called.
 */
#include "target.h"

#include <elf.h>

#include "gdbjit.h"

struct jit_code_entry {
	struct jit_code_entry *next, *prev;
	const char *symfile;
	uint64_t size;
};

struct jit_descriptor {
	uint32_t version, action;
	struct jit_code_entry *relevant, *first;
};

void __jit_debug_register_code(void);
extern struct jit_descriptor __jit_debug_descriptor;

struct jit_descriptor __jit_debug_descriptor = { 1, 0, NULL, NULL };

/* A debugger sets a breakpoint here. */
__attribute__((noinline)) void
__jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The files, as the linker made them. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"object_begin: .incbin \"" GDBJIT_OBJECT "\"\n"
	"object_end:\n"
	".balign 16\n"
	"program_begin: .incbin \"" GDBJIT_PROGRAM "\"\n"
	"program_end:\n"
	".popsection\n");
extern const char object_begin[], object_end[], program_begin[], program_end[];

#define AREA ((size_t)64 << 10)

static long (*entry)(struct gdbjit_host *host);

static void
tell_debugger(const char *file, size_t size)
{
	struct jit_code_entry *fresh = calloc(1, sizeof(*fresh));

	fresh->symfile = file;
	fresh->size = size;
	fresh->next = __jit_debug_descriptor.first;
	if (fresh->next != NULL)
		fresh->next->prev = fresh;
	__jit_debug_descriptor.first = fresh;
	__jit_debug_descriptor.relevant = fresh;
	__jit_debug_descriptor.action = 1; /* JIT_REGISTER_FN */
	__jit_debug_register_code();
}

static void *
area(void *at, size_t size)
{
	void *p = mmap(at, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at != NULL ? MAP_FIXED_NOREPLACE : 0), -1,
		       0);

	if (p == MAP_FAILED)
		target_fail("mmap of code");
	return p;
}

/* The symbol's value; `name` has to be there. */
static uint64_t
symbol(const char *file, const Elf64_Shdr *section, const char *name)
{
	const Elf64_Ehdr *header = (const void *)file;

	for (int i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)(file + section[i].sh_offset);

		if (section[i].sh_type != SHT_SYMTAB)
			continue;
		for (uint64_t k = 0; k < section[i].sh_size / sizeof(*symbols); k++)
			if (strcmp(file + section[section[i].sh_link].sh_offset +
					   symbols[k].st_name,
				   name) == 0)
				return symbols[k].st_value;
	}
	target_fail(name);
}

/* Copies each loaded section to a place of its own and writes that into its header. */
static void
load_object(void)
{
	size_t size = (size_t)(object_end - object_begin), used = 0;
	char *file = malloc(size), *memory = area(NULL, AREA);
	const Elf64_Ehdr *header = (const void *)file;
	Elf64_Shdr *section;
	uint64_t code = 0;

	memcpy(file, object_begin, size);
	section = (void *)(file + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++) {
		if ((section[i].sh_flags & SHF_ALLOC) == 0 || section[i].sh_size == 0)
			continue;
		used = (used + 63) & ~(size_t)63;
		if (used + section[i].sh_size > AREA)
			target_fail("no room for the code");
		if (section[i].sh_type != SHT_NOBITS)
			memcpy(memory + used, file + section[i].sh_offset, section[i].sh_size);
		section[i].sh_addr = (uintptr_t)memory + used;
		used += section[i].sh_size;
		if ((section[i].sh_flags & SHF_EXECINSTR) != 0 && code == 0)
			code = section[i].sh_addr;
	}
	entry = (long (*)(struct gdbjit_host *))(uintptr_t)(code +
							    symbol(file, section, "inside_top"));
	tell_debugger(file, size);
}

/* Copies each segment to where it was linked. */
static void
load_program(void)
{
	size_t size = (size_t)(program_end - program_begin);
	const Elf64_Ehdr *header = (const void *)program_begin;
	const Elf64_Phdr *segment = (const void *)(program_begin + header->e_phoff);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char *file = malloc(size);

	memcpy(file, program_begin, size);
	for (int i = 0; i < header->e_phnum; i++) {
		uint64_t start = segment[i].p_vaddr & ~(page - 1);

		if (segment[i].p_type != PT_LOAD)
			continue;
		area((void *)(uintptr_t)start, segment[i].p_vaddr + segment[i].p_memsz - start);
		memcpy((void *)(uintptr_t)segment[i].p_vaddr, file + segment[i].p_offset,
		       segment[i].p_filesz);
	}
	entry = (long (*)(struct gdbjit_host *))(uintptr_t)header->e_entry;
	tell_debugger(file, size);
}

static int wait_pipe[2];

static FRAME long
outside_wait(struct gdbjit_host *host)
{
	char c;
	long n = read(wait_pipe[0], &c, 1);

	KEEP_FRAME();
	return n + host->waits;
}

static FRAME void
run_thread(void)
{
	struct gdbjit_host host = { .over = &target_over };

	target_here();
	target_sink = (unsigned long)entry(&host);
	KEEP_FRAME();
}

static FRAME void
wait_thread(void)
{
	struct gdbjit_host host = { .waits = 1, .over = &target_over, .wait = outside_wait };

	target_here();
	target_sink = (unsigned long)entry(&host);
	KEEP_FRAME();
}

int
main(int argc, char **argv)
{
	static struct target_thread threads[] = {
		{ .name = "jit-run", .run = run_thread },
		{ .name = "jit-wait", .run = wait_thread, .sleeps = true },
	};

	if (pipe(wait_pipe) != 0)
		target_fail("pipe");
	if (argc > 1 && strcmp(argv[1], "program") == 0)
		load_program();
	else
		load_object();
	return target_main(threads, 2, 0);
}
