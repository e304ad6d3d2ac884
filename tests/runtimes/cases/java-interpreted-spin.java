// SPDX-License-Identifier: Apache-2.0
// Java: a thread that waits for a volatile field with nothing in its loop; the interpreter writes nothing meanwhile.
//: variant xint -Xint
//: out seen
//: long
//: option --timeout
//: option 240s
class Main {
	static volatile boolean flag;

	public static void main(String[] args) throws Exception {
		Thread waiter = new Thread(() -> {
			while (!flag)
				;
			System.out.println("seen");
		});
		waiter.start();
		Thread.sleep(10);
		flag = true;
		waiter.join();
	}
}
