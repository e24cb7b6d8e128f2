/* Stands in the place of a program of a sandbox: each start of it leaves a child behind.
 *
 * The child has a session of its own, ignores what asks it to end, and holds on to the standard
 * output and error that it was given. This process itself becomes the program. How long the
 * child lives, in milliseconds (less than none: for ever), and where the program is now are
 * written over the configuration before this is put into its place.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIZE 4200

static volatile char configuration[SIZE] = "shakeout: milliseconds, NUL, path of the program";

static void linger(long milliseconds, int ready)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (chdir("/") < 0)
        _exit(1);
    setsid();
    sigset_t mark; /* by this it is known: a program may lead a session before it is replaced */
    sigemptyset(&mark);
    sigaddset(&mark, SIGRTMAX);
    sigprocmask(SIG_BLOCK, &mark, NULL);
    close(ready);
    close(0);
    syscall(SYS_close_range, 3, ~0U, 0);
    while (milliseconds < 0)
        pause();
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0)
        ;
    _exit(0);
}

int main(int argc, char **argv)
{
    char plain[SIZE];
    for (int at = 0; at < SIZE; at++)
        plain[at] = configuration[at];
    plain[SIZE - 1] = 0;
    const char *path = plain + strnlen(plain, SIZE - 2) + 1;
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) == 0) {
        if (fork() == 0)
            linger(atol(plain), ready[1]);
        close(ready[1]);
        char none;
        while (read(ready[0], &none, 1) < 0 && errno == EINTR)
            ; /* until the child is what it is to be */
        close(ready[0]);
    }
    execv(path, argv);
    int why = errno;
    fprintf(stderr, "%s: %s\n", argc ? argv[0] : path, strerror(why));
    return why == ENOENT ? 127 : 126;
}
