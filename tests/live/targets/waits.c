/* SPDX-License-Identifier: MIT */
/*
 * waits.c - a thread in each kind of wait.
 *
 * Told a line, it says for each thread "NAME TID KIND OBJECT HOLDER TIMED FD", then "end". KIND
 * is a name of enum wait_kind; OBJECT is an address or 0, "?" where it cannot be known from here;
 * HOLDER is "none", a tid, "gone" or "readers:N"; FD is a descriptor or -1.
 */
#include <semaphore.h>

#include "waits.h"

/* linux/futex.h, which musl-gcc does not find. */
#define FUTEX_WAIT 0
#define FUTEX_WAIT_BITSET 9
#define FUTEX_PRIVATE 128
#define FUTEX_ANY_BIT 0xffffffffu

#define ANY UINT64_MAX
#define HOLDER_NONE 0
#define HOLDER_GONE (-1)
#define HOLDER_READERS (-100) /* and below: their number more */

/* What a thread says of itself before it sleeps. */
struct claim {
	const char *kind;
	uint64_t object;
	int holder;
	bool timed;
	int fd;
};

struct waiter {
	const char *name;
	void (*run)(void);
	void *object;
	const char *kind;
};

#define MOST 128
static struct target_thread threads[MOST];
static struct waiter waiters[MOST];
static struct claim claims[MOST];
static size_t count;
static int holder_tid;
static struct target_thread holders[3];

#ifdef __GLIBC__
#define ON_GLIBC(yes, no) (yes)
#else
#define ON_GLIBC(yes, no) (no)
#endif

static const struct waiter *
own(void)
{
	return &waiters[target_self - threads];
}

static uint64_t
address_of(const volatile void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void
claim(const char *kind, uint64_t object, int holder, bool timed, int fd)
{
	claims[target_self - threads] = (struct claim){kind, object, holder, timed, fd};
	target_here();
}

__attribute__((noreturn)) static void
returned(void)
{
	fprintf(stderr, "waits: %s has returned: %s\n", own()->name, strerror(errno));
	_exit(97);
}

/* --- mutexes -------------------------------------------------------------------------- */

static pthread_mutex_t normal, recursive, errorcheck, adaptive, robust, robust_recursive,
	robust_errorcheck, inheriting, inheriting_recursive, inheriting_robust, shared, left,
	left_recursive, relocked;

static void
make_mutex(pthread_mutex_t *mutex, int type, int robustness, int protocol, int sharing)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robustness);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setpshared(&attr, sharing);
	if (pthread_mutex_init(mutex, &attr) != 0)
		target_fail("pthread_mutex_init");
}

static void
make_mutexes(void)
{
	const int plain = PTHREAD_MUTEX_NORMAL, again = PTHREAD_MUTEX_RECURSIVE,
		  checked = PTHREAD_MUTEX_ERRORCHECK, stalled = PTHREAD_MUTEX_STALLED,
		  strong = PTHREAD_MUTEX_ROBUST, none = PTHREAD_PRIO_NONE,
		  inherit = PTHREAD_PRIO_INHERIT;

	make_mutex(&normal, plain, stalled, none, 0);
	make_mutex(&recursive, again, stalled, none, 0);
	make_mutex(&errorcheck, checked, stalled, none, 0);
#ifdef __GLIBC__
	make_mutex(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, stalled, none, 0);
#endif
	make_mutex(&robust, plain, strong, none, 0);
	make_mutex(&robust_recursive, again, strong, none, 0);
	make_mutex(&robust_errorcheck, checked, strong, none, 0);
	make_mutex(&inheriting, plain, stalled, inherit, 0);
	make_mutex(&inheriting_recursive, again, stalled, inherit, 0);
	make_mutex(&inheriting_robust, plain, strong, inherit, 0);
	make_mutex(&shared, plain, stalled, none, PTHREAD_PROCESS_SHARED);
	make_mutex(&left, plain, stalled, none, 0);
	make_mutex(&left_recursive, again, stalled, none, 0);
	make_mutex(&relocked, plain, stalled, none, 0);
}

