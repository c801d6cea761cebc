/* SPDX-License-Identifier: MIT */
/*
 * cancel_library.c - imitates a C library without debug symbols: of its functions only wait_byte()
 * is exported, and jumps to the function that calls read(2), as sem_wait() of glibc does.
 * c_library.sh builds it as libc-2.99.so.
 */
#include <sys/syscall.h>

#define LOCAL static __attribute__((noinline, noclone))

static volatile int sink;

/* Each function has its frame as long as its callee runs, because of the store behind the call. */
LOCAL long
make_call(int fd, char *byte)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_read), "D"(fd), "S"(byte), "d"(1)
			 : "rcx", "r11", "memory");
	sink = 1;
	return result;
}

LOCAL long
call_cancellable(int fd, char *byte)
{
	const long result = make_call(fd, byte);

	sink = 2;
	return result;
}

__attribute__((noinline, noclone, used, visibility("hidden"))) long
wait_slowly(int fd, char *byte)
{
	const long result = call_cancellable(fd, byte);

	sink = 3;
	return result;
}

/* A jump, whatever the optimisation. */
__asm__(".text\n .globl wait_byte\n .type wait_byte, @function\n"
	"wait_byte: .cfi_startproc\n jmp wait_slowly\n .cfi_endproc\n"
	".size wait_byte, . - wait_byte\n");
