libwallsample_a_SOURCES += \
	src/target/attach.c \
	src/target/attach_probe.c \
	src/target/attach_probe.h \
	src/target/core.c \
	src/target/core_maps.c \
	src/target/core_memory.c \
	src/target/core_notes.c \
	src/target/core_parts.h \
	src/target/cpus.c \
	src/elf/elf_open.c \
	src/target/find.c \
	src/elf/pclntab_module.c \
	src/elf/pclntab.c \
	src/elf/pclntab_internal.h \
	src/elf/pclntab_values.c \
	src/elf/image.c \
	src/elf/image_section.c \
	src/target/jit_elf.c \
	src/target/jit_elf.h \
	src/target/jit_frames.c \
	src/target/jit_frames.h \
	src/target/jit_julia.c \
	src/target/jit_julia.h \
	src/target/jit_list.c \
	src/target/jit_list.h \
	src/target/jit_objects.c \
	src/target/jit_print.c \
	src/target/jit_print.h \
	src/target/jit_unwind.c \
	src/target/jit_unwind.h \
	src/target/jit_watch.c \
	src/target/jit_watch.h \
	src/target/launch.c \
	src/target/mapping_at.c \
	src/target/mapping_place.c \
	src/target/mapping_place.h \
	src/target/maps.c \
	src/target/maps_source.c \
	src/target/maps_source.h \
	src/target/module.c \
	src/target/module_dumped.c \
	src/target/module_dumped.h \
	src/target/module_file.c \
	src/target/module_file.h src/target/module_recorded.c src/target/module_recorded.h \
	src/target/process.c \
	src/target/procmap.h \
	include/wallsample/elf/relocate.h \
	src/elf/symbol_search.c \
	src/target/task_file.c \
	src/target/task_file.h \
	src/target/pid_namespace.c \
	src/target/task_stat.c
if ARCH_X86_64
libwallsample_a_SOURCES += src/elf/relocate_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += src/elf/relocate_aarch64.c
endif
