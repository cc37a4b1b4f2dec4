// Carries finished work from the core's threads to the JS thread: one wake-up for all that has
// arrived.
#ifndef LATTICE_ADDON_MAILBOX_H_
#define LATTICE_ADDON_MAILBOX_H_

#include <node_api.h>

#include <functional>
#include <vector>

#include "native/base/mutex.h"
#include "native/base/status.h"
#include "native/scheduler/image_task.h"

namespace lattice {

class Mailbox {
 public:
  // Settles one promise, on the JS thread.
  using Reply = std::function<void(napi_env)>;

  struct Contents {
    std::vector<TaskResult> results;
    std::vector<Reply> replies;
    // Nothing reads these values any more: the caller of Drain deletes them. Those that are dropped
    // end with the environment.
    std::vector<napi_ref> released;
    Status device_lost;  // not ok: it is
  };

  // `wake` is the function to call when something arrives; it must live until Shut.
  void Open(napi_threadsafe_function wake);

  // Any thread. What arrives before Open and after Shut is dropped.
  void PostResult(TaskResult result);
  void PostReply(Reply reply);
  void PostReleased(napi_ref value);
  void PostDeviceLost(const Status& status);

  // JS thread: takes everything that has arrived.
  Contents Drain();

  // No wake happens during or after the return of this call. Idempotent.
  void Shut();

 private:
  void Wake() LATTICE_REQUIRES(mutex_);

  Mutex mutex_;
  napi_threadsafe_function wake_ LATTICE_GUARDED_BY(mutex_) = nullptr;
  bool woken_ LATTICE_GUARDED_BY(mutex_) = false;
  Contents contents_ LATTICE_GUARDED_BY(mutex_);
};

}  // namespace lattice

#endif  // LATTICE_ADDON_MAILBOX_H_
