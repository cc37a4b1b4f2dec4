// A mutex and a condition variable whose contracts clang checks: `npm run tidy` compiles with
// -Wthread-safety.
#ifndef LATTICE_BASE_MUTEX_H_
#define LATTICE_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define LATTICE_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define LATTICE_THREAD_ANNOTATION(attribute)
#endif

// On a member: read and written only by threads that hold the mutex.
#define LATTICE_GUARDED_BY(mutex) LATTICE_THREAD_ANNOTATION(guarded_by(mutex))
// On a function: the caller holds the mutex, does not hold it, locks it, unlocks it.
#define LATTICE_REQUIRES(...) LATTICE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define LATTICE_EXCLUDES(...) LATTICE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define LATTICE_ACQUIRE(...) LATTICE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define LATTICE_RELEASE(...) LATTICE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))

namespace lattice {

class LATTICE_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void Lock() LATTICE_ACQUIRE() { mutex_.lock(); }
  void Unlock() LATTICE_RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Holds the mutex for as long as it lives.
class LATTICE_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) LATTICE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() LATTICE_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits may end without a notification: check the state in a loop.
class Condition {
 public:
  void Wait(Mutex& mutex) LATTICE_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace lattice

#endif  // LATTICE_BASE_MUTEX_H_
