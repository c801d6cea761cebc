/* SPDX-License-Identifier: MIT */
/*
 * brink.c - a busy thread whose stack ends where memory begins that has no pages yet, and that
 * gets them from this very thread: userfaultfd(2).
 *
 * Counters: 0 its turns; 1 is 1 if it can be had here, and the kernel can be asked where a
 * mapping ends.
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "target.h"

#define STACK_BYTES ((size_t)64 << 10)
#define RANGE_BYTES ((size_t)1 << 20)
#define TURN 2000

void brink_f0(void), brink_leaf(void);

static struct target_counters *counters;
static int faults;

static void
provide_page(void)
{
	static char zeros[4096] __attribute__((aligned(4096)));
	struct uffd_msg message;

	if (read(faults, &message, sizeof(message)) != (ssize_t)sizeof(message) ||
	    message.event != UFFD_EVENT_PAGEFAULT)
		return;
	struct uffdio_copy copy = {
		.dst = message.arg.pagefault.address & ~(sizeof(zeros) - 1),
		.src = (uintptr_t)zeros,
		.len = sizeof(zeros),
	};
	ioctl(faults, UFFDIO_COPY, &copy);
}

FRAME void
brink_leaf(void)
{
	target_here();
	for (;;) {
		counters->value[0]++;
		provide_page();
		for (volatile int i = 0; i < TURN; i++)
			;
	}
}

FRAME void
brink_f0(void)
{
	brink_leaf();
	KEEP_FRAME();
}

/* Faults of others than this process are to be told, too: that takes a privilege. */
static bool
watch_range(void *range)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register wanted = {
		.range = {(uintptr_t)range, RANGE_BYTES},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	return faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0 &&
	       ioctl(faults, UFFDIO_REGISTER, &wanted) == 0;
}

/* PROCMAP_QUERY of Linux 6.11: a question of no size is refused, not unknown. */
static bool
knows_procmap_query(void)
{
	struct {
		uint64_t size, words[12];
	} question = {.size = 0};
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool known = maps >= 0 && (ioctl(maps, _IOWR('f', 17, question), &question) == 0 ||
				   (errno != ENOTTY && errno != ENOSYS));

	close(maps);
	return known;
}

static struct target_thread self = {.name = "edge", .run = brink_f0};

int
main(void)
{
	char *both = mmap(NULL, STACK_BYTES + RANGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;

	counters = target_counters();
	if (both == MAP_FAILED)
		target_fail("mmap");
	counters->value[1] = watch_range(both + STACK_BYTES) && knows_procmap_query();
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, both, STACK_BYTES);
	if (pthread_create(&self.thread, &attr, target_thread_main, &self) != 0)
		target_fail("pthread_create");
	target_wait(&self, 1);
	target_ready();
	while (target_told())
		;
	_exit(0);
}
