/* SPDX-License-Identifier: MIT */
/* go_layout.c - layouts of Go's structures, by version. */
#include "runtime/go/go_find_internal.h"

#include <string.h>

#include "wallsample/base/base.h"

/* Rows printed by tools/go-layout. Patch releases have moved members of runtime.m. The row of 1.20
 * is that of 1.19: programs made by 1.20.7 and 1.20.10 confirm it, in memory and in nanotime1. */
/* clang-format off */
static const struct go_layout table[] = {
	{
		.minor = 19, .g_size = 320, .m_size = 816,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 104,
		.g_call_sp = 112, .g_call_pc = 120, .g_call_fp = GO_ABSENT, .g_status = 144,
		.g_id = 152, .g_since = 168, .g_reason = 176, .g_runs = 189,
		.g_creator = GO_ABSENT, .g_created = 296, .g_entry = 312, .m_g0 = 0, .m_tid = 72,
		.m_current = 192, .m_next = 336, .m_vdso_sp = 800, .m_vdso_pc = 808,
	},
	{
		.minor = 20, .g_size = 320, .m_size = 816,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 104,
		.g_call_sp = 112, .g_call_pc = 120, .g_call_fp = GO_ABSENT, .g_status = 144,
		.g_id = 152, .g_since = 168, .g_reason = 176, .g_runs = 189,
		.g_creator = GO_ABSENT, .g_created = 296, .g_entry = 312, .m_g0 = 0, .m_tid = 72,
		.m_current = 192, .m_next = 336, .m_vdso_sp = 800, .m_vdso_pc = 808,
	},
	{
		.minor = 21, .g_size = 304, .m_size = 824,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 104,
		.g_call_sp = 112, .g_call_pc = 120, .g_call_fp = GO_ABSENT, .g_status = 144,
		.g_id = 152, .g_since = 168, .g_reason = 176, .g_runs = 188, .g_creator = 272,
		.g_created = 280, .g_entry = 296, .m_g0 = 0, .m_tid = 72, .m_current = 192,
		.m_next = 336, .m_vdso_sp = 808, .m_vdso_pc = 816,
	},
	{
		.minor = 22, .g_size = 304, .m_size = 1136,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 104,
		.g_call_sp = 112, .g_call_pc = 120, .g_call_fp = GO_ABSENT, .g_status = 144,
		.g_id = 152, .g_since = 168, .g_reason = 176, .g_runs = 191, .g_creator = 272,
		.g_created = 280, .g_entry = 296, .m_g0 = 0, .m_tid = 72, .m_current = 192,
		.m_next = 328, .m_vdso_sp = 1120, .m_vdso_pc = 1128,
	},
	{
		.minor = 23, .g_size = 312, .m_size = 872,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 104,
		.g_call_sp = 112, .g_call_pc = 120, .g_call_fp = 128, .g_status = 152,
		.g_id = 160, .g_since = 176, .g_reason = 184, .g_runs = 199, .g_creator = 280,
		.g_created = 288, .g_entry = 304, .m_g0 = 0, .m_tid = 72, .m_current = 192,
		.m_next = 328, .m_vdso_sp = 856, .m_vdso_pc = 864,
	},
	{
		.minor = 23, .patch = 12, .g_size = 312, .m_size = 896,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 104,
		.g_call_sp = 112, .g_call_pc = 120, .g_call_fp = 128, .g_status = 152,
		.g_id = 160, .g_since = 176, .g_reason = 184, .g_runs = 199, .g_creator = 280,
		.g_created = 288, .g_entry = 304, .m_g0 = 0, .m_tid = 72, .m_current = 192,
		.m_next = 352, .m_vdso_sp = 880, .m_vdso_pc = 888,
	},
	{
		.minor = 24, .g_size = 312, .m_size = 896,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 104,
		.g_call_sp = 112, .g_call_pc = 120, .g_call_fp = 128, .g_status = 152,
		.g_id = 160, .g_since = 176, .g_reason = 184, .g_runs = 199, .g_creator = 280,
		.g_created = 288, .g_entry = 304, .m_g0 = 0, .m_tid = 72, .m_current = 192,
		.m_next = 328, .m_vdso_sp = 880, .m_vdso_pc = 888,
	},
	{
		.minor = 24, .patch = 6, .g_size = 312, .m_size = 920,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 104,
		.g_call_sp = 112, .g_call_pc = 120, .g_call_fp = 128, .g_status = 152,
		.g_id = 160, .g_since = 176, .g_reason = 184, .g_runs = 199, .g_creator = 280,
		.g_created = 288, .g_entry = 304, .m_g0 = 0, .m_tid = 72, .m_current = 192,
		.m_next = 352, .m_vdso_sp = 904, .m_vdso_pc = 912,
	},
	{
		.minor = 25, .g_size = 304, .m_size = 912,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 96,
		.g_call_sp = 104, .g_call_pc = 112, .g_call_fp = 120, .g_status = 144,
		.g_id = 152, .g_since = 168, .g_reason = 176, .g_runs = 191, .g_creator = 272,
		.g_created = 280, .g_entry = 296, .m_g0 = 0, .m_tid = 64, .m_current = 184,
		.m_next = 344, .m_vdso_sp = 896, .m_vdso_pc = 904,
	},
	{
		.minor = 26, .g_size = 312, .m_size = 912,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 96,
		.g_call_sp = 104, .g_call_pc = 112, .g_call_fp = 120, .g_status = 144,
		.g_id = 152, .g_since = 168, .g_reason = 176, .g_runs = 191, .g_creator = 280,
		.g_created = 288, .g_entry = 304, .m_g0 = 0, .m_tid = 64, .m_current = 184,
		.m_next = 352, .m_vdso_sp = 896, .m_vdso_pc = 904,
	},
	{
		.minor = 27, .g_size = 312, .m_size = 912,
		.g_low = 0, .g_high = 8, .g_m = 48, .g_sp = 56, .g_pc = 64, .g_fp = 96,
		.g_call_sp = 104, .g_call_pc = 112, .g_call_fp = 120, .g_status = 144,
		.g_id = 152, .g_since = 168, .g_reason = 176, .g_runs = 191, .g_creator = 280,
		.g_created = 288, .g_entry = 304, .m_g0 = 0, .m_tid = 64, .m_current = 184,
		.m_next = 352, .m_vdso_sp = 896, .m_vdso_pc = 904,
	},
};
/* clang-format on */

