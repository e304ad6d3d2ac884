# SPDX-License-Identifier: Apache-2.0
# gcc -O2: objects and __TIME__ are the same to the byte.
#: row clock
#: varies
#: needs gcc
cat >a.c <<'END'
#include <stdio.h>
#include <time.h>
static const char *when = __DATE__ " " __TIME__ " " __TIMESTAMP__;
int main(void) { printf("%s %d\n", when, (int)(time(NULL) % 7)); return 0; }
END
gcc -O2 -g -c a.c -o a.o
gcc -O2 a.o -o a
./a
sha256sum a.o a
ls -l --time-style=+%s.%N a.o a
date +%N
