/* SPDX-License-Identifier: MIT */
/*
 * plusplus.cc - templates, members and lambdas on the stack of one thread.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <functional>

namespace space {

volatile unsigned long sink;
std::atomic<bool> here;
volatile bool over;

template <typename T> class Box {
public:
	__attribute__((noinline)) void
	spin(T start) const
	{
		here = true;
		while (!over)
			sink += start;
		sink = 1;
	}
};

__attribute__((noinline)) void
outer(const std::function<void(int)> &call)
{
	call(3);
	sink = 2;
}

} // namespace space

static void *
run(void *)
{
	prctl(PR_SET_NAME, "plusplus");
	space::outer([](int start) {
		space::Box<unsigned long>().spin(static_cast<unsigned long>(start));
		space::sink = 3;
	});
	return nullptr;
}

int
main()
{
	pthread_t thread;
	char c;

	if (pthread_create(&thread, nullptr, run, nullptr) != 0)
		return 99;
	while (!space::here)
		sched_yield();
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 98;
	while (read(STDIN_FILENO, &c, 1) == 1)
		;
	_exit(0);
}
