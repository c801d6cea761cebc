/* SPDX-License-Identifier: MIT */
/* counters_plus.cc - a counter in a namespace and one in a template, which each line moves. */
#include <cstdint>
#include <unistd.h>

namespace shop {

volatile std::uint64_t orders;

template <typename T> struct counted {
	static volatile std::uint32_t hits;
};
template <typename T> volatile std::uint32_t counted<T>::hits;

namespace {
volatile std::uint32_t hidden;
}

__attribute__((noinline)) void
sell(int count)
{
	orders += static_cast<unsigned>(count);
	counted<int>::hits += 2;
	hidden += 1;
}

} // namespace shop

int
main()
{
	char c;

	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 99;
	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c != '\n')
			continue;
		shop::sell(3);
		if (write(STDOUT_FILENO, "done\n", 5) != 5)
			return 99;
	}
	return 0;
}
