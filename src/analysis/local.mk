libwallsample_a_SOURCES += \
	src/analysis/deadlock_text.c \
	src/analysis/diff.c \
	src/analysis/diff_pairs.c \
	src/analysis/diff_parts.h \
	src/analysis/diff_sums.c \
	src/analysis/dump.c \
	src/analysis/filter.c \
	src/analysis/finding.c \
	src/analysis/gil_table.c \
	src/analysis/margin.c \
	src/analysis/neighbours.c \
	src/analysis/parking.c \
	src/analysis/parking.h \
	src/analysis/result.c \
	src/analysis/task_groups.c \
	src/analysis/task_table.c \
	src/analysis/tree.c \
	src/analysis/view.c \
	src/analysis/view_entry.c \
	src/analysis/view_names.c \
	src/analysis/view_parts.h \
	src/analysis/view_paths.c \
	src/analysis/view_tasks.c \
	src/analysis/view_threads.c \
	src/analysis/view_wait.c \
	src/analysis/waiting.c
