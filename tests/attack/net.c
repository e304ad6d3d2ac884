/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks through the network. No packet leaves the machine even where one of them works. */
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int reach(int type, const char *where, unsigned short port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	inet_pton(AF_INET, where, &address.sin_addr);
	int result = connect(fd, (const struct sockaddr *)&address, sizeof(address));
	int saved = errno;

	close(fd);
	errno = saved;
	return result;
}

enum verdict net_host_loopback(void)
{
	return refused(
		"connecting to the host's listener", reach(SOCK_STREAM, "127.0.0.1", CANARY_PORT));
}

enum verdict net_ifaces(void)
{
	struct if_nameindex *all = if_nameindex();

	for (struct if_nameindex *i = all; i && i->if_index; i++)
		if (strcmp(i->if_name, "lo") != 0)
			return escaped("there is an interface '%s'", i->if_name);
	if (all)
		if_freenameindex(all);
	return contained(all ? "lo only" : "no interface");
}

/* Connecting a datagram socket asks for a route and sends nothing; the address is for
 * documentation. */
enum verdict net_route_out(void)
{
	return refused("a route to the outside", reach(SOCK_DGRAM, "192.0.2.1", 9));
}
