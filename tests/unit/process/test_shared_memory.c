/* SPDX-License-Identifier: MIT */
/*
 * test_shared_memory.c - the places of addresses in shared memory of this process and of children,
 * asked of the kernel and read from a copy of its text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../scene/proc_folder.h"
#include "../scene/sleeping_child.h"
#include "wallsample/process/shared_memory.h"

#define PAGE 4096
#define SIZE (4 * PAGE)
/* A time after which each budget has passed. */
#define LATER (100000 * NS_PER_SEC)

static uint64_t
address_of(const void *at)
{
	return (uintptr_t)at;
}

/* The text and the namespace of a real process, which a kernel without queries shows. */
static void
folder_copy(struct proc_folder *folder, const struct process *process)
{
	char link[64] = "";
	size_t length;
	char *text;

	proc_folder_make(folder);
	text = file_read_text(process->dirfd, "maps", 16 << 20, &length);
	assert_non_null(text);
	proc_folder_write(folder, text, length);
	free(text);
	assert_true(readlinkat(process->dirfd, "ns/ipc", link, sizeof(link) - 1) > 0);
	assert_int_equal(mkdirat(folder->process.dirfd, "ns", 0700), 0);
	assert_int_equal(symlinkat(link, folder->process.dirfd, "ns/ipc"), 0);
}

/* --- places ----------------------------------------------------------------------------------- */

struct found {
	bool shared;
	struct shared_place place;
	char path[PATH_MAX];
};

static void
find_in(const struct process *process, uint64_t address, struct found *found)
{
	struct shared_memory *memory = shared_memory_create(process);

	memset(found, 0, sizeof(*found));
	found->shared = shared_place(memory, address, LATER, &found->place);
	if (found->shared)
		snprintf(found->path, sizeof(found->path), "%s", found->place.path);
	found->place.path = found->path;
	shared_memory_free(memory);
}

static bool
same_object(const struct shared_object *a, const struct shared_object *b)
{
	return a->kind == b->kind && a->dev == b->dev && a->inode == b->inode && a->ipc == b->ipc;
}

/* Finds the place twice: from the process, and from a copy of its text. */
static void
find(const struct process *process, uint64_t address, struct found *found)
{
	struct proc_folder folder;
	struct found of_text;

	folder_copy(&folder, process);
	find_in(process, address, found);
	find_in(&folder.process, address, &of_text);
	proc_folder_remove(&folder);
	assert_int_equal(found->shared, of_text.shared);
	if (!found->shared)
		return;
	assert_true(same_object(&found->place.object, &of_text.place.object));
	assert_true(found->place.offset == of_text.place.offset);
	assert_string_equal(found->path, of_text.path);
}

static struct process *
open_self(void)
{
	struct process *self;
	struct error err;

	assert_int_equal(process_open(getpid(), &self, &err), 0);
	return self;
}

static void
find_own(const void *at, struct found *found)
{
	struct process *self = open_self();

	find(self, address_of(at), found);
	process_free(self);
}

static void
assert_text(struct shared_names *names, const struct found *found, const char *wanted)
{
	struct strbuf text = STRBUF_INIT;

	assert_true(found->shared);
	shared_names_add(names, &found->place, &text);
	assert_string_equal(text.data, wanted);
	strbuf_release(&text);
}

static void
assert_alone(const struct found *found, const char *wanted)
{
	struct shared_names *names = shared_names_create();

	assert_text(names, found, wanted);
	shared_names_free(names);
}

/* --- children --------------------------------------------------------------------------------- */

/* What a child maps: set before the fork. */
static int child_fd = -1, child_segment = -1;
static off_t child_offset;

static void
map_and_wait(int in, int out)
{
	void *at;
	char byte;

	if (child_segment >= 0)
		at = shmat(child_segment, NULL, 0);
	else
		at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, child_fd, child_offset);
	if (write(out, &at, sizeof(at)) != sizeof(at))
		_exit(1);
	while (read(in, &byte, 1) > 0)
		continue;
}

