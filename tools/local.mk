# Makes the rows of src/runtime/python_table_*.c from a CPython with DWARF.
check_PROGRAMS += tools/python-layout
tools_python_layout_SOURCES = tools/python-layout.c
tools_python_layout_LDADD = $(WALLSAMPLE_LIBS)
