/* SPDX-License-Identifier: MIT */
/* shapes.cc - namespaces, classes, templates, lambdas, exceptions, for names_corpus.sh. */
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "shapes.h"

namespace shapes {
namespace {

template <typename T>
struct Cell {
	T value;
	explicit Cell(T v) : value(v) { counter += 1; }
	~Cell() { counter -= 1; }
	T twice() const { return value + value; }
};

template <typename T>
T sum_of(const std::vector<T> &all)
{
	T sum{};
	for (const auto &one : all)
		sum += Cell<T>(one).twice();
	return sum;
}

int parse(const std::string &text)
{
	if (text.empty())
		throw std::runtime_error("nothing in " + text);
	return std::stoi(text);
}

} // namespace

int Square::area() const
{
	struct Local {
		static int times(int a, int b) { return a * b + counter; }
	};
	return Local::times(side_, side_);
}

int run(int count)
{
	std::vector<int> numbers;
	std::map<std::string, double> by_name;
	for (int i = 0; i < count; i++) {
		numbers.push_back(i * 7 % 5);
		by_name[std::to_string(i)] += sum_of(std::vector<double>(3, i));
	}
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
	auto scaled = [&](int by) { return sum_of(numbers) * by + static_cast<int>(by_name.size()); };
	try {
		return scaled(2) + parse(count > 3 ? "" : "12");
	} catch (const std::exception &error) {
		std::printf("%s\n", error.what());
		return scaled(3);
	}
}

} // namespace shapes

int main(int argc, char **)
{
	shapes::Square square(argc);
	const shapes::Shape &shape = square;
	return shapes::run(argc) + shape.area() + shapes::total({&shape}) > 0 ? 0 : 1;
}
