/* SPDX-License-Identifier: MIT */
/* causal_keys.c - the fields of struct causal_result by name. */
#include "recording/causal_keys_internal.h"

#include "wallsample/base/base.h"

#define NS_MOST 0x1p60
/* Up to the year 2106, as in reader.c. */
#define DATE_MOST (0x1p32 * (double)NS_PER_SEC)

#define ROW(field, kind, greatest)                                                               \
	{ .name = #field, .type = CAUSAL_KEY_##kind,                                             \
	  .offset = offsetof(struct causal_result, field), .most = greatest }

const struct causal_key causal_keys[] = {
	ROW(self, BOOL, 1),
	ROW(tick_ns, U64, NS_MOST),
	ROW(experiment_ns, U64, NS_MOST),
	ROW(precision, DOUBLE, 1e6),
	ROW(max_hold, DOUBLE, 1),
	ROW(pid, INT, INT32_MAX),
	ROW(started_ns, U64, DATE_MOST),
	ROW(wall_ns, U64, NS_MOST),
	ROW(held_ns, U64, NS_MOST),
	ROW(profile_ns, U64, NS_MOST),
	ROW(stops, U64, NS_MOST),
	ROW(late_ticks, U64, NS_MOST),
	ROW(unheld, U64, NS_MOST),
	ROW(runnable, DOUBLE, 1e6),
	ROW(cpus, INT, 1 << 20),
	ROW(own_cpu_ns, U64, NS_MOST),
	ROW(target_gone, BOOL, 1),
	{ .name = NULL },
};
