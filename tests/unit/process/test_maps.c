/* SPDX-License-Identifier: MIT */
/*
 * test_maps.c - the mappings of this process and of children, and their modules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/maps_source_internal.h"
#include "process/process_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"

#define NOBODY 65534

struct fixture {
	struct process *process;
	struct modules *modules;
	struct maps *maps;
};

static void
fixture_open(struct fixture *f, pid_t pid)
{
	struct error err = { 0 };

	assert_int_equal(process_open(pid, &f->process, &err), 0);
	f->modules = modules_create();
	f->maps = maps_create(f->process, f->modules);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	fixture_open(f, getpid());
	*state = f;
	return 0;
}

static void
fixture_close(struct fixture *f)
{
	maps_free(f->maps);
	modules_free(f->modules);
	process_free(f->process);
}

static int
teardown(void **state)
{
	fixture_close(*state);
	free(*state);
	return 0;
}

static const struct module *
module_at(const struct fixture *f, uint64_t address)
{
	const struct mapping *mapping = maps_find(f->maps, address);

	assert_non_null(mapping);
	return modules_get(f->modules, mapping->module);
}

/* --- this process, against what the dynamic linker knows ---------------------- */

static int
check_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct fixture *f = context;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t address = info->dlpi_addr + ph->p_vaddr;
		const struct mapping *mapping;
		char bytes[16];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || ph->p_memsz == 0)
			continue;
		mapping = maps_find(f->maps, address);
		assert_non_null(mapping);
		assert_non_null(mapping->image);
		assert_int_equal(mapping->bias, info->dlpi_addr);
		assert_in_range(address, mapping->low, mapping->high - 1);
		assert_in_range(ph->p_vaddr, mapping->image->low, mapping->image->high - 1);
		assert_true(image_read_vaddr(mapping->image, ph->p_vaddr, bytes, sizeof(bytes)));
		assert_memory_equal(bytes, (const void *)(uintptr_t)address, sizeof(bytes));
	}
	return 0;
}

static void
test_agrees_with_linker(void **state)
{
	struct fixture *f = *state;

	assert_true(maps_count(f->maps) > 0);
	dl_iterate_phdr(check_object, f);
}

static void
test_own_function(void **state)
{
	struct fixture *f = *state;
	uint64_t address = (uintptr_t)&test_own_function;
	const struct mapping *mapping = maps_find(f->maps, address);
	const struct module *module;
	char bytes[64];

	assert_non_null(mapping);
	module = modules_get(f->modules, mapping->module);
	assert_int_equal(module->kind, MODULE_FILE);
	assert_string_equal(module->path, f->process->exe);
	assert_string_equal(module->name, strrchr(f->process->exe, '/') + 1);
	assert_false(module->deleted);
	assert_null(module->why);
	assert_ptr_equal(module->image, mapping->image);
	address -= mapping->bias;
	assert_true(image_read_vaddr(mapping->image, address, bytes, sizeof(bytes)));
	assert_memory_equal(bytes, (const void *)(uintptr_t)&test_own_function, sizeof(bytes));
}

static void
test_sorted(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < maps_count(f->maps); i++) {
		const struct mapping *mapping = maps_at(f->maps, i);

		assert_true(mapping->start < mapping->end);
		assert_true(mapping->module < modules_count(f->modules));
		assert_ptr_equal(maps_find(f->maps, mapping->start), mapping);
		assert_ptr_equal(maps_find(f->maps, mapping->end - 1), mapping);
		if (i > 0)
			assert_true(maps_at(f->maps, i - 1)->end <= mapping->start);
	}
}

static void
test_vdso(void **state)
{
	struct fixture *f = *state;
	uint64_t address = getauxval(AT_SYSINFO_EHDR);
	const struct mapping *mapping;
	const struct module *module;

	if (address == 0)
		skip();
	mapping = maps_find(f->maps, address);
	assert_non_null(mapping);
	module = modules_get(f->modules, mapping->module);
	assert_int_equal(module->kind, MODULE_VDSO);
	assert_string_equal(module->name, "[vdso]");
	assert_non_null(module->image);
	assert_non_null(image_memory(module->image));
	assert_true(module->image->build_id_size > 0);
	assert_int_equal(mapping->bias, address - module->image->low);
}