/* Starts a child that maps the file from the offset on, or the segment, and returns the address. */
static uint64_t
child_start(struct sleeping_child *child, int fd, off_t offset, int segment)
{
	void *at;

	child_fd = fd;
	child_offset = offset;
	child_segment = segment;
	sleeping_child_start(child, map_and_wait);
	assert_int_equal(read(child->from, &at, sizeof(at)), sizeof(at));
	assert_ptr_not_equal(at, MAP_FAILED);
	return address_of(at);
}

static void
wait_only(int in, int out)
{
	char byte;

	if (write(out, "r", 1) != 1)
		_exit(1);
	while (read(in, &byte, 1) > 0)
		continue;
}

/* --- files ------------------------------------------------------------------------------------ */

static int
make_file(char path[64])
{
	int fd;

	snprintf(path, 64, "/tmp/test_shared_memory.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 * SIZE), 0);
	return fd;
}

static char *
map_file(int fd, off_t offset)
{
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

/* One page of a file, at different addresses in this process and in two processes. */
static void
test_file(void **state)
{
	struct found whole, second, of_child;
	struct sleeping_child child;
	char path[64], wanted[96];
	const int fd = make_file(path);
	char *at = map_file(fd, 0), *behind = map_file(fd, PAGE);
	struct stat st;
	uint64_t in_child;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	in_child = child_start(&child, fd, 2 * PAGE, -1);
	find_own(at + 2 * PAGE + 16, &whole);
	find_own(behind + PAGE + 16, &second);
	find(child.process, in_child + 16, &of_child);
	assert_true(whole.shared && second.shared && of_child.shared);
	assert_int_equal(whole.place.object.kind, SHARED_FILE);
	assert_int_equal(whole.place.object.inode, st.st_ino);
	assert_int_equal(whole.place.offset, 2 * PAGE + 16);
	assert_true(same_object(&whole.place.object, &second.place.object));
	assert_true(same_object(&whole.place.object, &of_child.place.object));
	assert_int_equal(second.place.offset, whole.place.offset);
	assert_int_equal(of_child.place.offset, whole.place.offset);
	snprintf(wanted, sizeof(wanted), "0x2010 in %s", path);
	assert_alone(&whole, wanted);
	sleeping_child_release(&child);
	munmap(at, SIZE);
	munmap(behind, SIZE);
	close(fd);
	unlink(path);
}

/* A deleted file, and the one that replaces it. */
static void
test_replaced(void **state)
{
	struct shared_names *names = shared_names_create();
	struct found first, deleted, second;
	char path[64], wanted[160];
	int fd = make_file(path);
	char *old = map_file(fd, 0), *new;

	(void)state;
	find_own(old, &first);
	snprintf(wanted, sizeof(wanted), "0x0 in %s", path);
	assert_text(names, &first, wanted);
	assert_int_equal(unlink(path), 0);
	find_own(old, &deleted);
	assert_true(same_object(&first.place.object, &deleted.place.object));
	assert_string_not_equal(first.path, deleted.path);
	/* It keeps the name by which it is known. Alone it has that of the text. */
	assert_text(names, &deleted, wanted);
	snprintf(wanted, sizeof(wanted), "0x0 in %s (deleted)", path);
	assert_alone(&deleted, wanted);
	close(fd);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	new = map_file(fd, 0);
	find_own(new, &second);
	assert_string_equal(second.path, first.path);
	assert_false(same_object(&first.place.object, &second.place.object));
	snprintf(wanted, sizeof(wanted), "0x0 in %s (inode %" PRIu64 " of device %u:%u)", path,
		 second.place.object.inode, major(second.place.object.dev),
		 minor(second.place.object.dev));
	assert_text(names, &second, wanted);
	assert_text(names, &second, wanted);
	shared_names_free(names);
	munmap(old, SIZE);
	munmap(new, SIZE);
	close(fd);
	unlink(path);
}

/* glibc's name of a semaphore, in the process that creates it and in one that opens it. */
static void
test_named_semaphore(void **state)
{
	struct shared_names *names = shared_names_create();
	struct found found, opened, behind;
	char name[64], path[96], wanted[PATH_MAX + 16];
	sem_t *semaphore;
	int fd;

	(void)state;
	snprintf(name, sizeof(name), "/test_shared_memory-%d", (int)getpid());
	semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	if (semaphore == SEM_FAILED) {
		print_message("there is no /dev/shm\n");
		skip();
	}
	snprintf(path, sizeof(path), "/dev/shm/sem.%s", name + 1);
	find_own(semaphore, &found);
	find_own((char *)semaphore + 4, &behind);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	find_own(map_file(fd, 0), &opened);
	assert_true(same_object(&found.place.object, &opened.place.object));
	assert_string_equal(opened.path, path);
	assert_text(names, &found, name);
	assert_text(names, &opened, name);
	assert_alone(&opened, name);
	snprintf(wanted, sizeof(wanted), "0x4 in %s", path);
	assert_alone(&behind, wanted);
	sem_close(semaphore);
	sem_unlink(name);
	/* Its name cannot be found any more. */
	snprintf(wanted, sizeof(wanted), "0x0 in %s", found.path);
	assert_alone(&found, wanted);
	shared_names_free(names);
	close(fd);
}

static void
test_posix_shared_memory(void **state)
{
	char name[64], wanted[96];
	struct found found;
	char *at;
	int fd;

	(void)state;
	snprintf(name, sizeof(name), "/test_shared_memory-%d", (int)getpid());
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0) {
		print_message("there is no /dev/shm\n");
		skip();
	}
	assert_int_equal(ftruncate(fd, SIZE), 0);
	at = map_file(fd, 0);
	find_own(at + 0x1a40, &found);
	shm_unlink(name);
	munmap(at, SIZE);
	close(fd);
	snprintf(wanted, sizeof(wanted), "0x1a40 in /dev/shm%s", name);
	assert_alone(&found, wanted);
}

/* --- memory without a file -------------------------------------------------------------------- */

static void
test_memfd(void **state)
{
	const int fd = memfd_create("jobs", MFD_CLOEXEC), nameless = memfd_create("", MFD_CLOEXEC);
	struct found found, of_child, other;
	struct sleeping_child child;
	char *at, *beside;

	(void)state;
	assert_true(fd >= 0 && nameless >= 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	assert_int_equal(ftruncate(nameless, SIZE), 0);
	at = map_file(fd, 0);
	beside = map_file(nameless, 0);
	const uint64_t in_child = child_start(&child, fd, PAGE, -1);
	find_own(at + PAGE + 0x80, &found);
	find(child.process, in_child + 0x80, &of_child);
	find_own(beside, &other);
	assert_int_equal(found.place.object.kind, SHARED_MEMFD);
	assert_true(same_object(&found.place.object, &of_child.place.object));
	assert_int_equal(of_child.place.offset, found.place.offset);
	assert_alone(&of_child, "0x1080 in memfd jobs");
	assert_alone(&other, "0x0 in memfd");
	sleeping_child_release(&child);
	munmap(at, SIZE);
	munmap(beside, SIZE);
	close(fd);
	close(nameless);
}

static void
test_system_v(void **state)
{
	const int segment = shmget(IPC_PRIVATE, SIZE, 0600);
	const int other = shmget(IPC_PRIVATE, SIZE, 0600);
	struct sleeping_child child, child_of_other;
	struct found found, of_child, of_other;
	uint64_t in_child, in_other;
	char wanted[64];
	char *at;

	(void)state;
	if (segment < 0 || other < 0) {
		print_message("System V shared memory is not permitted here\n");
		skip();
	}
	in_child = child_start(&child, -1, 0, segment);
	in_other = child_start(&child_of_other, -1, 0, other);
	at = shmat(segment, NULL, 0);
	shmctl(segment, IPC_RMID, NULL);
	shmctl(other, IPC_RMID, NULL);
	assert_ptr_not_equal(at, (void *)-1);
	find_own(at + 0x80, &found);
	find(child.process, in_child + 0x80, &of_child);
	find(child_of_other.process, in_other + 0x80, &of_other);
	assert_int_equal(found.place.object.kind, SHARED_SYSTEM_V);
	assert_int_equal(found.place.object.inode, segment);
	assert_true(found.place.object.ipc != 0);
	assert_true(same_object(&found.place.object, &of_child.place.object));
	assert_false(same_object(&found.place.object, &of_other.place.object));
	snprintf(wanted, sizeof(wanted), "0x80 in shared memory %d (System V)", segment);
	assert_alone(&of_child, wanted);
	assert_true(shared_object_may_be_mapped(child.pid, &found.place.object));
	assert_false(shared_object_may_be_mapped(child_of_other.pid, &found.place.object));
	sleeping_child_release(&child);
	sleeping_child_release(&child_of_other);
	shmdt(at);
}

/* Memory that a child has by fork, at the same address, and two areas of it. */
static void
test_anonymous(void **state)
{
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *beside = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct shared_names *names = shared_names_create();
	struct found found, of_child, other;
	struct strbuf text = STRBUF_INIT;
	struct sleeping_child child;

	(void)state;
	assert_true(at != MAP_FAILED && beside != MAP_FAILED);
	sleeping_child_start(&child, wait_only);
	sleeping_child_hear(&child);
	find_own(at + PAGE + 8, &found);
	find(child.process, address_of(at) + PAGE + 8, &of_child);
	find_own(beside + 8, &other);
	assert_int_equal(found.place.object.kind, SHARED_ANONYMOUS);
	assert_int_equal(found.place.offset, PAGE + 8);
	assert_true(same_object(&found.place.object, &of_child.place.object));
	assert_false(same_object(&found.place.object, &other.place.object));
	assert_text(names, &found, "0x1008 in anonymous shared memory");
	assert_text(names, &of_child, "0x1008 in anonymous shared memory");
	shared_names_add(names, &other.place, &text);
	assert_true(strncmp(text.data, "0x8 in anonymous shared memory (inode ", 38) == 0);
	strbuf_release(&text);
	shared_names_free(names);
	sleeping_child_release(&child);
	munmap(at, SIZE);
	munmap(beside, SIZE);
}

static void
test_huge_pages(void **state)
{
	const size_t size = 2 << 20;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	struct found found;

	(void)state;
	if (at == MAP_FAILED) {
		print_message("no huge pages are reserved here\n");
		skip();
	}
	find_own(at + 0x11040, &found);
	assert_int_equal(found.place.object.kind, SHARED_ANONYMOUS);
	assert_alone(&found, "0x11040 in anonymous shared memory");
	munmap(at, size);
}

/* --- what is not shared ----------------------------------------------------------------------- */

static void
test_private(void **state)
{
	char path[64];
	const int fd = make_file(path);
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	char *gone = map_file(fd, 0);
	static int data;
	struct found found;
	int local = 0;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	munmap(gone, SIZE);
	const void *const addresses[] = { at, gone, &data, &local, NULL, (void *)UINTPTR_MAX,
					  (void *)(uintptr_t)test_private };
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		find_own(addresses[i], &found);
		assert_false(found.shared);
	}
	munmap(at, SIZE);
	close(fd);
	unlink(path);
}

/* A futex is shared if its memory is, and the call has no FUTEX_PRIVATE_FLAG. */
static void
test_futex(void **state)
{
	uint32_t *in_shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				   -1, 0);
	struct process *self = open_self();
	struct shared_memory *memory = shared_memory_create(self);
	static uint32_t in_private;
	struct shared_place place;

	(void)state;
	assert_ptr_not_equal(in_shared, MAP_FAILED);
	assert_true(shared_place_of_futex(memory, address_of(in_shared + 3), false, LATER, &place));
	assert_int_equal(place.offset, 12);
	assert_false(shared_place_of_futex(memory, address_of(in_shared), true, LATER, &place));
	assert_false(shared_place_of_futex(memory, address_of(&in_private), false, LATER, &place));
	assert_false(shared_place_of_futex(memory, address_of(&in_private), true, LATER, &place));
	shared_memory_free(memory);
	process_free(self);
	munmap(in_shared, SIZE);
}