/* musl's normal mutexes do not say whose they are. */
static int
mutex_holder(void)
{
	const bool says = ON_GLIBC(true, strcmp(own()->kind, "MUTEX") != 0);

	if (!says)
		return HOLDER_NONE;
	return own()->object == &left || own()->object == &left_recursive ? HOLDER_GONE
									  : holder_tid;
}

static void
wait_mutex(void)
{
	claim(own()->kind, address_of(own()->object), mutex_holder(), false, -1);
	pthread_mutex_lock(own()->object);
	returned();
}

static void
wait_mutex_timed(void)
{
	const struct timespec until = far(CLOCK_REALTIME);

	claim(own()->kind, address_of(own()->object), mutex_holder(), true, -1);
	pthread_mutex_timedlock(own()->object, &until);
	returned();
}

#ifdef __GLIBC__
static void
wait_mutex_clock(void)
{
	const struct timespec until = far(CLOCK_MONOTONIC);

	claim(own()->kind, address_of(own()->object), mutex_holder(), true, -1);
	pthread_mutex_clocklock(own()->object, CLOCK_MONOTONIC, &until);
	returned();
}
#endif

/* --- rwlocks -------------------------------------------------------------------------- */

static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER,
			written_left = PTHREAD_RWLOCK_INITIALIZER,
			read_twice = PTHREAD_RWLOCK_INITIALIZER, fair, written_shared;

static int
rwlock_holder(void)
{
	if (own()->object == &read_twice || own()->object == &fair)
		return HOLDER_READERS - (own()->object == &fair ? 1 : 2);
	if (ON_GLIBC(false, true))
		return HOLDER_NONE;
	return own()->object == &written_left ? HOLDER_GONE : holder_tid;
}

/* Behind a writer musl's readers and writers wait alike. */
static const char *
rwlock_kind(const char *kind)
{
	return ON_GLIBC(kind, own()->object == &read_twice ? kind : "FUTEX");
}

static void
wait_read(void)
{
	claim(rwlock_kind("RWLOCK_READ"), address_of(own()->object), rwlock_holder(), false, -1);
	pthread_rwlock_rdlock(own()->object);
	returned();
}

static void
wait_read_timed(void)
{
	const struct timespec until = far(CLOCK_REALTIME);

	claim(rwlock_kind("RWLOCK_READ"), address_of(own()->object), rwlock_holder(), true, -1);
	pthread_rwlock_timedrdlock(own()->object, &until);
	returned();
}

static void
wait_write(void)
{
	claim(rwlock_kind("RWLOCK_WRITE"), address_of(own()->object), rwlock_holder(), false, -1);
	pthread_rwlock_wrlock(own()->object);
	returned();
}

static void
wait_write_timed(void)
{
	const struct timespec until = far(CLOCK_REALTIME);

	claim(rwlock_kind("RWLOCK_WRITE"), address_of(own()->object), rwlock_holder(), true, -1);
	pthread_rwlock_timedwrlock(own()->object, &until);
	returned();
}

/* --- condition variables, semaphores, barriers ------------------------------------------- */

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, used = PTHREAD_COND_INITIALIZER,
		      relocking = PTHREAD_COND_INITIALIZER, monotonic, condition_shared;
static pthread_mutex_t beside = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool signalled;
static _Atomic int woken;

static uint64_t
condition_object(void)
{
	if (own()->object == &condition_shared)
		return address_of(own()->object);
	return ON_GLIBC(address_of(own()->object), 0);
}

static void
wait_condition(void)
{
	pthread_mutex_lock(&beside);
	claim("CONDITION", condition_object(), HOLDER_NONE, false, -1);
	pthread_cond_wait(own()->object, &beside);
	returned();
}

