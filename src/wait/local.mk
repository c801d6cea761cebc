libwallsample_a_SOURCES += \
	src/wait/descriptor.c src/wait/descriptor_parts.h src/wait/fdinfo.c src/wait/fdinfo.h \
	src/wait/holders.c src/wait/holders.h src/wait/net_tables.c src/wait/net_tables.h \
	src/wait/socket_text.c src/wait/unix_diag.c src/wait/unix_diag.h src/wait/unnamed.c \
	src/wait/wait_kind.c