/* --- changes ---------------------------------------------------------------------------------- */

#define AGAIN "again" /* first argument of this program when it only maps memory */
#define FIXED ((void *)UINT64_C(0x10000000000))

static void
map_fixed_and_wait(int in, int out)
{
	const int fd = memfd_create("before", 0);
	char word[16], from[16], to[16];
	char byte;

	if (fd < 0 || ftruncate(fd, SIZE) != 0 ||
	    mmap(FIXED, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != FIXED ||
	    write(out, "r", 1) != 1 || read(in, &byte, 1) != 1)
		_exit(1);
	snprintf(word, sizeof(word), AGAIN);
	snprintf(from, sizeof(from), "%d", in);
	snprintf(to, sizeof(to), "%d", out);
	execl("/proc/self/exe", "test_shared_memory", word, from, to, NULL);
	_exit(1);
}

/* The program after its exec maps another object at the same address. */
static int
be_again(char **words)
{
	const int fd = memfd_create("after", 0), in = atoi(words[2]), out = atoi(words[3]);
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || ftruncate(fd, SIZE) != 0 ||
	    mmap(FIXED, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, PAGE) != FIXED ||
	    write(out, "r", 1) != 1)
		return 1;
	while (read(in, &byte, 1) > 0)
		continue;
	return 0;
}

