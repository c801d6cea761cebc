/* SPDX-License-Identifier: MIT */
/*
 * many_files.c - maps 20,000 different ELF files of 20 KB as code, and a thread "worker" is in
 * files_leaf, called by files_f0.
 */
#include <elf.h>

#include "target.h"

void files_f0(void), files_leaf(void);

#define FILES 20000
#define SIZE ((size_t)20 << 10)

/* Maps a file of which only the first page takes memory. */
static void
map_file(void)
{
	static const struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} elf = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_filesz = SIZE,
			.p_memsz = SIZE,
		},
	};
	int fd = memfd_create("library", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, SIZE) != 0 ||
	    write(fd, &elf, sizeof(elf)) != (ssize_t)sizeof(elf) ||
	    mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		target_fail("cannot map a file");
	close(fd);
}

FRAME void
files_leaf(void)
{
	target_here();
	while (!target_over)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
files_f0(void)
{
	files_leaf();
	KEEP_FRAME();
}

static struct target_thread threads[] = {{.name = "worker", .run = files_f0}};

int
main(void)
{
	for (int i = 0; i < FILES; i++)
		map_file();
	return target_main(threads, 1, 0);
}
