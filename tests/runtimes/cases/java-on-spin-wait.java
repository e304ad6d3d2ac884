// SPDX-License-Identifier: Apache-2.0
// Java: a thread that waits by Thread.onSpinWait, long enough to be compiled.
//: either impure_spin
//: out seen
//: long
//: option --timeout
//: option 240s
class Main {
	static volatile boolean flag;

	public static void main(String[] args) throws Exception {
		Thread waiter = new Thread(() -> {
			while (!flag)
				Thread.onSpinWait();
			System.out.println("seen");
		});
		waiter.start();
		Thread.sleep(10);
		flag = true;
		waiter.join();
	}
}
