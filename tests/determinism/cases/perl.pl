# SPDX-License-Identifier: Apache-2.0
# perl: rand, hash order, time, fork.
#: varies
#: rootless
#: needs perl
use strict;
use warnings;
use Time::HiRes qw(time sleep);
use File::Temp qw(tempfile);

my %h = map { $_ => 1 } 'a' .. 'z';
print join(' ', keys %h), "\n";
print rand(), " ", int(rand(1e9)), "\n";
print time(), " ", scalar(localtime), "\n";
sleep 0.25;
printf "%.6f\n", time();
print "$$ $^T ", \%h, "\n";
my ($fh, $name) = tempfile();
print "$name\n";
my $pid = fork();
if (!$pid) { print "child ", rand(), "\n"; exit 4; }
waitpid($pid, 0);
print "status ", $? >> 8, "\n";
print join(',', times()), "\n";
