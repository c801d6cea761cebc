/* SPDX-License-Identifier: MIT */
/*
 * test_descriptor_text.c - what the kernel's text files and answers say of descriptors, and that
 * nothing which is not such a text is believed or does harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>

#include "wait/descriptor_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/wait/wait_kind.h"

/* --- the tables of sockets --------------------------------------------------------------- */

#define BEHIND " 00000000:00000000 00:00000000 00000000  1000        0 "

static void
add_lines(struct net_tables *tables, enum net_file file, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		net_tables_add_line(tables, file, lines[i]);
}

static void
assert_address(const struct net_address *address, const char *text)
{
	struct strbuf out;

	strbuf_init(&out);
	net_address_add(address, true, &out);
	assert_string_equal(out.data, text);
	strbuf_release(&out);
}

static void
test_tcp(void **state)
{
	static const char *const four[] = {
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid",
		"   0: 00000000:07E8 00000000:0000 0A" BEHIND "151 1 00000000b2f2ebab 100 0 0 10 0",
		"   1: 0100007F:9C56 0100007F:1538 01" BEHIND "152 1",
		"   2: 0100007F:07E8 0200000A:1538 06" BEHIND "0 1", /* nobody's any more */
	};
	static const char *const six[] = {
		"   0: 0000000000000000FFFF00000100007F:1538 0000000000000000FFFF00000100007F:9C56 "
		"01" BEHIND "153 1",
		"   1: B80D0120000000000000000001000000:0050 00000000000000000000000000000000:0000 "
		"0A" BEHIND "154 1",
	};
	struct net_tables *tables = net_tables_create();
	const struct net_socket *socket, *peer;

	(void)state;
	add_lines(tables, NET_FILE_TCP, four, ARRAY_SIZE(four));
	add_lines(tables, NET_FILE_TCP6, six, ARRAY_SIZE(six));
	socket = net_tables_find(tables, NET_TCP, 151);
	assert_non_null(socket);
	assert_true(socket->listens);
	assert_true(net_address_is_any(&socket->local));
	assert_int_equal(socket->local.port, 2024);
	assert_null(net_tables_peer(tables, socket));
	assert_non_null(net_tables_listener(tables, NET_TCP, 2024));
	assert_null(net_tables_listener(tables, NET_UDP, 2024));
	assert_null(net_tables_listener(tables, NET_TCP, 5432));
	/* IPv4 here and there, in tables of two families */
	socket = net_tables_find(tables, NET_TCP, 152);
	assert_non_null(socket);
	assert_address(&socket->local, "127.0.0.1:40022");
	assert_address(&socket->remote, "127.0.0.1:5432");
	peer = net_tables_peer(tables, socket);
	assert_non_null(peer);
	assert_int_equal(peer->inode, 153);
	assert_address(&peer->local, "127.0.0.1:5432");
	assert_ptr_equal(net_tables_peer(tables, peer), socket);
	socket = net_tables_find(tables, NET_TCP, 154);
	assert_non_null(socket);
	assert_address(&socket->local, "[2001:db8::1]:80");
	assert_false(net_address_is_any(&socket->local));
	assert_null(net_tables_find(tables, NET_TCP, 0));
	assert_null(net_tables_find(tables, NET_UDP, 151));
	net_tables_free(tables);
}

static void
test_udp(void **state)
{
	static const char *const lines[] = {
		"  17: 0100007F:0035 00000000:0000 07" BEHIND "20 2 0 0",
		"  18: 00000000:14E9 00000000:0000 07" BEHIND "21 2 0 0",
		"  19: 0100007F:C001 0100007F:0035 01" BEHIND "22 2 0 0",
		"  20: 0100007F:C002 0100007F:14E9 01" BEHIND "23 2 0 0",
		"  21: 0500000A:C003 0600000A:14E9 01" BEHIND "24 2 0 0",
	};
	struct net_tables *tables = net_tables_create();

	(void)state;
	add_lines(tables, NET_FILE_UDP, lines, ARRAY_SIZE(lines));
	assert_true(net_tables_find(tables, NET_UDP, 20)->listens);
	assert_false(net_tables_find(tables, NET_UDP, 22)->listens);
	assert_int_equal(net_tables_peer(tables, net_tables_find(tables, NET_UDP, 22))->inode, 20);
	assert_int_equal(net_tables_peer(tables, net_tables_find(tables, NET_UDP, 23))->inode, 21);
	/* Another machine's port is not this machine's. */
	assert_null(net_tables_peer(tables, net_tables_find(tables, NET_UDP, 24)));
	net_tables_free(tables);
}

