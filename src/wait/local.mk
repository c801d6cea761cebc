libwallsample_a_SOURCES += \
	include/wallsample/wait/descriptor.h \
	include/wallsample/wait/server_event.h \
	include/wallsample/wait/wait.h \
	include/wallsample/wait/wait_kind.h \
	src/wait/database_lock.c \
	src/wait/descriptor.c \
	src/wait/descriptor_internal.h \
	src/wait/descriptor_set.c \
	src/wait/endpoints.c \
	src/wait/fdinfo.c \
	src/wait/holders.c \
	src/wait/net_tables.c \
	src/wait/server_event.c \
	src/wait/servers.c \
	src/wait/servers_internal.h \
	src/wait/socket_text.c \
	src/wait/unix_diag.c \
	src/wait/wait_call.c \
	src/wait/wait_futex.c \
	src/wait/wait_word.c \
	src/wait/wait_glibc.c \
	src/wait/wait_internal.h \
	src/wait/wait_kind.c \
	src/wait/wait_musl.c \
	src/wait/wait_owner.c \
	src/wait/wait_read.c