static void
wait_condition_timed(void)
{
	const struct timespec until =
		far(own()->object == &monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME);

	pthread_mutex_lock(&beside);
	claim("CONDITION", condition_object(), HOLDER_NONE, true, -1);
	pthread_cond_timedwait(own()->object, &beside, &until);
	returned();
}

/* One of several is woken, and waits elsewhere then. */
static void
wait_condition_used(void)
{
	pthread_mutex_lock(&beside);
	claim("CONDITION", condition_object(), HOLDER_NONE, false, -1);
	while (!signalled)
		pthread_cond_wait(own()->object, &beside);
	signalled = false;
	pthread_mutex_unlock(&beside);
	claim("SIGNAL", 0, HOLDER_NONE, false, -1);
	woken = target_self->tid;
	while (true)
		pause();
}

static void
wait_relocking(void)
{
	pthread_mutex_lock(&relocked);
	claim("MUTEX", address_of(&relocked), ON_GLIBC((int)getpid(), HOLDER_NONE), false, -1);
	pthread_cond_wait(&relocking, &relocked);
	returned();
}

static sem_t semaphore, semaphore_shared;

static void
wait_semaphore(void)
{
	claim("SEMAPHORE", address_of(own()->object), HOLDER_NONE, false, -1);
	while (sem_wait(own()->object) != 0 && errno == EINTR)
		;
	returned();
}

static void
wait_semaphore_timed(void)
{
	const struct timespec until = far(CLOCK_REALTIME);

	claim("SEMAPHORE", address_of(own()->object), HOLDER_NONE, true, -1);
	while (sem_timedwait(own()->object, &until) != 0 && errno == EINTR)
		;
	returned();
}

#ifdef __GLIBC__
static void
wait_condition_clock(void)
{
	const struct timespec until = far(CLOCK_MONOTONIC);

	pthread_mutex_lock(&beside);
	claim("CONDITION", condition_object(), HOLDER_NONE, true, -1);
	pthread_cond_clockwait(own()->object, &beside, CLOCK_MONOTONIC, &until);
	returned();
}

