libwallsample_a_SOURCES += \
	src/elf/code_ranges.c \
	src/elf/d_name_size.c \
	src/elf/d_name_size_internal.h \
	src/symbol/debug_file.c \
	src/symbol/debug_file.h \
	src/symbol/debug_file_check.c \
	src/symbol/debug_file_dwarf.c \
	src/symbol/debug_file_dwo.c \
	src/symbol/debug_file_find.c \
	src/symbol/debug_file_mini.c \
	src/symbol/debug_file_package.c \
	src/symbol/debug_file_package.h \
	src/symbol/debug_file_parts.h \
	src/symbol/debug_file_place.c \
	src/symbol/debug_file_split.c \
	src/symbol/debug_info.c \
	src/symbol/debuginfod.h \
	src/symbol/dwarf_each.c \
	src/symbol/dwarf_each.h \
	src/symbol/dwarf_form.c \
	src/symbol/dwarf_form.h \
	src/symbol/dwarf_lines.c \
	src/symbol/dwarf_lines.h \
	src/symbol/dwarf_name.c \
	src/symbol/dwarf_name.h \
	src/symbol/dwarf_paths.c \
	src/symbol/dwarf_paths.h \
	src/symbol/dwarf_spans.c \
	src/symbol/dwarf_spans.h \
	src/symbol/dwarf_split.c \
	src/symbol/dwarf_split.h \
	src/symbol/dwarf_time.c \
	src/symbol/dwarf_time.h \
	src/symbol/dwarf_unit.c \
	src/symbol/dwarf_unit.h \
	src/symbol/dwarf_units.c \
	src/symbol/dwarf_units.h \
	src/symbol/dwarf_walk.c \
	src/symbol/dwarf_walk.h \
	src/symbol/dwp_image.c \
	src/symbol/dwp_image.h \
	src/symbol/dwp_index.c \
	src/symbol/dwp_index.h \
	src/symbol/go_names.c src/symbol/go_names.h \
	src/symbol/inlined_lookup.c \
	src/symbol/line_lookup.c \
	src/elf/own_stack.c \
	src/elf/own_stack_internal.h \
	src/symbol/plt_arch.h \
	src/symbol/plt_arch_aarch64.c \
	src/symbol/plt_arch_x86_64.c \
	src/symbol/plt_names.c \
	src/symbol/plt_names.h \
	src/symbol/symbol.c \
	src/symbol/symbol_lookup.c \
	src/elf/symbol_names.c \
	include/wallsample/elf/symbol_names.h \
	src/symbol/symbol_place.c \
	src/symbol/symbol_similar.c \
	src/symbol/symbol_table.c \
	src/symbol/symbol_table.h \
	src/symbol/symbol_walk.c \
	src/symbol/symbol_walk.h
if HAVE_DEBUGINFOD
libwallsample_a_SOURCES += src/symbol/debuginfod.c
else
libwallsample_a_SOURCES += src/symbol/debuginfod_absent.c
endif
EXTRA_DIST += src/symbol/debuginfod.c src/symbol/debuginfod_absent.c
