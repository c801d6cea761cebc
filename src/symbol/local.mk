libwallsample_a_SOURCES += \
	src/elf/code_ranges.c \
	src/elf/d_name_size.c \
	src/elf/d_name_size_internal.h \
	src/dwarf/debug_file.c \
	include/wallsample/dwarf/debug_file.h \
	src/dwarf/debug_file_check.c \
	src/dwarf/debug_file_dwarf.c \
	src/dwarf/debug_file_dwo.c \
	src/dwarf/debug_file_find.c \
	src/dwarf/debug_file_mini.c \
	src/dwarf/debug_file_package.c \
	src/dwarf/debug_file_package_internal.h \
	src/dwarf/debug_file_internal.h \
	src/dwarf/debug_file_place.c \
	src/dwarf/debug_file_split.c \
	src/dwarf/debug_info.c \
	src/dwarf/debuginfod_internal.h \
	src/dwarf/dwarf_each.c \
	include/wallsample/dwarf/dwarf_each.h \
	src/dwarf/dwarf_form.c \
	src/dwarf/dwarf_form_internal.h \
	src/dwarf/dwarf_lines.c \
	include/wallsample/dwarf/dwarf_lines.h \
	src/dwarf/dwarf_name.c \
	include/wallsample/dwarf/dwarf_name.h \
	src/dwarf/dwarf_paths.c \
	include/wallsample/dwarf/dwarf_paths.h \
	src/dwarf/dwarf_spans.c \
	src/dwarf/dwarf_spans_internal.h \
	src/dwarf/dwarf_split.c \
	include/wallsample/dwarf/dwarf_split.h \
	src/dwarf/dwarf_time.c \
	include/wallsample/dwarf/dwarf_time.h \
	src/dwarf/dwarf_unit.c \
	src/dwarf/dwarf_unit_internal.h \
	src/dwarf/dwarf_units.c \
	src/dwarf/dwarf_units_internal.h \
	src/dwarf/dwarf_walk.c \
	include/wallsample/dwarf/dwarf_walk.h \
	src/dwarf/dwp_image.c \
	src/dwarf/dwp_image_internal.h \
	src/dwarf/dwp_index.c \
	src/dwarf/dwp_index_internal.h \
	src/symbol/pclntab_names.c src/symbol/pclntab_names_internal.h \
	src/symbol/inlined_lookup.c \
	src/symbol/line_lookup.c \
	src/elf/own_stack.c \
	src/elf/own_stack_internal.h \
	src/symbol/plt_arch_internal.h \
	src/symbol/plt_arch_aarch64.c \
	src/symbol/plt_arch_x86_64.c \
	src/symbol/plt_names.c \
	src/symbol/plt_names_internal.h \
	src/symbol/symbol.c \
	src/symbol/symbol_lookup.c \
	src/elf/symbol_names.c \
	include/wallsample/elf/symbol_names.h \
	src/symbol/symbol_place.c \
	src/symbol/symbol_similar.c \
	src/symbol/symbol_table.c \
	src/symbol/symbol_table_internal.h \
	src/symbol/symbol_walk.c \
	src/symbol/symbol_walk_internal.h
if HAVE_DEBUGINFOD
libwallsample_a_SOURCES += src/dwarf/debuginfod.c
else
libwallsample_a_SOURCES += src/dwarf/debuginfod_absent.c
endif
EXTRA_DIST += src/dwarf/debuginfod.c src/dwarf/debuginfod_absent.c
