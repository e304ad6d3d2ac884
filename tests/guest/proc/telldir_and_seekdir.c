/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A position in a directory leads back to the name that followed it, and the end is the end.
 *: native
 *: out 20 names, 20 found again, end 1
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
	char name[32], names[64][32];
	long places[64];
	int count = 0, found = 0, plain = 0, end;
	struct dirent *d;
	DIR *dir;

	mkdir("d", 0755);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "d/file%d", i * 7 % 20);
		close(open(name, O_CREAT | O_WRONLY, 0644));
	}
	dir = opendir("d");
	for (places[0] = telldir(dir); (d = readdir(dir)) != NULL; places[count] = telldir(dir)) {
		snprintf(names[count++], sizeof(names[0]), "%.31s", d->d_name);
		plain += d->d_name[0] != '.';
	}
	for (int i = count - 1; i >= 0; i--) {
		seekdir(dir, places[i]);
		d = readdir(dir);
		found += d && strcmp(d->d_name, names[i]) == 0 && names[i][0] != '.';
	}
	seekdir(dir, places[count]);
	end = readdir(dir) == NULL;
	printf("%d names, %d found again, end %d\n", plain, found, end);
	return 0;
}
