/* SPDX-License-Identifier: MIT */
/* core.c - opens a core file, or reports why a file is no core file, and reads the registers of its
 * threads. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core_internal.h"
#include "wallsample/elf/relocate.h"
#include "wallsample/tracer/regs_arch.h"

/* Largest number of segments. A Linux process has 65530 mappings by default (vm.max_map_count). */
#define SEGMENTS_MAX (UINT64_C(1) << 23)

/* Largest number of notes: a thread has some ten, and Linux has at most 4 million threads
 * (PID_MAX_LIMIT). */
#define NOTES_MAX (UINT64_C(1) << 25)

/* Largest number of PT_NOTE segments. The kernel and gdb write one. */
#define NOTE_SEGMENTS_MAX 16

#define DEFAULT_PAGE_SIZE 4096

/* --- header ------------------------------------------------------------------------- */

/* The first bytes of compressed files, and the programs that decompress them. */
static const struct {
	const char *magic;
	size_t size;
	const char *name, *unpacker;
} packed[] = {
	{ "\x28\xb5\x2f\xfd", 4, "zstd", "zstd -d" },
	{ "\x04\x22\x4d\x18", 4, "LZ4", "lz4 -d" },
	{ "\xfd"
	  "7zXZ",
	  5, "xz", "xz -dk" },
	{ "\x1f\x8b", 2, "gzip", "gunzip -k" },
	{ "BZh", 3, "bzip2", "bunzip2 -k" },
};

static int
refuse_other(const uint8_t *head, const char *path, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(packed); i++)
		if (memcmp(head, packed[i].magic, packed[i].size) == 0)
			return error_set(err, ERROR_FORMAT,
					 "%s is packed with %s: unpack it first, with %s, or have "
					 "coredumpctl do it: coredumpctl dump PID -o FILE",
					 path, packed[i].name, packed[i].unpacker);
	return error_set(err, ERROR_FORMAT, "%s is no core file: it is no ELF file at all", path);
}

static const char *
machine_name(uint16_t machine)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} machines[] = {
		{ EM_386, "i386" },        { EM_X86_64, "x86-64" }, { EM_ARM, "ARM" },
		{ EM_AARCH64, "aarch64" }, { EM_RISCV, "RISC-V" },  { EM_PPC64, "POWER" },
		{ EM_S390, "s390" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].machine == machine)
			return machines[i].name;
	return "another architecture";
}

static int
check_header(const Elf64_Ehdr *header, const char *path, struct error *err)
{
	const uint8_t *ident = header->e_ident;
	const bool is_wide = ident[EI_CLASS] == ELFCLASS64;
	const bool is_little = ident[EI_DATA] == ELFDATA2LSB;

	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return refuse_other(ident, path, err);
	/* Type and machine have the same offsets in 32-bit and 64-bit files. */
	if (is_little && header->e_type != ET_CORE)
		return error_set(err, ERROR_FORMAT, "%s is no core file: it is %s", path,
				 header->e_type == ET_EXEC || header->e_type == ET_DYN ?
					 "a program or a library (--exe says which program a core "
					 "file is of)" :
					 "an ELF file of another kind");
	if (!is_wide || !is_little || header->e_machine != relocate_machine)
		return error_set(err, ERROR_FORMAT,
				 "%s is of a program for %s, %d bits; this "
				 "wallsample reads those of %s, 64 bits",
				 path,
				 is_little ? machine_name(header->e_machine) :
					     "another architecture",
				 is_wide ? 64 : 32, machine_name(relocate_machine));
	if (header->e_phentsize != sizeof(Elf64_Phdr))
		return error_set(err, ERROR_FORMAT, "%s is no core file: its header is damaged",
				 path);
	return 0;
}

/* Returns the number of segments. If there are more than 65534, the first section header has the
 * number: elf(5), PN_XNUM. */
static uint64_t
count_segments(const struct core *core, const Elf64_Ehdr *header)
{
	Elf64_Shdr section;

	if (header->e_phnum != PN_XNUM)
		return header->e_phnum;
	if (!core_read_file(core, header->e_shoff, &section, sizeof(section)))
		return 0;
	return section.sh_info < SEGMENTS_MAX ? section.sh_info : SEGMENTS_MAX;
}

/* --- opening ----------------------------------------------------------------------- */

static void
read_segments(struct core *core, const Elf64_Ehdr *header)
{
	const uint64_t count = count_segments(core, header);
	unsigned notes = 0;
	Elf64_Phdr segment;

	core->is_cut = count == 0 && header->e_phnum != 0;
	for (uint64_t i = 0; i < count; i++) {
		core->is_cut = !core_read_file(core, header->e_phoff + i * sizeof(segment),
					       &segment, sizeof(segment));
		if (core->is_cut)
			break;
		if (segment.p_type == PT_LOAD)
			core_add_segment(core, &segment);
	}
	/*
	 * The notes are read in a second pass. In a single pass the buffer (core_window) would be
	 * filled again at each change between headers and notes.
	 */
	for (uint64_t i = 0; i < count; i++) {
		if (!core_read_file(core, header->e_phoff + i * sizeof(segment), &segment,
				    sizeof(segment)))
			break;
		if (segment.p_type == PT_NOTE && notes++ < NOTE_SEGMENTS_MAX)
			core_take_notes(core, &segment);
	}
	core_spans_sort(&core->segments);
	core_spans_sort(&core->ranges);
	core_finish_notes(core);
}

