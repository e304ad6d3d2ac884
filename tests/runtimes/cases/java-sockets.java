// SPDX-License-Identifier: Apache-2.0
// Java: a server and its clients over loopback, by streams and by a selector, a time-out, a child process.
//: varies
//: long
import java.io.*;
import java.net.*;
import java.nio.*;
import java.nio.channels.*;
import java.util.*;
import java.util.concurrent.*;

class Main {
	static void serve(ServerSocket server) {
		try {
			for (int i = 0; i < 3; i++)
				try (Socket socket = server.accept()) {
					String line = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
					socket.getOutputStream().write((line + " from " + socket.getPort() + "\n").getBytes());
				}
		} catch (IOException e) {
			System.out.println(e);
		}
	}

	public static void main(String[] args) throws Exception {
		ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		Thread thread = new Thread(() -> serve(server));
		thread.start();
		for (int i = 0; i < 3; i++)
			try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
				socket.getOutputStream().write(("line " + i + "\n").getBytes());
				System.out.println(new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine());
			}
		thread.join();
		server.setSoTimeout(2500);
		try {
			server.accept();
		} catch (SocketTimeoutException e) {
			System.out.println(e.getMessage() + " " + System.nanoTime());
		}

		Selector selector = Selector.open();
		ServerSocketChannel listener = ServerSocketChannel.open();
		listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
		listener.register(selector, SelectionKey.OP_ACCEPT);
		int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
		ExecutorService clients = Executors.newCachedThreadPool();
		for (int i = 0; i < 4; i++) {
			int n = i;
			clients.submit(() -> {
				try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
					channel.write(ByteBuffer.wrap(new byte[1000 * (n + 1)]));
				}
				return null;
			});
		}
		int ended = 0;
		while (ended < 4) {
			int ready = selector.select(10000);
			for (Iterator<SelectionKey> i = selector.selectedKeys().iterator(); i.hasNext(); i.remove()) {
				SelectionKey key = i.next();
				if (key.isAcceptable()) {
					SocketChannel channel = listener.accept();
					System.out.println(ready + " accepted " + channel.getRemoteAddress());
					channel.configureBlocking(false).register(selector, SelectionKey.OP_READ, new int[1]);
				} else {
					int got = ((SocketChannel) key.channel()).read(ByteBuffer.allocate(700));
					if (got < 0) {
						System.out.println(ready + " ended after " + ((int[]) key.attachment())[0]);
						key.channel().close();
						ended++;
					} else {
						((int[]) key.attachment())[0] += got;
					}
				}
			}
		}
		clients.shutdown();
		Process process = new ProcessBuilder("sh", "-c", "date +%s.%N; sleep 5; date +%s.%N; exit 3").start();
		System.out.print(new String(process.getInputStream().readAllBytes()));
		System.out.println(process.pid() + " " + process.waitFor() + " " + selector.select(3000) + " " + System.nanoTime());
	}
}
