// SPDX-License-Identifier: Apache-2.0
// Java: hello from threads.
//: varies
import java.util.UUID;

class Main {
	public static void main(String[] args) throws Exception {
		Thread[] threads = new Thread[4];
		for (int i = 0; i < 4; i++) {
			int n = i;
			threads[i] = new Thread(() -> {
				try {
					Thread.sleep(10 * (4 - n));
				} catch (InterruptedException e) {
					throw new RuntimeException(e);
				}
				synchronized (Main.class) {
					System.out.println("hello from " + n + " " + System.nanoTime() + " " + new Object().hashCode());
				}
			});
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
		System.out.println(UUID.randomUUID() + " " + System.currentTimeMillis() + " " + ProcessHandle.current().pid());
	}
}
