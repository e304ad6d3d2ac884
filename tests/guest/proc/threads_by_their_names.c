/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a process are listed in order, with the names that they gave themselves.
 *: native
 *: out main one two three
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static pthread_barrier_t named, shown;

static void *name(void *text)
{
	prctl(PR_SET_NAME, text);
	pthread_barrier_wait(&named);
	pthread_barrier_wait(&shown);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	static char names[][8] = {"one", "two", "three"};
	pthread_t threads[3];
	int tids[16], count = 0;
	struct dirent *d;
	DIR *dir;

	prctl(PR_SET_NAME, "main");
	pthread_barrier_init(&named, NULL, 4);
	pthread_barrier_init(&shown, NULL, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, name, names[i]);
	pthread_barrier_wait(&named);
	dir = opendir("/proc/self/task");
	while (dir && count < 16 && (d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.')
			tids[count++] = (int)strtol(d->d_name, NULL, 10);
	qsort(tids, (size_t)count, sizeof(*tids), compare);
	for (int i = 0; i < count; i++) {
		char path[64], comm[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tids[i]);
		f = fopen(path, "r");
		if (f && fgets(comm, sizeof(comm), f))
			comm[strcspn(comm, "\n")] = '\0';
		if (f)
			fclose(f);
		printf("%s%c", comm, i == count - 1 ? '\n' : ' ');
	}
	pthread_barrier_wait(&shown);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
