# SPDX-License-Identifier: Apache-2.0
#: needs java
#: exit 0
#: long
#: option --timeout
#: option 120s
# The interpreter of the JVM in a loop that waits for a volatile field.
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
java -Xint Spin.java
