/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread a signal comes to: the main one if it is open for it, else another that is; tgkill
 * to one; a stop and a SIGCONT sent to a thread concern all.
 *: native
 *: long
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread const char *name = "main";
static int report[2];

static void tell(int sig)
{
	dprintf(report[1], "signal %d in %s\n", sig, name);
}

static volatile pid_t tids[3];
static pthread_barrier_t barrier;

static void *waits(void *number)
{
	static const char *const names[] = {"one", "two", "three"};
	int i = *(int *)number;
	sigset_t set;

	name = names[i];
	tids[i] = (pid_t)syscall(SYS_gettid);
	sigemptyset(&set);
	sigaddset(&set, i == 0 ? SIGUSR1 : SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

static void settle(void)
{
	usleep(20000);
}

static void threads(void)
{
	struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
	int numbers[3] = {0, 1, 2};
	pthread_t thread;
	sigset_t set;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, waits, &numbers[i]);
	pthread_barrier_wait(&barrier);
	settle();
	dprintf(report[1], "both to main\n");
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	dprintf(report[1], "SIGUSR2 is blocked in main, two and three\n");
	kill(getpid(), SIGUSR2);
	settle();
	dprintf(report[1], "to thread three\n");
	syscall(SYS_tgkill, getpid(), tids[2], SIGUSR1);
	settle();
	dprintf(report[1], "no such thread %ld\n", syscall(SYS_tgkill, getpid(), getppid(), 0));
	dprintf(report[1], "tgkill 0 %ld\n", syscall(SYS_tgkill, getpid(), tids[1], 0));
	kill(getppid(), SIGUSR1);
	for (;;)
		pause();
}

int main(void)
{
	char text[1024];
	ssize_t n;
	int status;
	sigset_t set;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (pipe(report) < 0)
		return 1;
	pid = fork();
	if (pid == 0)
		threads();
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwaitinfo(&set, NULL);
	dprintf(report[1], "stop %d\n", kill(pid, SIGSTOP));
	waitpid(pid, &status, WUNTRACED);
	dprintf(report[1], "stopped %d\n", WIFSTOPPED(status));
	kill(pid, SIGCONT);
	waitpid(pid, &status, WCONTINUED);
	dprintf(report[1], "continued %d\n", WIFCONTINUED(status));
	settle();
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(report[1]);
	while ((n = read(report[0], text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	printf("ended by %d\n", WTERMSIG(status));
	return 0;
}