static void
test_unix_and_netlink(void **state)
{
	static const char *const unix_lines[] = {
		"Num       RefCount Protocol Flags    Type St Inode Path",
		"000000004dcef1aa: 00000002 00000000 00010000 0001 01  1542 /run/a b",
		"000000004dcef1ab: 00000003 00000000 00000000 0001 03  1543",
		"000000004dcef1ac: 00000003 00000000 00000000 0001 03  1544 @abstract@",
	};
	static const char *const netlink_lines[] = {
		"sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops",
		"0000000032686d96 16  4294963200 00000440 0        0        0     2     0   1504 ",
	};
	struct net_tables *tables = net_tables_create();
	const struct net_socket *socket;

	(void)state;
	add_lines(tables, NET_FILE_UNIX, unix_lines, ARRAY_SIZE(unix_lines));
	add_lines(tables, NET_FILE_NETLINK, netlink_lines, ARRAY_SIZE(netlink_lines));
	socket = net_tables_find(tables, NET_UNIX, 1542);
	assert_string_equal(net_tables_path(tables, socket), "/run/a b");
	assert_true(socket->listens);
	socket = net_tables_find(tables, NET_UNIX, 1543);
	assert_string_equal(net_tables_path(tables, socket), "");
	assert_false(socket->listens);
	socket = net_tables_find(tables, NET_UNIX, 1544);
	assert_string_equal(net_tables_path(tables, socket), "@abstract@");
	assert_int_equal(net_tables_find(tables, NET_NETLINK, 1504)->family, 16);
	net_tables_free(tables);
}

/* A socket may be bound to a name with the end of a line in it, and with another line behind. */
static void
test_forged_line(void **state)
{
	static const char *const lines[] = {
		"000000004dcef1aa: 00000002 00000000 00010000 0001 01  1542 /tmp/mine",
		"000000004dcef1ab: 00000002 00000000 00010000 0001 01  1600 /run/docker.sock",
		"000000004dcef1ac: 00000002 00000000 00010000 0001 01  1600 /tmp/true",
		"000000004dcef1ad: 00000003 00000000 00000000 0001 03  1700",
		"000000004dcef1ad: 00000003 00000000 00000000 0001 03  1700",
	};
	struct net_tables *tables = net_tables_create();

	(void)state;
	add_lines(tables, NET_FILE_UNIX, lines, ARRAY_SIZE(lines));
	assert_non_null(net_tables_find(tables, NET_UNIX, 1542));
	assert_null(net_tables_find(tables, NET_UNIX, 1600));
	assert_non_null(net_tables_find(tables, NET_UNIX, 1700));
	net_tables_free(tables);
}

static void
test_no_socket_lines(void **state)
{
	static const char *const lines[] = {
		"", ":", " : ", "0:", "0: 0100007F", "0: 0100007F:", "0: 0100007F:1538",
		"0: 0100007F:1538 0100007F:9C56", "0: 0100007F:1538 0100007F:9C56 01",
		"0: 0100007F:1538 0100007F:9C56 01 1 2 3 4",
		"0: 010000:1538 0100007F:9C56 01" BEHIND "7",
		"0: 0100007F:FFFFF 0100007F:9C56 01" BEHIND "7",
		"0: 0100007G:1538 0100007F:9C56 01" BEHIND "7",
		"0: 0100007F:1538 0100007F:9C56 zz" BEHIND "7",
		"0: 0100007F:1538 0100007F:9C56 01" BEHIND "99999999999999999999999",
		"0: 0100007F:1538 0100007F:9C56 01" BEHIND "-7",
		"0: 0100007F: 1538 0100007F:9C56 01" BEHIND "7",
		"000000004dcef1aa: 00000002", "000000004dcef1aa: 1 2 3 4 5", "x: 1 2 3 4 5 7 /x",
		"1 99999999 1 1 1 1 1 1 1 7", "1 2 3", "1",
	};
	struct net_tables *tables = net_tables_create();

	(void)state;
	for (unsigned file = 0; file < NET_FILE_COUNT; file++)
		add_lines(tables, (enum net_file)file, lines, ARRAY_SIZE(lines));
	for (unsigned protocol = 0; protocol < NET_PROTOCOL_COUNT; protocol++)
		assert_null(net_tables_find(tables, (enum net_protocol)protocol, 7));
	net_tables_free(tables);
}

