// A thread that runs closures in the order in which they were posted.
#ifndef LATTICE_BASE_SERIAL_THREAD_H_
#define LATTICE_BASE_SERIAL_THREAD_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lattice {

// Post is thread-safe; the closures must not throw.
class SerialThread {
 public:
  SerialThread();
  ~SerialThread();  // as Stop
  SerialThread(const SerialThread&) = delete;
  SerialThread& operator=(const SerialThread&) = delete;

  // False, and the closure is dropped, once Stop was called.
  bool Post(std::function<void()> work);

  // Runs the closures posted so far, then ends the thread. Idempotent. Must not be called from a
  // closure.
  void Stop();

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::mutex joining_;
  std::thread thread_;  // last: starts when the other members are constructed
};

}  // namespace lattice

#endif  // LATTICE_BASE_SERIAL_THREAD_H_
