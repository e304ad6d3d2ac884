# SPDX-License-Identifier: Apache-2.0
#: needs java
#: unenforced impure_spin
#: exit 121
#: long
#: option --timeout
#: option 120s
# The same with profile counters that move while it waits: told, and no hang.
cat > Spin.java <<'END'
public class Spin {
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
END
java Spin.java