/* Lines that are nearly right, and bytes that are nothing. */
static void
test_random_lines(void **state)
{
	static const char *const models[] = {
		"   1: 0100007F:9C56 0100007F:1538 01" BEHIND "152 1",
		"   0: 0000000000000000FFFF00000100007F:1538 0000000000000000FFFF00000100007F:9C56 "
		"01" BEHIND "153 1",
		"000000004dcef1aa: 00000002 00000000 00010000 0001 01  1542 /run/a b",
		"0000000032686d96 16  4294963200 00000440 0        0        0     2     0   1504 ",
	};
	struct net_tables *tables = net_tables_create();
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	for (unsigned i = 0; i < 40000; i++) {
		const char *model = models[rng_next(&rng) % ARRAY_SIZE(models)];
		size_t length = strlen(model);
		char line[256];

		memcpy(line, model, length + 1);
		for (uint64_t j = rng_next(&rng) % 6; j > 0; j--)
			line[rng_next(&rng) % length] = (char)(rng_next(&rng) % 128);
		net_tables_add_line(tables, (enum net_file)(rng_next(&rng) % NET_FILE_COUNT), line);
	}
	net_tables_free(tables);
}

/* --- fdinfo ----------------------------------------------------------------------------- */

#define HEAD "pos:\t0\nflags:\t02000002\nmnt_id:\t17\nino:\t1038\n"

static void
test_epoll(void **state)
{
	struct fdinfo info;

	(void)state;
	fdinfo_parse(HEAD
		     "tfd:       12 events:       19 data:     7f4b00000005  pos:0 ino:3a sdev:f\n"
		     "tfd:        5 events:       19 data: ffffffffffffffff  pos:0 ino:3a2c9d "
		     "sdev:9\n"
		     "tfd:        9 events:       19 data:                4  pos:0 ino:a sdev:9\n"
		     "tfd:        7 events:       19 data:                4\n"
		     "tfd:       -1 events:       19 data:                4  pos:0 ino:b sdev:9\n"
		     "tfd: 99999999999 events: 19\n", &info);
	assert_int_equal(info.watched, 4);
	assert_int_equal(info.first[0].fd, 5);
	assert_int_equal(info.first[0].inode, 0x3a2c9d);
	assert_int_equal(info.first[1].fd, 7);
	assert_int_equal(info.first[1].inode, 0);
	assert_int_equal(info.first[2].fd, 9);
	assert_int_equal(info.first[2].inode, 10);
	assert_int_equal(info.first[3].fd, 12);
}

/* Of many, those with the lowest numbers are kept. */
static void
test_large_epoll(void **state)
{
	struct strbuf text;
	struct fdinfo info;

	(void)state;
	strbuf_init(&text);
	for (unsigned i = 0; i < 5000; i++)
		strbuf_add_format(&text, "tfd: %8u events: 19 data: 4  pos:0 ino:%x sdev:9\n",
				  (i * 7 + 1000) % 5000, (i * 7 + 1000) % 5000 + 1);
	fdinfo_parse(text.data, &info);
	assert_int_equal(info.watched, 5000);
	for (unsigned i = 0; i < FDINFO_WATCHED; i++) {
		assert_int_equal(info.first[i].fd, i);
		assert_int_equal(info.first[i].inode, i + 1);
	}
	strbuf_release(&text);
}

static void
assert_words(void (*add)(const struct fdinfo *, struct strbuf *), const char *text,
	     const char *words)
{
	struct fdinfo info;
	struct strbuf out;

	strbuf_init(&out);
	fdinfo_parse(text, &info);
	add(&info, &out);
	assert_string_equal(out.data, words);
	strbuf_release(&out);
}

