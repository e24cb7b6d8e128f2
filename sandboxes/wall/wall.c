/* A wall clock that can be moved, for every dynamically linked program of a sandbox.
 *
 * Loaded through /etc/ld.so.preload, so an emptied environment keeps it. Readings of the
 * real-time clocks are shifted by an offset that only the outside writes; monotonic clocks,
 * sleeps and relative waits are left alone. A wait with an absolute deadline is given the
 * deadline it meant, since the program computed it from the shifted clock.
 *
 * What it cannot do: static binaries and raw system calls see real time, and so do file
 * times and absolute timerfd timers. The table of readings is written by the subject's own
 * processes: it shows that a program asked here, and proves nothing to a sceptic.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/run/shakeout/"
#define SLOTS 64
#define SECOND 1000000000LL

struct slot {
    char name[16];
    _Atomic uint64_t state; /* 0 free, 1 being named, 2 named */
    _Atomic uint64_t count;
};

/* After the slots comes, for each, how many of its readings were at or past the mark. */
struct table {
    struct slot slots[SLOTS];
    _Atomic uint64_t late[SLOTS];
};

/* What the outside writes. */
struct setting {
    _Atomic int64_t offset_ns;
    _Atomic int64_t mark_ns; /* of the shown clock; 0: there is none */
};

enum { UNTRIED, TRYING, SETTLED };
static _Atomic int progress = UNTRIED;
static const struct setting *setting; /* stays NULL where there is nothing to map */
static struct slot *mine;
static _Atomic uint64_t *mine_late;

static void *map(const char *path, size_t size, int flags, int protection)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    void *at = mmap(NULL, size, protection, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    return at == MAP_FAILED ? NULL : at;
}

static struct slot *claim(struct slot *slots)
{
    char name[16] = {0};
    if (program_invocation_short_name && *program_invocation_short_name)
        strncpy(name, program_invocation_short_name, sizeof name - 1);
    else
        prctl(PR_GET_NAME, name, 0, 0, 0);
    for (struct slot *s = slots; s < slots + SLOTS; s++) {
        uint64_t unused = 0;
        if (atomic_compare_exchange_strong(&s->state, &unused, 1)) {
            memcpy(s->name, name, sizeof name);
            atomic_store(&s->state, 2);
            return s;
        }
        if (unused == 2 && memcmp(s->name, name, sizeof name) == 0)
            return s;
    }
    return NULL;
}

static void settle(void)
{
    int untried = UNTRIED, saved = errno;
    if (!atomic_compare_exchange_strong(&progress, &untried, TRYING))
        return; /* another thread, or a signal handler within this one, is at it */
    struct table *table = map(FOLDER "reads", sizeof *table, O_RDWR, PROT_READ | PROT_WRITE);
    struct slot *slot = table ? claim(table->slots) : NULL;
    if (slot) {
        mine_late = &table->late[slot - table->slots];
        mine = slot;
    }
    setting = map(FOLDER "offset", sizeof *setting, O_RDONLY, PROT_READ);
    atomic_store(&progress, SETTLED);
    errno = saved;
}

static int64_t offset(void)
{
    if (atomic_load(&progress) != SETTLED)
        settle();
    return setting ? atomic_load(&setting->offset_ns) : 0;
}

/* Count a reading; where the mark stands is known once the offset was asked for. */
static void counted(const struct timespec *shown)
{
    if (!mine)
        return;
    int64_t mark = setting ? atomic_load(&setting->mark_ns) : 0;
    if (mark && shown->tv_sec * SECOND + shown->tv_nsec >= mark)
        atomic_fetch_add(mine_late, 1);
    atomic_fetch_add(&mine->count, 1);
}

static int is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static struct timespec shifted(struct timespec t, int64_t by)
{
    t.tv_sec += by / SECOND;
    t.tv_nsec += by % SECOND;
    if (t.tv_nsec >= SECOND) {
        t.tv_nsec -= SECOND;
        t.tv_sec++;
    } else if (t.tv_nsec < 0) {
        t.tv_nsec += SECOND;
        t.tv_sec--;
    }
    return t;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int result = (int)syscall(SYS_clock_gettime, clock, t);
    if (result == 0 && is_wall(clock)) {
        *t = shifted(*t, offset());
        counted(t);
    }
    return result;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *t, int base)
{
    if (base != TIME_UTC)
        return 0;
    clock_gettime(CLOCK_REALTIME, t);
    return base;
}

/* Absolute deadlines. */

#define NEXT(name) \
    static _Atomic(void *) found; \
    void *address = atomic_load(&found); \
    if (!address) { \
        address = dlsym(RTLD_NEXT, name); \
        atomic_store(&found, address); \
    }

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
    struct timespec meant;
    if ((flags & TIMER_ABSTIME) && is_wall(clock)) {
        meant = shifted(*t, -offset());
        t = &meant;
    }
    long result = syscall(SYS_clock_nanosleep, clock, flags, t, left);
    return result == 0 ? 0 : errno;
}

int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict deadline)
{
    NEXT("sem_timedwait")
    struct timespec meant = shifted(*deadline, -offset());
    return ((int (*)(sem_t *, const struct timespec *))address)(sem, &meant);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                            const struct timespec *restrict deadline)
{
    NEXT("pthread_mutex_timedlock")
    struct timespec meant = shifted(*deadline, -offset());
    return ((int (*)(pthread_mutex_t *, const struct timespec *))address)(mutex, &meant);
}

/* A condition variable does not tell its clock: the deadline does, by which clock it is near. */
static int is_near_wall(const struct timespec *deadline)
{
    struct timespec steady, wall;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &steady);
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &wall);
    wall = shifted(wall, offset());
    int64_t to_wall = deadline->tv_sec - wall.tv_sec, to_steady = deadline->tv_sec - steady.tv_sec;
    return (to_wall < 0 ? -to_wall : to_wall) < (to_steady < 0 ? -to_steady : to_steady);
}

static void *cond_timedwait(void)
{
    /* dlsym may give the first version of this symbol, which has another layout. */
    void *address = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    return address ? address : dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline)
{
    static _Atomic(void *) found;
    void *address = atomic_load(&found);
    if (!address) {
        address = cond_timedwait();
        atomic_store(&found, address);
    }
    struct timespec meant = *deadline;
    if (offset() && is_near_wall(deadline))
        meant = shifted(meant, -offset());
    return ((int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))address)(
        cond, mutex, &meant);
}
