/* SPDX-License-Identifier: MIT */
/* shapes.h - what shapes.cc and shapes_more.cc share. */
#ifndef SHAPES_H
#define SHAPES_H

#include <vector>

namespace shapes {

extern volatile int counter;

class Shape {
public:
	virtual ~Shape() {}
	virtual int area() const = 0;
	int half() const { return area() / 2 + counter; }
};

class Square : public Shape {
	int side_;

public:
	explicit Square(int side) : side_(side) {}
	int area() const override;
};

int total(const std::vector<const Shape *> &all);

} // namespace shapes

#endif