static void
test_timer(void **state)
{
	static const char *const head = HEAD "clockid: 1\nticks: 0\nsettime flags: 01\n";
	char text[512];
	static const struct {
		const char *lines, *words;
	} rows[] = {
		{ "it_value: (3, 299999999)\nit_interval: (0, 0)\n", "timerfd, in 3.2 s" },
		{ "it_value: (0, 0)\nit_interval: (0, 0)\n", "timerfd, not set" },
		{ "it_value: (0, 250000000)\nit_interval: (60, 0)\n",
		  "timerfd, in 250 ms, every 60.0 s" },
		{ "it_value: (100000, 5)\nit_interval: (0, 0)\n", "timerfd, in 100000 s" },
		{ "it_value: (18446744073709551615, 5)\nit_interval: (0, 0)\n", "timerfd" },
		{ "it_value: (1, \n", "timerfd" },
		{ "it_value: 1\n", "timerfd" },
		{ "it_value:", "timerfd" },
		{ "", "timerfd" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(text, sizeof(text), "%s%s", head, rows[i].lines);
		assert_words(fdinfo_add_timer, text, rows[i].words);
	}
}

static void
test_signals(void **state)
{
	(void)state;
	assert_words(fdinfo_add_signals, HEAD "sigmask:\t0000000000004200\n",
		     "signalfd of SIGUSR1, SIGTERM");
	assert_words(fdinfo_add_signals, HEAD "sigmask:\t8000000000000000\n",
		     "signalfd of signal 64");
	assert_words(fdinfo_add_signals, HEAD "sigmask:\tffffffffffffffff\n",
		     "signalfd of 64 signals");
	assert_words(fdinfo_add_signals, HEAD "sigmask:\t0000000000000000\n", "signalfd");
	assert_words(fdinfo_add_signals, HEAD "sigmask:\tx\n", "signalfd");
	assert_words(fdinfo_add_signals, HEAD, "signalfd");
}

static void
test_others(void **state)
{
	struct fdinfo info;

	(void)state;
	fdinfo_parse(HEAD "inotify wd:2 ino:1 sdev:2 mask:100\ninotify wd:1 ino:1", &info);
	assert_int_equal(info.watches, 2);
	fdinfo_parse(HEAD "Pid:\t1234\nNSpid:\t1234\n", &info);
	assert_int_equal(info.pid, 1234);
	fdinfo_parse(HEAD "Pid:\t-1\n", &info);
	assert_int_equal(info.pid, 0);
	fdinfo_parse("\n\n\n", &info);
	assert_int_equal(info.watched, 0);
}

/* --- what the kernel answers about UNIX sockets -------------------------------------------- */

struct answer {
	_Alignas(8) char bytes[256];
	size_t size;
};

static void
begin_answer(struct answer *answer, uint32_t inode, uint8_t unix_state)
{
	struct unix_diag_msg message = { .udiag_ino = inode, .udiag_state = unix_state };

	memset(answer, 0, sizeof(*answer));
	memcpy(answer->bytes + NLMSG_HDRLEN, &message, sizeof(message));
	answer->size = NLMSG_LENGTH(sizeof(message));
}

static void
add_attribute(struct answer *answer, unsigned short type, const void *bytes, size_t size)
{
	struct rtattr attribute = { (unsigned short)RTA_LENGTH(size), type };

	memcpy(answer->bytes + answer->size, &attribute, sizeof(attribute));
	memcpy(answer->bytes + answer->size + RTA_LENGTH(0), bytes, size);
	answer->size += RTA_SPACE(size);
}

static bool
parse_answer(struct answer *answer, uint64_t inode, struct unix_socket *socket)
{
	struct nlmsghdr header = {
		.nlmsg_len = (uint32_t)answer->size, .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	};

	memcpy(answer->bytes, &header, sizeof(header));
	return unix_diag_parse(answer->bytes, answer->size, inode, socket);
}

static void
test_unix_answer(void **state)
{
	const uint32_t peer = 78;
	struct unix_socket socket;
	struct answer answer;

	(void)state;
	begin_answer(&answer, 77, 1);
	add_attribute(&answer, UNIX_DIAG_NAME, "/run/x", 7);
	add_attribute(&answer, UNIX_DIAG_PEER, &peer, sizeof(peer));
	assert_true(parse_answer(&answer, 77, &socket));
	assert_string_equal(socket.name, "/run/x");
	assert_int_equal(socket.peer, 78);
	assert_false(socket.listens);
	assert_false(parse_answer(&answer, 76, &socket));

	begin_answer(&answer, 77, 10);
	add_attribute(&answer, UNIX_DIAG_NAME, "\0a\0b", 4);
	assert_true(parse_answer(&answer, 77, &socket));
	assert_string_equal(socket.name, "@a@b");
	assert_true(socket.listens);
	assert_int_equal(socket.peer, 0);
}

static void
test_unix_answer_hostile(void **state)
{
	char name[150];
	struct unix_socket socket;
	struct answer answer;
	struct rng rng;

	(void)state;
	memset(name, 'n', sizeof(name));
	begin_answer(&answer, 77, 1);
	add_attribute(&answer, UNIX_DIAG_NAME, name, sizeof(name));
	assert_true(parse_answer(&answer, 77, &socket));
	assert_int_equal(strlen(socket.name), sizeof(socket.name) - 1);
	assert_false(unix_diag_parse("", 0, 77, &socket));
	/* An error is no answer. */
	begin_answer(&answer, 77, 1);
	answer.bytes[4] = NLMSG_ERROR;
	assert_false(unix_diag_parse(answer.bytes, answer.size, 77, &socket));

	rng_seed(&rng, 2);
	for (unsigned i = 0; i < 20000; i++) {
		begin_answer(&answer, 77, 1);
		add_attribute(&answer, UNIX_DIAG_NAME, name, rng_next(&rng) % sizeof(name));
		for (size_t at = NLMSG_LENGTH(sizeof(struct unix_diag_msg)), j = 0; j < 4; j++)
			answer.bytes[at + rng_next(&rng) % 8] = (char)rng_next(&rng);
		answer.size -= rng_next(&rng) % 4;
		parse_answer(&answer, 77, &socket);
		assert_true(strlen(socket.name) < sizeof(socket.name));
	}
}

/* --- servers -------------------------------------------------------------------------- */

/* A server is kept for 5 s, and the 32 latest are. */
static void
test_servers(void **state)
{
	struct servers servers = { .next = 0 };
	const uint64_t now = 100 * NS_PER_SEC;

	(void)state;
	assert_null(servers_find(&servers, 0, now));
	servers_keep(&servers, 7, "sort (1234)", now);
	assert_string_equal(servers_find(&servers, 7, now + 4 * NS_PER_SEC), "sort (1234)");
	assert_null(servers_find(&servers, 8, now));
	assert_null(servers_find(&servers, 7, now + 5 * NS_PER_SEC));
	for (uint64_t key = 8; key < 7 + SERVERS_MOST; key++)
		servers_keep(&servers, key, "other", now);
	assert_non_null(servers_find(&servers, 7, now));
	servers_keep(&servers, 1000, "last", now);
	assert_null(servers_find(&servers, 7, now));
	assert_non_null(servers_find(&servers, 8, now));
	servers_release(&servers);
	assert_null(servers_find(&servers, 8, now));
}

/* Which side has made a connection, and texts that identify none. */
static void
test_sides(void **state)
{
	(void)state;
	assert_true(wait_object_is_made("tcp to 10.0.0.7:443"));
	assert_true(wait_object_is_made("unix to /run/db.sock, db (12)"));
	assert_true(wait_object_is_made("tcp to 10.0.0.7:443, a (1) and itself"));
	assert_false(wait_object_is_made("unix to itself"));
	assert_false(wait_object_is_made("tcp to 127.0.0.1:80, itself"));
	assert_false(wait_object_is_made("tcp 10.0.0.1:80 from 10.0.0.2"));
	assert_false(wait_object_is_made("tcp port 80"));
	assert_false(wait_object_is_made(""));
	assert_true(wait_object_leads_with_made("epoll of 3: tcp to 10.0.0.7:443, eventfd"));
	assert_false(wait_object_leads_with_made("epoll of 3: eventfd, tcp to 10.0.0.7:443"));
	assert_false(wait_object_leads_with_made("epoll of 3: tcp to 127.0.0.1:80, itself"));
	assert_false(wait_object_leads_with_made("tcp to 10.0.0.7:443"));
	assert_false(wait_object_leads_with_made("epoll of 2: unix to nginx (7), tcp port 80"));
	assert_true(wait_object_leads_with_made("epoll of 2: unix to /run/a, tcp port 80"));
	assert_true(wait_object_is_pair("unix to nginx (7)"));
	assert_false(wait_object_is_pair("unix to @abstract"));
	assert_false(wait_object_is_pair("tcp to 10.0.0.7:443"));
	assert_int_equal(wait_object_process("tcp to 10.0.0.7:443"), 0);
	assert_int_equal(wait_object_process("unix to /run/a (7), db (12)"), 7);
	assert_int_equal(wait_object_process("epoll of 3: tcp to 127.0.0.1:80, a b (13588), x (4)"),
			 13588);
	assert_int_equal(wait_object_process("tcp to 10.0.0.7:443, nginx (4 processes)"), 0);
	assert_int_equal(wait_object_process("x (99999999), y (-3), (), (5"), 0);
	assert_true(wait_object_is_bare(""));
	assert_true(wait_object_is_bare("socket:[17]"));
	assert_true(wait_object_is_bare("tcp socket"));
	assert_true(wait_object_is_bare(WAIT_OBJECT_UNKNOWN));
	assert_false(wait_object_is_bare("tcp port 80"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_udp),
		cmocka_unit_test(test_unix_and_netlink),
		cmocka_unit_test(test_forged_line),
		cmocka_unit_test(test_no_socket_lines),
		cmocka_unit_test(test_random_lines),
		cmocka_unit_test(test_epoll),
		cmocka_unit_test(test_large_epoll),
		cmocka_unit_test(test_timer),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_unix_answer),
		cmocka_unit_test(test_unix_answer_hostile),
		cmocka_unit_test(test_servers),
		cmocka_unit_test(test_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