static void
test_library_that_comes_later(void **state)
{
	static const char *const names[] = { "libBrokenLocale.so.1", "libanl.so.1", "libutil.so.1",
					     "libnsl.so.1", "libm.so.6" };
	struct fixture *f = *state;
	void *library = NULL;
	uint64_t before;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !library; i++)
		if (!dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY))
			library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		skip();
	before = maps_generation(f->maps);
	dl_iterate_phdr(check_object, f);
	assert_true(maps_generation(f->maps) != before);
	dlclose(library);
}

/* --- memory that comes and goes ------------------------------------------------- */

static void *
map_code(size_t size)
{
	void *code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Some security modules forbid this. */
	if (code == MAP_FAILED)
		skip();
	return code;
}

static void
test_anonymous_code(void **state)
{
	struct fixture *f = *state;
	uint64_t first = (uintptr_t)map_code(4096), second = (uintptr_t)map_code(1 << 20);
	const struct mapping *mapping = maps_find(f->maps, first);
	uint32_t id;

	assert_non_null(mapping);
	assert_null(mapping->image);
	assert_int_equal(mapping->bias, 0);
	assert_int_equal(mapping->low, mapping->high);
	id = mapping->module;
	assert_int_equal(modules_get(f->modules, id)->kind, MODULE_ANONYMOUS);
	assert_string_equal(modules_get(f->modules, id)->name, "[anon]");
	mapping = maps_find(f->maps, second + 4097);
	assert_non_null(mapping);
	assert_int_equal(mapping->module, id);
	munmap((void *)(uintptr_t)first, 4096);
	munmap((void *)(uintptr_t)second, 1 << 20);
}

static void
test_grown_mapping_replaces(void **state)
{
	struct fixture *f = *state;
	char *code = map_code(8 * 4096);
	uint64_t address = (uintptr_t)code;

	assert_int_equal(mprotect(code + 4096, 7 * 4096, PROT_READ), 0);
	maps_refresh(f->maps);
	assert_non_null(maps_find(f->maps, address));
	assert_int_equal(mprotect(code, 8 * 4096, PROT_READ | PROT_EXEC), 0);
	assert_non_null(maps_find(f->maps, address + 5 * 4096));
	assert_ptr_equal(maps_find(f->maps, address), maps_find(f->maps, address + 7 * 4096));
	test_sorted(state);
	munmap(code, 8 * 4096);
}

static void
test_generation(void **state)
{
	struct fixture *f = *state;
	uint64_t before = maps_generation(f->maps), after;
	void *code;

	maps_refresh(f->maps);
	maps_refresh(f->maps);
	assert_int_equal(maps_generation(f->maps), before);
	assert_null(maps_find(f->maps, 64));
	assert_int_equal(maps_generation(f->maps), before);

	code = map_code(4096);
	assert_int_equal(maps_generation(f->maps), before);
	assert_non_null(maps_find(f->maps, (uintptr_t)code));
	after = maps_generation(f->maps);
	assert_true(after != before);
	munmap(code, 4096);
	maps_refresh(f->maps);
	assert_true(maps_generation(f->maps) != after);
	assert_null(maps_find(f->maps, (uintptr_t)code));
}

/* What has gone is noticed without being asked for, once a read is due. */
static void
test_tick_reads_when_due(void **state)
{
	struct fixture *f = *state;
	void *code = map_code(4096);
	uint64_t day_ns = UINT64_C(86400) * NS_PER_SEC;

	assert_non_null(maps_find(f->maps, (uintptr_t)code));
	munmap(code, 4096);
	maps_tick(f->maps, 1);
	maps_tick(f->maps, 2);
	assert_non_null(maps_find(f->maps, (uintptr_t)code));
	maps_tick(f->maps, day_ns);
	assert_null(maps_find(f->maps, (uintptr_t)code));
}

/* Any number of wild addresses in one tick costs a bounded number of looks. */
static void
test_wild_addresses(void **state)
{
	struct fixture *f = *state;
	uint64_t before = maps_generation(f->maps);
	struct rng rng;
	void *code;

	rng_seed(&rng, 3);
	for (int i = 0; i < 100000; i++)
		assert_null(maps_find(f->maps, rng_next(&rng) | UINT64_C(1) << 62));
	assert_null(maps_find(f->maps, 0));
	assert_null(maps_find(f->maps, 1));
	assert_int_equal(maps_generation(f->maps), before);

	code = map_code(4096);
	assert_null(maps_find(f->maps, (uintptr_t)code));
	maps_tick(f->maps, 1);
	assert_non_null(maps_find(f->maps, (uintptr_t)code));
	munmap(code, 4096);
}

