/* SPDX-License-Identifier: MIT */
/* calls_more.c - the other unit of calls.c. */
volatile int calls_sink;

int calls_more(int n);

static inline int
innermost(int n)
{
	return n + calls_sink;
}

static inline int
fold(const int *values, int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		sum += innermost(values[i]);
	return sum;
}

int
calls_more(int n)
{
	int values[16];

	for (int i = 0; i < 16; i++)
		values[i] = i ^ n;
	if (n > 3)
		return fold(values, 16) + calls_more(n - 1);
	return fold(values, n & 15);
}
