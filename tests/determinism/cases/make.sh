# SPDX-License-Identifier: Apache-2.0
# make -j4: the same order, the same bytes, no clock skew, the right rebuild.
#: row times
#: varies
#: rootless
#: needs make gcc ar
for i in 1 2 3 4 5 6; do
	echo "#include \"all.h\"
const char *unit_$i(void) { return __FILE__ \" \" __TIME__ \" $i\"; }" >unit_$i.c
done
: >all.h
cat >main.c <<'END'
#include <stdio.h>
const char *unit_1(void), *unit_6(void);
int main(void) { puts(unit_1()); puts(unit_6()); return 0; }
END
cat >Makefile <<'END'
OBJ = unit_1.o unit_2.o unit_3.o unit_4.o unit_5.o unit_6.o
prog: main.o libunits.a
	$(CC) -o $@ main.o libunits.a
libunits.a: $(OBJ)
	ar rcU $@ $^
%.o: %.c all.h
	$(CC) -O2 -g -c -o $@ $<
END
make -j4
./prog
make -j4
sleep 1
touch unit_3.c
make -j4
sha256sum *.o libunits.a prog
ls -l --time-style=+%s.%N
