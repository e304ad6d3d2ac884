// SPDX-License-Identifier: Apache-2.0
// Java: pools, schedules, parallel streams, hash orders, until its compilers are warm and the collector has run.
//: varies
//: variant serial -XX:+UseSerialGC
//: variant g1 -XX:+UseG1GC -XX:ParallelGCThreads=4 -XX:ConcGCThreads=2
//: long
//: option --timeout
//: option 240s
import java.security.SecureRandom;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;

class Main {
	static final class Key {
	}

	static long work(long seed) {
		long x = seed;
		for (int i = 0; i < 2000; i++)
			x = x * 6364136223846793005L + 1442695040888963407L ^ (x >>> 29);
		return x;
	}

	public static void main(String[] args) throws Exception {
		System.out.println(System.nanoTime() + " " + System.currentTimeMillis() + " " + UUID.randomUUID());
		System.out.println(new Object().hashCode() + " " + System.identityHashCode(args) + " " + new SecureRandom().nextLong());
		Map<Key, Integer> map = new HashMap<>();
		for (int i = 0; i < 20; i++)
			map.put(new Key(), i);
		System.out.println(map.values() + " " + Set.of("a", "b", "c", "d", "e", "f") + " " + new Random().nextInt());

		ExecutorService pool = Executors.newFixedThreadPool(4);
		ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
		List<Future<Long>> results = new ArrayList<>();
		for (int i = 0; i < 64; i++) {
			long n = i;
			results.add(pool.submit(() -> {
				long value = 0;
				for (int k = 0; k < 30; k++)
					value ^= work(n + k);
				log.add(n + ":" + Thread.currentThread().getName());
				return value;
			}));
		}
		long sum = 0;
		for (Future<Long> result : results)
			sum ^= result.get();
		System.out.println(sum + " " + String.join(" ", log));

		ScheduledExecutorService schedule = Executors.newScheduledThreadPool(2);
		CountDownLatch three = new CountDownLatch(3);
		schedule.scheduleAtFixedRate(() -> {
			System.out.println("tick " + System.nanoTime());
			three.countDown();
		}, 5, 20, TimeUnit.MINUTES);
		three.await();
		schedule.shutdownNow();

		System.setProperty("java.util.concurrent.ForkJoinPool.common.parallelism", "3");
		Set<String> workers = ConcurrentHashMap.newKeySet();
		LongAdder adder = new LongAdder();
		long total = LongStream.range(0, 5000).parallel().map(i -> {
			workers.add(Thread.currentThread().getName());
			adder.increment();
			return work(i & 7);
		}).sum();
		System.out.println(total + " " + adder + " " + new TreeSet<>(workers));
		int[] numbers = new Random().ints(50000).toArray();
		Arrays.parallelSort(numbers);
		System.out.println(numbers[0] + " " + CompletableFuture.supplyAsync(() -> ThreadLocalRandom.current().nextInt()).get());

		List<byte[]> kept = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			byte[] garbage = new byte[100000];
			garbage[i] = 1;
			if (i % 50 == 0)
				kept.add(garbage);
		}
		System.gc();
		System.out.println(kept.size() + " " + Runtime.getRuntime().availableProcessors());
		pool.shutdown();
		System.out.println(pool.awaitTermination(1, TimeUnit.HOURS) + " " + System.nanoTime());
	}
}
