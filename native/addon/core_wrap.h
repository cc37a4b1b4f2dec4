// The class `Core` of the addon: NativeCore of src/native/contract.ts, method for method.
#ifndef LATTICE_ADDON_CORE_WRAP_H_
#define LATTICE_ADDON_CORE_WRAP_H_

#include <napi.h>

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "native/addon/js_convert.h"
#include "native/addon/js_describe.h"
#include "native/addon/mailbox.h"
#include "native/addon/result_arguments.h"
#include "native/scheduler/core.h"

namespace lattice {

// Belongs to one environment and is used on its JS thread only. The JS object stays alive until
// close() or the end of the environment, and keeps the process alive only while results or promises
// are pending.
//
// When the environment ends first (worker.terminate(), the natural end of the process), a clean-up
// hook ends the threads: it waits for the image in hand, and what is pending is never delivered.
class CoreWrap : public Napi::ObjectWrap<CoreWrap> {
 public:
  static Napi::Function Class(Napi::Env env);

  explicit CoreWrap(const Napi::CallbackInfo& info);
  ~CoreWrap() override;

 private:
  Napi::Value LoadModel(const Napi::CallbackInfo& info);
  Napi::Value AddBatches(const Napi::CallbackInfo& info);
  void UnloadModel(const Napi::CallbackInfo& info);
  void Submit(const Napi::CallbackInfo& info);
  Napi::Value Cancel(const Napi::CallbackInfo& info);
  Napi::Value ReadFile(const Napi::CallbackInfo& info);
  Napi::Value Stats(const Napi::CallbackInfo& info);
  Napi::Value DecodeStats(const Napi::CallbackInfo& info);
  Napi::Value Close(const Napi::CallbackInfo& info);

  // Why a method cannot be called: a pending TypeError, true when there is one.
  bool Closed(Napi::Env env);
  bool Start(Napi::Env env, const CoreOptions& options, const Napi::Function& on_results);
  void AddPending(Napi::Env env, size_t count);
  void RemovePending(Napi::Env env, size_t count);
  void Deliver(Napi::Env env);
  SentImage Hold(const Napi::Uint8Array& bytes);
  void FinishClose(Napi::Env env);
  void Abandon();

  static void OnWake(napi_env env, napi_value callback, void* context, void* data);
  static void OnEnvironmentEnd(void* wrap);

  enum class State { kOpen, kClosing, kClosed };

  State state_ = State::kClosed;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::shared_ptr<Core> core_;
  napi_threadsafe_function wake_ = nullptr;
  size_t pending_ = 0;  // results and promises not delivered yet
  std::thread closer_;
  std::vector<Napi::Promise::Deferred> closing_;
  Napi::FunctionReference on_results_;
  Napi::FunctionReference on_device_lost_;  // may be empty
  std::unique_ptr<ResultArguments> arguments_;
};

}  // namespace lattice

#endif  // LATTICE_ADDON_CORE_WRAP_H_
