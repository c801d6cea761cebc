# Makes the rows of src/runtime/python_table_*.c from a CPython with DWARF.
check_PROGRAMS += tools/python-layout
tools_python_layout_SOURCES = tools/python-layout.c
tools_python_layout_LDADD = $(WALLSAMPLE_LIBS)
# Makes the rows of src/runtime/go/go_layout.c from a Go program with DWARF.
check_PROGRAMS += tools/go-layout
tools_go_layout_SOURCES = tools/go-layout.c
tools_go_layout_LDADD = $(WALLSAMPLE_LIBS)