static int
read_core(struct core *core, const char *path, struct error *err)
{
	Elf64_Ehdr header;
	int rc;

	memset(&header, 0, sizeof(header));
	if (!core_read_file(core, 0, &header,
			    core->size < sizeof(header) ? core->size : sizeof(header)))
		return error_set(err, ERROR_SYSTEM, "cannot read %s", path);
	rc = check_header(&header, path, err);
	if (rc != 0)
		return rc;
	read_segments(core, &header);
	if (core->is_kernel)
		return error_set(err, ERROR_FORMAT, "%s is a dump of a kernel, not of a process",
				 path);
	if (core->thread_count == 0)
		return error_set(err, ERROR_FORMAT, "%s has no threads in it%s", path,
				 core->is_cut || core->missing > 0 ? ": it was cut short" : "");
	return 0;
}

static int
open_core_file(struct core *core, const char *path, struct error *err)
{
	struct stat st;

	/* O_NONBLOCK: if the file is a FIFO, open() does not wait for its other end. */
	core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (core->fd < 0 || fstat(core->fd, &st) != 0)
		return error_set(err, ERROR_SYSTEM, "cannot open %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_SYSTEM,
				 "%s is no regular file: a core file is read "
				 "here and there",
				 path);
	core->size = (uint64_t)st.st_size;
	core->written_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
	return 0;
}

int
core_open(const char *path, struct core **out, struct error *err)
{
	struct core *core = xcalloc(1, sizeof(*core));
	int rc;

	*out = NULL;
	core->window = xcalloc(1, sizeof(*core->window));
	core->paths = strings_create();
	core->process = xcalloc(1, sizeof(*core->process));
	core->process->dirfd = core->process->taskfd = -1;
	core->page_size = DEFAULT_PAGE_SIZE;
	core->notes_left = NOTES_MAX;
	rc = open_core_file(core, path, err);
	if (rc == 0)
		rc = read_core(core, path, err);
	if (rc != 0)
		core_free(core);
	else
		*out = core;
	return rc;
}

void
core_free(struct core *core)
{
	if (core == NULL)
		return;
	if (core->fd >= 0)
		close(core->fd);
	free(core->window);
	free(core->segments.span);
	free(core->ranges.span);
	strings_free(core->paths);
	free(core->thread);
	process_free(core->process);
	free(core);
}

/* --- contents ---------------------------------------------------------------------- */

struct process *
core_process(const struct core *core)
{
	return core->process;
}

const struct core_end *
core_end(const struct core *core)
{
	return &core->end;
}

uint64_t
core_written_ns(const struct core *core)
{
	return core->written_ns;
}

uint64_t
core_missing(const struct core *core)
{
	return core->missing;
}

size_t
core_thread_count(const struct core *core)
{
	return core->thread_count;
}

pid_t
core_thread_id(const struct core *core, size_t index)
{
	return core->thread[index].tid;
}

/* The registers in a core file have the layout of ptrace(2). */
bool
core_thread_read(const struct core *core, size_t index, struct core_thread *out)
{
	const struct core_thread_place *place = &core->thread[index];
	struct kernel_regs kernel;

	static_assert(sizeof(elf_gregset_t) <= sizeof(kernel.word), "kernel_regs is too small");
	memset(out, 0, sizeof(*out));
	memset(&kernel, 0, sizeof(kernel));
	out->tid = place->tid;
	kernel.size = sizeof(elf_gregset_t);
	if (!core_read_file(core, place->general, kernel.word, kernel.size) ||
	    !kernel_regs_complete(&kernel))
		return false;
	kernel_regs_read(&kernel, &out->regs);
	out->syscall = kernel_regs_syscall(&kernel);
	out->asleep = kernel_regs_cut_short(&kernel);
	for (size_t i = 0; i < ARRAY_SIZE(out->args); i++)
		regs_get(&out->regs, regs_argument[i], &out->args[i]);
	/* On aarch64 a separate note has the thread pointer. */
	if (!kernel_regs_tls(&kernel, &out->tls) && place->tls != 0 &&
	    !core_read_file(core, place->tls, &out->tls, sizeof(out->tls)))
		out->tls = 0;
	return true;
}

static bool
memory_of_core_read(void *context, uint64_t address, void *to, size_t size)
{
	return core_read(context, address, to, size);
}

struct memory
core_memory(const struct core *core)
{
	/* The cast removes `const`, which is safe: the callback does not change the context. */
	return (struct memory){ .read = memory_of_core_read, .context = (void *)(uintptr_t)core };
}
