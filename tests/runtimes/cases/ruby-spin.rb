# SPDX-License-Identifier: Apache-2.0
# Ruby: a thread that waits for a flag with nothing in its loop.
#: out seen
#: long
flag = false
thread = Thread.new do
  nil until flag
  puts "seen"
end
sleep 0.01
flag = true
thread.join