static void
wait_semaphore_clock(void)
{
	const struct timespec until = far(CLOCK_MONOTONIC);

	claim("SEMAPHORE", address_of(own()->object), HOLDER_NONE, true, -1);
	while (sem_clockwait(own()->object, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
		;
	returned();
}
#endif

static pthread_barrier_t barrier, barrier_again;

static void
wait_barrier(void)
{
	claim(ON_GLIBC("BARRIER", "FUTEX"), ON_GLIBC(address_of(own()->object), ANY),
	      HOLDER_NONE, false, -1);
	pthread_barrier_wait(own()->object);
	returned();
}

/* The second time. */
static void
wait_barrier_again(void)
{
	target_here();
	pthread_barrier_wait(&barrier_again);
	wait_barrier();
}

/* --- ends of threads, once, stdio, bare futexes -------------------------------------------- */

static pthread_t joined, joined_timed;
static int joined_tid, joined_timed_tid;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *file;
static int taken = 2, guard[2] __attribute__((aligned(8))) = {0x10100};

static void
wait_join(void)
{
	claim("JOIN", ANY, joined_tid, false, -1);
	pthread_join(joined, NULL);
	returned();
}

static void
wait_join_timed(void)
{
	const struct timespec until = far(CLOCK_REALTIME);

	claim("JOIN", ANY, joined_timed_tid, true, -1);
	pthread_timedjoin_np(joined_timed, NULL, &until);
	returned();
}

static void
park(void)
{
	claim("SIGNAL", 0, HOLDER_NONE, false, -1);
	while (true)
		pause();
}

static void
wait_inside_once(void)
{
	pthread_once(&once, park);
}

static void
wait_once(void)
{
	claim("FUTEX", address_of(&once), HOLDER_NONE, false, -1);
	pthread_once(&once, park);
	returned();
}

static void
wait_stdio(void)
{
#ifdef __GLIBC__
	const uint64_t lock = address_of(file->_lock);
#else
	const uint64_t lock = address_of(file) + 140; /* `lock` of struct _IO_FILE */
#endif

	claim("STDIO", lock, holder_tid, false, -1);
	flockfile(file);
	returned();
}

static void
wait_bare(void)
{
	const int command = strcmp(own()->kind, "FUTEX") == 0  ? FUTEX_WAIT_BITSET | FUTEX_PRIVATE
			    : strcmp(own()->kind, "ONCE") == 0 ? FUTEX_WAIT
							       : FUTEX_WAIT | FUTEX_PRIVATE;
	int *word = own()->object;

	claim(own()->kind, address_of(word), HOLDER_NONE, false, -1);
	while (syscall(SYS_futex, word, command, *word, NULL, NULL, FUTEX_ANY_BIT) != 0 &&
	       (errno == EINTR || errno == EAGAIN))
		;
	returned();
}

/* --- descriptors, time, signals, children -------------------------------------------------- */

static void
sleep_in(const char *kind, int fd, bool timed, int (*wait)(int fd), int handle)
{
	claim(kind, 0, HOLDER_NONE, timed, fd);
	while (wait(handle) < 0 && errno == EINTR)
		;
	returned();
}

static void
wait_descriptor(void)
{
	const struct descriptor_wait *wait = own()->object;
	const int handle = handle_of(wait->name);

	if (handle < 0)
		target_fail(wait->name);
	sleep_in(wait->kind, wait->has_fd ? handle : -1, wait->timed, wait->wait, handle);
}

/* --- putting them in place ------------------------------------------------------------------ */

/* Starts a thread and waits until it sleeps: who comes first is decided here. */
static struct target_thread *
add(const char *name, void (*run)(void), void *object, const char *kind)
{
	struct target_thread *thread = &threads[count];

	if (count == MOST)
		target_fail("too many threads");
	waiters[count] = (struct waiter){name, run, object, kind};
	*thread = (struct target_thread){.name = name, .run = run, .sleeps = true};
	count++;
	target_start(thread, 1, 0);
	target_wait(thread, 1);
	return thread;
}

/* Takes what others wait for; so does the first reader of `read_twice`, and ends. */
static void
hold(void)
{
	pthread_mutex_t *mutexes[] = {&normal, &recursive, &errorcheck, &robust,
				      &robust_recursive, &robust_errorcheck, &inheriting,
				      &inheriting_recursive, &inheriting_robust, &shared};

	for (size_t i = 0; i < sizeof(mutexes) / sizeof(mutexes[0]); i++)
		pthread_mutex_lock(mutexes[i]);
	if (ON_GLIBC(true, false))
		pthread_mutex_lock(&adaptive);
	pthread_mutex_lock(&recursive);
	pthread_rwlock_wrlock(&written);
	pthread_rwlock_wrlock(&written_shared);
	pthread_rwlock_rdlock(&read_twice);
	pthread_rwlock_rdlock(&fair);
	flockfile(file);
	target_here();
	while (true)
		pause();
}

static void
hold_and_leave(void)
{
	pthread_mutex_lock(&left);
	pthread_mutex_lock(&left_recursive);
	pthread_rwlock_wrlock(&written_left);
	pthread_rwlock_rdlock(&read_twice);
}

static void
make_objects(void)
{
	pthread_condattr_t condition_attr;
	pthread_rwlockattr_t rwlock_attr;

	make_mutexes();
	pthread_condattr_init(&condition_attr);
	pthread_condattr_setclock(&condition_attr, CLOCK_MONOTONIC);
	pthread_cond_init(&monotonic, &condition_attr);
	pthread_condattr_setclock(&condition_attr, CLOCK_REALTIME);
	pthread_condattr_setpshared(&condition_attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&condition_shared, &condition_attr);
	pthread_rwlockattr_init(&rwlock_attr);
#ifdef __GLIBC__
	pthread_rwlockattr_setkind_np(&rwlock_attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
	pthread_rwlock_init(&fair, &rwlock_attr);
	pthread_rwlockattr_init(&rwlock_attr);
	pthread_rwlockattr_setpshared(&rwlock_attr, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&written_shared, &rwlock_attr);
	pthread_barrier_init(&barrier, NULL, 3);
	pthread_barrier_init(&barrier_again, NULL, 2);
	sem_init(&semaphore, 0, 0);
	sem_init(&semaphore_shared, 1, 0);
	file = fopen("/dev/null", "w");
	if (file == NULL)
		target_fail("/dev/null");
}

static void
start_holders(void)
{
	holders[0] = (struct target_thread){.name = "leaves", .run = hold_and_leave};
	target_start(&holders[0], 1, 0);
	pthread_join(holders[0].thread, NULL);
	holders[1] = (struct target_thread){.name = "holder", .run = hold, .sleeps = true};
	target_start(&holders[1], 1, 0);
	target_wait(&holders[1], 1);
	holder_tid = holders[1].tid;
}

static void
add_mutexes(void)
{
	add("normal", wait_mutex, &normal, "MUTEX");
	add("recursive", wait_mutex, &recursive, "MUTEX_RECURSIVE");
	add("errorcheck", wait_mutex, &errorcheck, "MUTEX_ERRORCHECK");
	add("timed", wait_mutex_timed, &normal, "MUTEX");
	add("timed-rec", wait_mutex_timed, &recursive, "MUTEX_RECURSIVE");
	add("robust", wait_mutex, &robust, "MUTEX_ROBUST");
	add("robust-rec", wait_mutex, &robust_recursive, "MUTEX_ROBUST");
	add("robust-check", wait_mutex, &robust_errorcheck, "MUTEX_ROBUST");
	add("robust-timed", wait_mutex_timed, &robust, "MUTEX_ROBUST");
	add("pi", wait_mutex, &inheriting, "MUTEX_PI");
	add("pi-rec", wait_mutex, &inheriting_recursive, "MUTEX_PI");
	add("pi-robust", wait_mutex, &inheriting_robust, "MUTEX_PI");
	add("pi-timed", wait_mutex_timed, &inheriting, "MUTEX_PI");
	add("shared", wait_mutex, &shared, "MUTEX");
	add("shared-timed", wait_mutex_timed, &shared, "MUTEX");
	add("left", wait_mutex, &left, "MUTEX");
	add("left-rec", wait_mutex, &left_recursive, "MUTEX_RECURSIVE");
#ifdef __GLIBC__
	add("adaptive", wait_mutex, &adaptive, "MUTEX");
	add("clock", wait_mutex_clock, &errorcheck, "MUTEX_ERRORCHECK");
	add("pi-clock", wait_mutex_clock, &inheriting, "MUTEX_PI");
#endif
}

static void
add_rwlocks(void)
{
	add("rw-read", wait_read, &written, NULL);
	add("rw-read-timed", wait_read_timed, &written, NULL);
	add("rw-write", wait_write, &written, NULL);
	add("rw-write2", wait_write_timed, &written, NULL);
	add("rw-left", wait_read, &written_left, NULL);
	add("rw-readers", wait_write, &read_twice, NULL);
	add("rw-readers2", wait_write_timed, &read_twice, NULL);
	add("rw-shared", wait_read, &written_shared, NULL);
#ifdef __GLIBC__
	add("rw-fair", wait_write, &fair, NULL);
	add("rw-fair-read", wait_read, &fair, NULL);
#endif
}

/* Is its next wait one for a word of this lock? */
static bool
sleeps_within(int tid, const void *object, size_t size)
{
	char text[256];
	unsigned long long number, word;

	if (!target_is_asleep(tid))
		return false;
	target_read_task(tid, "syscall", text, sizeof(text));
	return sscanf(text, "%llu %llx", &number, &word) == 2 && word >= address_of(object) &&
	       word < address_of(object) + size;
}

static void
add_conditions(void)
{
	const struct target_thread *thread;

	for (int i = 0; i < 2; i++)
		add("cond", wait_condition, &condition, NULL);
	add("cond-timed", wait_condition_timed, &condition, NULL);
	add("cond-mono", wait_condition_timed, &monotonic, NULL);
	add("cond-shared", wait_condition, &condition_shared, NULL);
	/* One is woken, the other stays in the first group; who comes later is in the second. */
	add("cond-used", wait_condition_used, &used, NULL);
	add("cond-used", wait_condition_used, &used, NULL);
	pthread_mutex_lock(&beside);
	signalled = true;
	pthread_cond_signal(&used);
	pthread_mutex_unlock(&beside);
	while (woken == 0 || !target_is_asleep(woken))
		sched_yield();
	add("cond-group", wait_condition, &used, NULL);
	add("cond-group", wait_condition_timed, &used, NULL);
#ifdef __GLIBC__
	add("cond-clock", wait_condition_clock, &condition, NULL);
#endif
	thread = add("relocking", wait_relocking, NULL, NULL);
	pthread_mutex_lock(&relocked);
	pthread_cond_broadcast(&relocking);
	while (!sleeps_within(thread->tid, &relocked, sizeof(relocked)))
		sched_yield();
}

static void
add_others(void)
{
	struct target_thread *thread;

	for (int i = 0; i < 3; i++)
		add("sem", wait_semaphore, &semaphore, NULL);
	add("sem-timed", wait_semaphore_timed, &semaphore, NULL);
	add("sem-shared", wait_semaphore, &semaphore_shared, NULL);
#ifdef __GLIBC__
	add("sem-clock", wait_semaphore_clock, &semaphore, NULL);
#endif
	add("barrier", wait_barrier, &barrier, NULL);
	add("barrier", wait_barrier, &barrier, NULL);
	thread = add("barrier-again", wait_barrier_again, &barrier_again, NULL);
	thread->here = 0;
	pthread_barrier_wait(&barrier_again);
	target_wait(thread, 1);
	joined_tid = add("joined", park, NULL, NULL)->tid;
	joined = threads[count - 1].thread;
	joined_timed_tid = add("joined2", park, NULL, NULL)->tid;
	joined_timed = threads[count - 1].thread;
	add("join", wait_join, NULL, NULL);
	add("join-timed", wait_join_timed, NULL, NULL);
	add("once-in", wait_inside_once, NULL, NULL);
	add("once", wait_once, NULL, NULL);
	add("stdio", wait_stdio, NULL, NULL);
	add("bare-lock", wait_bare, &taken, "LOCK");
	add("bare", wait_bare, &taken, "FUTEX");
	add("bare-guard", wait_bare, guard, "ONCE");
	for (size_t i = 0; i < sizeof(descriptor_waits) / sizeof(descriptor_waits[0]); i++)
		add(descriptor_waits[i].name, wait_descriptor, (void *)&descriptor_waits[i], NULL);
}

static void
say_claims(void)
{
	char line[256], holder[32], object[32];

	for (size_t i = 0; i < count; i++) {
		const struct claim *c = &claims[i];

		snprintf(object, sizeof(object), "%llx", (unsigned long long)c->object);
		snprintf(holder, sizeof(holder), "%d", c->holder);
		if (c->holder == HOLDER_NONE)
			snprintf(holder, sizeof(holder), "none");
		else if (c->holder == HOLDER_GONE)
			snprintf(holder, sizeof(holder), "gone");
		else if (c->holder < 0)
			snprintf(holder, sizeof(holder), "readers:%d", HOLDER_READERS - c->holder);
		snprintf(line, sizeof(line), "%s %d %s %s %s %d %d\n", threads[i].name,
			 threads[i].tid, c->kind, c->object == ANY ? "?" : object, holder,
			 c->timed, c->fd);
		target_say(line);
	}
	target_say("end\n");
}

int
main(void)
{
	make_objects();
	start_holders();
	add_mutexes();
	add_rwlocks();
	add_conditions();
	add_others();
	target_ready();
	while (target_told())
		say_claims();
	_exit(0);
}
