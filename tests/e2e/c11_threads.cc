/// For the TSan build only: C's threads as POSIX threads. librdkafka makes its threads by thrd_create() and locks by
/// mtx_lock(), which TSan does not know: a thread made so crashes in its runtime. A program's own functions of these
/// names come before the C library's, for its libraries too.

#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));

namespace {

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* start) {
  const Start made = *static_cast<Start*>(start);
  delete static_cast<Start*>(start);
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(made.function(made.argument)));
}

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int outcome(int code) {
  switch (code) {
    case 0:
      return thrd_success;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  return outcome(pthread_create(thread, nullptr, run, new Start{function, argument}));
}
int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  const int code = pthread_join(thread, &returned);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(returned));
  return outcome(code);
}
int thrd_detach(thrd_t thread) { return outcome(pthread_detach(thread)); }

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int code = pthread_mutex_init(posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return outcome(code);
}
void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(posix(mutex)); }
int mtx_lock(mtx_t* mutex) { return outcome(pthread_mutex_lock(posix(mutex))); }
int mtx_trylock(mtx_t* mutex) { return outcome(pthread_mutex_trylock(posix(mutex))); }
int mtx_unlock(mtx_t* mutex) { return outcome(pthread_mutex_unlock(posix(mutex))); }

int cnd_init(cnd_t* condition) { return outcome(pthread_cond_init(posix(condition), nullptr)); }
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(posix(condition)); }
int cnd_signal(cnd_t* condition) { return outcome(pthread_cond_signal(posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return outcome(pthread_cond_broadcast(posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) { return outcome(pthread_cond_wait(posix(condition), posix(mutex))); }
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return outcome(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}
}