/* --- files ------------------------------------------------------------------------ */

/* A copy of the head of this program, 64 KiB, in a file of its own. */
static int
make_file(char *path)
{
	char *bytes = malloc(65536);
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = mkostemp(path, O_CLOEXEC);
	ssize_t n;

	assert_non_null(bytes);
	assert_true(from >= 0);
	assert_true(fd >= 0);
	n = read(from, bytes, 65536);
	assert_true(n > 4096);
	assert_int_equal(write(fd, bytes, (size_t)n), n);
	close(from);
	free(bytes);
	return fd;
}

static void *
map_file(int fd)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (code == MAP_FAILED) /* a file system mounted noexec */
		skip();
	return code;
}

static void
test_file_and_deleted_file(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/test_maps.XXXXXX";
	int fd = make_file(path);
	void *code = map_file(fd);
	const struct module *module = module_at(f, (uintptr_t)code);
	struct modules *fresh;

	assert_non_null(module);
	assert_string_equal(module->path, path);
	assert_int_equal(module->kind, MODULE_FILE);
	assert_false(module->deleted);

	/* The same file keeps its number when it is deleted. */
	assert_int_equal(unlink(path), 0);
	maps_refresh(f->maps);
	assert_ptr_equal(module_at(f, (uintptr_t)code), module);

	/* Seen for the first time when it has gone already. */
	maps_free(f->maps);
	fresh = modules_create();
	modules_free(f->modules);
	f->modules = fresh;
	f->maps = maps_create(f->process, fresh);
	module = module_at(f, (uintptr_t)code);
	assert_non_null(module);
	assert_true(module->deleted);
	assert_string_equal(module->path, path);
	if (module->kind == MODULE_OTHER)
		assert_non_null(strstr(module->why, "deleted"));
	else
		assert_non_null(module->image);
	munmap(code, 4096);
	close(fd);
}

static void
test_no_elf(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/test_maps.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	const struct mapping *mapping;
	const struct module *module;
	void *code;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 3 * 4096), 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 8192);
	unlink(path);
	if (code == MAP_FAILED)
		skip();
	mapping = maps_find(f->maps, (uintptr_t)code + 5);
	assert_non_null(mapping);
	assert_null(mapping->image);
	assert_int_equal((uintptr_t)code + 5 - mapping->bias, 8197);
	module = modules_get(f->modules, mapping->module);
	assert_int_equal(module->kind, MODULE_OTHER);
	assert_non_null(module->why);
	munmap(code, 4096);
	close(fd);
}

/* Only regular files are opened, whatever the target maps. */
static void
test_device(void **state)
{
	struct fixture *f = *state;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	const struct module *module;

	close(fd);
	if (code == MAP_FAILED)
		skip();
	module = module_at(f, (uintptr_t)code);
	assert_non_null(module);
	assert_int_equal(module->kind, MODULE_OTHER);
	assert_string_equal(module->why, "not a regular file");
	munmap(code, 4096);
}

/*
 * Where mappings show other numbers than stat does, as on overlayfs, the bytes decide.
 * A part of a mapping is in no map_files, so that the path is all there is.
 */
static void
test_other_numbers(void **state)
{
	struct fixture *f = *state;
	const struct mapping *mapping =
		maps_find(f->maps, (uintptr_t)dlsym(RTLD_DEFAULT, "getppid"));
	const struct module *module;
	struct maps_line line;

	assert_non_null(mapping);
	module = modules_get(f->modules, mapping->module);
	if (!module->image || mapping->end - mapping->start < 4 * 65536)
		skip();
	line = (struct maps_line){
		.start = mapping->start + 65536,
		.end = mapping->end - 65536,
		.offset = mapping->offset + 65536,
		.dev = module->dev,
		.inode = module->inode + 1,
		.path = module->path,
	};
	module = modules_get(f->modules, modules_add(f->modules, f->process, &line, true));
	assert_int_equal(module->kind, MODULE_FILE);
	assert_non_null(module->image);

	line.inode++;
	line.offset += 4096;
	module = modules_get(f->modules, modules_add(f->modules, f->process, &line, true));
	assert_int_equal(module->kind, MODULE_OTHER);
	assert_null(module->image);
	assert_non_null(module->why);

	/* An address that is not there at all. */
	line.inode++;
	line.start = 4096;
	line.end = 8192;
	module = modules_get(f->modules, modules_add(f->modules, f->process, &line, true));
	assert_int_equal(module->kind, MODULE_OTHER);
	assert_null(module->image);
}

