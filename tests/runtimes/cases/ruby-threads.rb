# SPDX-License-Identifier: Apache-2.0
# Ruby: threads, queues, time-outs, processes, sockets, Ractors, random numbers.
#: varies
#: patience 2
#: long
require "digest"
require "open3"
require "securerandom"
require "socket"
require "timeout"
$stdout.sync = true
Warning[:experimental] = false

puts Time.now.to_r, Process.pid, rand, SecureRandom.uuid, "text".hash, Object.new.object_id
queue = Queue.new
workers = 4.times.map do |n|
  Thread.new do
    while (job = queue.pop) != :end
      sleep rand / 10
      puts "#{n} did #{job} #{Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)}"
    end
  end
end
12.times { |job| queue << job }
4.times { queue << :end }
workers.each(&:join)

lock, order = Mutex.new, []
4.times.map { |n| Thread.new { 2000.times { |i| lock.synchronize { order << n if (i % 500).zero? } } } }.each(&:join)
p order
# Threads that only compute: the interpreter's timer takes the processor from each.
p(3.times.map { |n| Thread.new { (1..400_000).reduce { |a, b| (a * 31 + b + n) & 0xffffffff } } }.map(&:value))
begin
  Timeout.timeout(2) { sleep 100 }
rescue Timeout::Error
  puts "timed out #{Time.now.to_r}"
end
server = TCPServer.new("127.0.0.1", 0)
echo = Thread.new { 3.times { s = server.accept; s.puts s.gets.reverse; s.close } }
3.times do |n|
  s = TCPSocket.new("127.0.0.1", server.addr[1])
  s.puts "line #{n}"
  puts s.read.inspect, s.local_address.ip_port
end
echo.join
pid = fork { sleep 3; puts "child #{Process.pid} #{rand}"; exit! 3 }
puts Process.wait2(pid)[1].exitstatus
puts Open3.capture2("tr a-z A-Z; date +%s.%N", stdin_data: "text\n")[0]
trap("USR1") { puts "signal" }
Process.kill("USR1", Process.pid)
sleep 0.1
p(2.times.map { |n| Ractor.new(n) { |k| (1..100_000).sum * k } }.map(&:take))
GC.start
p({ b: 1, a: 2 }.keys, %w[x y z].shuffle, 10.times.map { |i| i.to_s.hash }.min == 0)
