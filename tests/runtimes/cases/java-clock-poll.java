// SPDX-License-Identifier: Apache-2.0
// Java: polls the clock until it moves, which the timers of the JVM's own threads make it do.
//: out moved
//: long
class Main {
	public static void main(String[] args) {
		long end = System.nanoTime() + 50_000_000;
		while (System.nanoTime() < end)
			;
		System.out.println("moved");
	}
}