/* --- other processes -------------------------------------------------------------- */

/* A child that sleeps until it is killed; `user` 0 keeps ours. */
static pid_t
start_child(uid_t user)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (user != 0 && (setresgid(user, user, user) != 0 ||
				  setresuid(user, user, user) != 0))
			_exit(1);
		/* A change of user clears both. */
		prctl(PR_SET_DUMPABLE, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void
end_child(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
test_process_that_has_gone(void **state)
{
	pid_t pid = start_child(0);
	struct fixture f;
	size_t count;

	(void)state;
	fixture_open(&f, pid);
	count = maps_count(f.maps);
	assert_true(count > 0);
	end_child(pid);
	/* Its last snapshots may still be unwound, and wild addresses do no harm. */
	maps_refresh(f.maps);
	assert_int_equal(maps_count(f.maps), count);
	assert_non_null(maps_find(f.maps, (uintptr_t)&start_child));
	assert_null(maps_find(f.maps, 64));
	maps_free(f.maps);
	f.maps = maps_create(f.process, f.modules);
	assert_int_equal(maps_count(f.maps), 0);
	assert_null(maps_find(f.maps, (uintptr_t)&start_child));
	fixture_close(&f);
}

static bool
has_image(const struct fixture *f, uint64_t address)
{
	const struct mapping *mapping = maps_find(f->maps, address);

	return mapping && mapping->image;
}

/*
 * Runs in a process of its own, as an ordinary user; the exit status is the verdict. The
 * program itself must be found even where its path may not be read.
 */
static int
look_as_nobody(pid_t pid)
{
	struct fixture f;
	int verdict = 0;

	if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0 ||
	    process_open(pid, &f.process, NULL) != 0)
		return 1;
	f.modules = modules_create();
	f.maps = maps_create(f.process, f.modules);
	if (!has_image(&f, (uintptr_t)&look_as_nobody))
		verdict = 2;
	if (!has_image(&f, (uintptr_t)dlsym(RTLD_DEFAULT, "getppid")))
		verdict = 3;
	fixture_close(&f);
	return verdict;
}

static void
test_without_privileges(void **state)
{
	pid_t target, looker;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	target = start_child(NOBODY);
	looker = fork();
	assert_true(looker >= 0);
	if (looker == 0)
		_exit(look_as_nobody(target));
	assert_int_equal(waitpid(looker, &status, 0), looker);
	end_child(target);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* As on a kernel that answers no questions: all ioctls are refused. */
static bool
refuse_ioctl(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static int
look_without_queries(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	struct fixture f;
	uint64_t code;

	if (process_open(getpid(), &f.process, NULL) != 0)
		return 1;
	f.modules = modules_create();
	f.maps = maps_create(f.process, f.modules);
	code = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, -1, 0);
	/* The first look of a tick reads all, the next ones none. */
	if (!maps_find(f.maps, code))
		return 2;
	code = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, -1, 0);
	if (maps_find(f.maps, code))
		return 3;
	maps_tick(f.maps, 1);
	if (!maps_find(f.maps, code) || maps_find(f.maps, 64))
		return 4;
	fixture_close(&f);
	return 0;
}

static void
test_without_queries(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(refuse_ioctl() ? look_without_queries() : 77);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- the text ----------------------------------------------------------------------- */

static void
test_parse(void **state)
{
	struct maps_line line;

	(void)state;
	assert_true(maps_source_parse("7f0012345000-7f0012346000 r-xp 0000a000 fe:1a 4711"
				      "                     /usr/lib/a b.so (deleted)", &line));
	assert_int_equal(line.start, UINT64_C(0x7f0012345000));
	assert_int_equal(line.end, UINT64_C(0x7f0012346000));
	assert_int_equal(line.offset, 0xa000);
	assert_int_equal(line.dev, makedev(0xfe, 0x1a));
	assert_int_equal(line.inode, 4711);
	assert_string_equal(line.path, "/usr/lib/a b.so (deleted)");
	assert_true(maps_source_parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0"
				      "                  [vsyscall]", &line));
	assert_string_equal(line.path, "[vsyscall]");
	assert_true(maps_source_parse("1000-2000 rwxp 00000000 00:00 0 ", &line));
	assert_string_equal(line.path, "");
	assert_true(maps_source_parse("1000-2000 rwxp 00000000 00:00 0", &line));
	assert_string_equal(line.path, "");
}

static void
test_parse_hostile(void **state)
{
	static const char *const lines[] = {
		"", " ", "-", "1000", "1000-", "1000-2000", "1000-2000 ", "1000-2000 r-x",
		"1000-2000 r-xp", "1000-2000 r-xp ", "1000-2000 r-xp 0", "1000-2000 r-xp 0 0:0",
		"1000-2000 r-xp 0 0:0 ", "1000-2000 r-xp 0 0:0 x", "1000-2000 r-xp 0 0:0 1/x",
		"2000-1000 r-xp 0 0:0 1 /x", "1000-1000 r-xp 0 0:0 1 /x",
		"1000-2000 r--p 0 0:0 1 /x", "1000-2000 r-xpp 0 0:0 1 /x",
		"1000-2000 r-xp 0 123456789:0 1 /x", "10000000000000000-2000 r-xp 0 0:0 1 /x",
		"1000-2000 r-xp 0 0:0 99999999999999999999 /x", " 1000-2000 r-xp 0 0:0 1 /x",
		"/usr/lib r-xp", "1000-2000 r-xp -1 0:0 1 /x", "1000 2000 r-xp 0 0:0 1 /x",
	};
	struct maps_line line;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_false(maps_source_parse(lines[i], &line));
}

static void
count_line(void *context, const struct maps_line *line)
{
	(void)line;
	(*(int *)context)++;
}

/* A line longer than any buffer is passed over, and the ones beside it are not. */
static void
test_long_line(void **state)
{
	static const char good[] = "1000-2000 r-xp 0 0:0 1 /x\n";
	int fd = memfd_create("maps", MFD_CLOEXEC), count = 0;
	char *filler = malloc(300000);

	(void)state;
	assert_true(fd >= 0);
	assert_non_null(filler);
	memset(filler, 'a', 300000);
	memcpy(filler, good, strlen(good) - 1);
	filler[299999] = '\n';
	assert_true(write(fd, good, strlen(good)) > 0);
	assert_int_equal(write(fd, filler, 300000), 300000);
	for (int i = 0; i < 10000; i++)
		assert_true(write(fd, good, strlen(good)) > 0);
	assert_true(write(fd, good, 5) > 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_true(maps_source_read(fd, count_line, &count));
	assert_int_equal(count, 10001);
	assert_false(maps_source_read(fd, count_line, &count));
	close(fd);
	free(filler);
}

/* Where the kernel answers for one address, it says the same as its text. */
static void
check_query(void *context, const struct maps_line *line)
{
	int fd = *(int *)context;
	struct maps_line answer;
	char path[PATH_MAX];
	enum maps_query end = maps_source_query(fd, line->start + 1, &answer, path);

	/* The page of vsyscall is in the text and in no list of mappings. */
	if (end == MAPS_QUERY_UNSUPPORTED || strcmp(line->path, "[vsyscall]") == 0)
		return;
	assert_int_equal(end, MAPS_QUERY_FOUND);
	assert_int_equal(answer.start, line->start);
	assert_int_equal(answer.end, line->end);
	assert_int_equal(answer.offset, line->offset);
	assert_int_equal(answer.dev, line->dev);
	assert_int_equal(answer.inode, line->inode);
	assert_string_equal(answer.path, line->path);
}

static void
test_query_agrees_with_text(void **state)
{
	struct fixture *f = *state;
	int text = maps_source_open(f->process), query = maps_source_open(f->process);

	assert_true(text >= 0);
	assert_true(query >= 0);
	assert_true(maps_source_read(text, check_query, &query));
	close(text);
	close(query);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_agrees_with_linker),
		TEST(test_own_function),
		TEST(test_sorted),
		TEST(test_vdso),
		TEST(test_library_that_comes_later),
		TEST(test_anonymous_code),
		TEST(test_grown_mapping_replaces),
		TEST(test_generation),
		TEST(test_tick_reads_when_due),
		TEST(test_wild_addresses),
		TEST(test_file_and_deleted_file),
		TEST(test_no_elf),
		TEST(test_device),
		TEST(test_other_numbers),
		cmocka_unit_test(test_process_that_has_gone),
		cmocka_unit_test(test_without_privileges),
		cmocka_unit_test(test_without_queries),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_hostile),
		cmocka_unit_test(test_long_line),
		TEST(test_query_agrees_with_text),
	};

	return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
