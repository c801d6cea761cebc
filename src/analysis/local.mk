libwallsample_a_SOURCES += \
	src/analysis/tables/deadlock_text.c \
	src/analysis/tables/diff.c \
	src/analysis/tables/diff_pairs.c \
	src/analysis/tables/diff_internal.h \
	src/analysis/tables/diff_sums.c \
	src/analysis/tables/dump.c \
	src/analysis/view/filter.c \
	src/analysis/tables/finding.c \
	src/analysis/tables/gil_table.c \
	src/analysis/tables/margin.c \
	src/analysis/tables/neighbours.c \
	src/analysis/view/parking.c \
	src/analysis/view/parking_internal.h \
	src/analysis/tables/result.c \
	src/analysis/tables/task_groups.c \
	src/analysis/tables/task_table.c \
	src/analysis/tables/tree.c \
	src/analysis/view/view.c \
	src/analysis/view/view_entry.c \
	src/analysis/view/view_names.c \
	src/analysis/view/view_internal.h \
	src/analysis/view/view_paths.c \
	src/analysis/view/view_tasks.c \
	src/analysis/view/view_threads.c \
	src/analysis/view/view_wait.c \
	src/analysis/tables/waiting.c