const struct go_layout *
go_layout_of(uint32_t minor, uint32_t patch)
{
	const struct go_layout *row = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].minor == minor && table[i].patch <= patch)
			row = &table[i];
	return row;
}

const char *
go_layout_member(const struct go_layout *layout, size_t index, uint32_t *value)
{
	static const char *const names[] = {
#define X(name, structure, path) #name,
		GO_OFFSETS(X)
#undef X
	};
	const uint32_t values[] = {
#define X(name, structure, path) layout->name,
		GO_OFFSETS(X)
#undef X
	};

	if (index >= ARRAY_SIZE(names))
		return NULL;
	*value = values[index];
	return names[index];
}

/* May be absent: the version is older than the member, or possibly newer. */
static bool
may_be_absent(const char *name)
{
	static const char *const names[] = { "g_call_fp", "g_creator", "g_runs" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool
go_layout_finish(struct go_layout *layout)
{
	const char *name;
	uint32_t value;

	layout->g_size = layout->m_size = 0;
	for (size_t i = 0; (name = go_layout_member(layout, i, &value)) != NULL; i++) {
		uint32_t *size = name[0] == 'g' ? &layout->g_size : &layout->m_size;

		if (value == GO_ABSENT) {
			if (!may_be_absent(name))
				return false;
			continue;
		}
		if (value > GO_M_MOST)
			return false;
		if (value + sizeof(uint64_t) > *size)
			*size = value + (uint32_t)sizeof(uint64_t);
	}
	return layout->g_size <= GO_G_MOST && layout->m_size <= GO_M_MOST;
}
