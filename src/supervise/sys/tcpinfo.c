/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP_INFO. What follows from the guest's own calls is the kernel's: state, options, sizes, bytes.
 * What it measured (round trips, rates, how long ago) or what depends on how segments were cut is
 * fixed. The structure is the pinned kernel's.
 */
#include "supervise/sys/tcpinfo.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* As of a connection that has sent nothing: net/ipv4/tcp.c. */
enum { RTO_US = 200000, ATO_US = 40000, RTT_US = 1000, WINDOW = 1000, REORDERING = 3 };

int tcpinfo_read(const struct gfd *g, void *ret, size_t room)
{
	struct tcp_info real = {0}, told = {0};
	socklen_t len = sizeof(real);

	if (getsockopt(g->fd, IPPROTO_TCP, TCP_INFO, &real, &len) < 0)
		return -1;
	told.tcpi_state = real.tcpi_state;
	told.tcpi_options = real.tcpi_options;
	told.tcpi_snd_wscale = real.tcpi_snd_wscale;
	told.tcpi_rcv_wscale = real.tcpi_rcv_wscale;
	told.tcpi_rto = RTO_US;
	told.tcpi_ato = real.tcpi_ato ? ATO_US : 0;
	told.tcpi_snd_mss = real.tcpi_snd_mss;
	told.tcpi_rcv_mss = real.tcpi_rcv_mss;
	told.tcpi_unacked = real.tcpi_unacked; /* of a listener: who waits to be accepted */
	told.tcpi_sacked = real.tcpi_sacked;
	told.tcpi_pmtu = real.tcpi_pmtu;
	told.tcpi_rtt = RTT_US;
	told.tcpi_rttvar = RTT_US / 2;
	told.tcpi_snd_ssthresh = INT32_MAX;
	told.tcpi_snd_cwnd = WINDOW;
	told.tcpi_advmss = real.tcpi_advmss;
	told.tcpi_reordering = REORDERING;
	told.tcpi_pacing_rate = told.tcpi_max_pacing_rate = UINT64_MAX;
	told.tcpi_bytes_acked = real.tcpi_bytes_acked;
	told.tcpi_bytes_received = real.tcpi_bytes_received;
	told.tcpi_notsent_bytes = real.tcpi_notsent_bytes;
	told.tcpi_min_rtt = RTT_US;
	told.tcpi_bytes_sent = real.tcpi_bytes_sent;
	memcpy(ret, &told, sizeof(told) < room ? sizeof(told) : room);
	return (int)(sizeof(told) < room ? sizeof(told) : room);
}