static void
test_exec(void **state)
{
	struct shared_memory *memory;
	struct sleeping_child child;
	struct shared_place place;

	(void)state;
	sleeping_child_start(&child, map_fixed_and_wait);
	sleeping_child_hear(&child);
	memory = shared_memory_create(child.process);
	assert_true(shared_place(memory, address_of(FIXED), LATER, &place));
	assert_string_equal(place.path, "/memfd:before (deleted)");
	assert_int_equal(write(child.to, "g", 1), 1);
	sleeping_child_hear(&child);
	assert_true(shared_place(memory, address_of(FIXED), 3 * LATER, &place));
	assert_string_equal(place.path, "/memfd:after (deleted)");
	assert_int_equal(place.offset, PAGE);
	sleeping_child_kill(&child);
	assert_false(shared_place(memory, address_of(FIXED) + 2 * SIZE, 5 * LATER, &place));
	shared_memory_free(memory);
	sleeping_child_release(&child);
}

static void
test_may_be_mapped(void **state)
{
	struct sleeping_child child, other;
	char path[64];
	const int fd = make_file(path);
	struct found found;

	(void)state;
	const uint64_t at = child_start(&child, fd, 0, -1);
	sleeping_child_start(&other, wait_only);
	sleeping_child_hear(&other);
	find(child.process, at, &found);
	assert_true(shared_object_may_be_mapped(child.pid, &found.place.object));
	assert_false(shared_object_may_be_mapped(other.pid, &found.place.object));
	sleeping_child_release(&other);
	sleeping_child_release(&child);
	close(fd);
	unlink(path);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_named_semaphore),
		cmocka_unit_test(test_posix_shared_memory),
		cmocka_unit_test(test_memfd),
		cmocka_unit_test(test_system_v),
		cmocka_unit_test(test_anonymous),
		cmocka_unit_test(test_huge_pages),
		cmocka_unit_test(test_private),
		cmocka_unit_test(test_futex),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_may_be_mapped),
	};

	if (argc == 4 && strcmp(argv[1], AGAIN) == 0)
		return be_again(argv);
	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
