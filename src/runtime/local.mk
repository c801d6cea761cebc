libwallsample_a_SOURCES += \
	src/dwarf/dwarf_structures.c include/wallsample/dwarf/dwarf_structures.h \
	src/runtime/gil.c \
	src/runtime/go.c src/runtime/go.h \
	src/runtime/go_capture.c \
	src/runtime/go_dwarf.c \
	src/runtime/go_find.c src/runtime/go_find.h \
	src/runtime/go_fit.c \
	src/runtime/go_layout.c src/runtime/go_layout.h \
	src/runtime/go_file.c \
	src/runtime/go_words.c \
	src/runtime/go_scan.c \
	src/runtime/go_sources.h \
	src/runtime/go_task.c \
	src/runtime/go_threads.c \
	src/runtime/go_version.c \
	src/runtime/julia.c \
	src/runtime/julia_context.h \
	src/runtime/julia_find.c src/runtime/julia_find.h \
	src/runtime/julia_layout.c src/runtime/julia_layout.h \
	src/runtime/julia_module.c src/runtime/julia_module.h \
	src/runtime/julia_queues.c src/runtime/julia_queues.h \
	src/runtime/julia_tasks.c src/runtime/julia_tasks.h \
	src/runtime/pages.c src/runtime/pages.h \
	src/runtime/places.c \
	src/runtime/python.c src/runtime/python.h \
	src/runtime/python_asyncio.c src/runtime/python_asyncio.h \
	src/runtime/python_capture.c \
	src/runtime/python_code.c src/runtime/python_code.h \
	src/runtime/python_debug_offsets.c \
	src/runtime/python_dwarf.c \
	src/runtime/python_eval.c src/runtime/python_eval.h \
	src/runtime/python_find.c src/runtime/python_find.h \
	src/runtime/python_fit.c \
	src/runtime/python_layout.c src/runtime/python_layout.h \
	src/runtime/python_lines.c \
	src/runtime/python_merge.c \
	src/runtime/python_module.c src/runtime/python_module.h \
	src/runtime/python_plumbing.c \
	src/runtime/python_pthread.c src/runtime/python_pthread.h \
	src/runtime/python_sources.h \
	src/runtime/python_tasks.c \
	src/runtime/python_text.c src/runtime/python_text.h \
	src/runtime/python_threads.c \
	src/runtime/runtime_kind.h \
	src/runtime/runtime_tasks.c \
	src/runtime/runtimes.c \
	src/runtime/task.c
if ARCH_X86_64
libwallsample_a_SOURCES += src/runtime/go_vdso_x86_64.c src/runtime/julia_context_x86_64.c \
	src/runtime/python_branch_x86_64.c \
	src/runtime/python_pthread_x86_64.c src/runtime/python_table_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += src/runtime/go_vdso_aarch64.c src/runtime/julia_context_aarch64.c \
	src/runtime/python_branch_aarch64.c \
	src/runtime/python_pthread_aarch64.c src/runtime/python_table_aarch64.c
endif
