#include "native/addon/core_wrap.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "native/addon/live_cores.h"

namespace lattice {
namespace {

void ThrowTypeError(Napi::Env env, const std::string& message) {
  Napi::TypeError::New(env, message).ThrowAsJavaScriptException();
}

// An exception of a callback, or the failure of the last call, becomes an uncaught exception as for
// any JS callback.
void ReportException(napi_env env) {
  bool pending = false;
  napi_value error = nullptr;
  if (napi_is_exception_pending(env, &pending) != napi_ok || !pending) return;
  if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
}

// A callback for the core that settles `deferred` on the JS thread.
template <typename Value, typename ToJs>
auto Settling(std::shared_ptr<Mailbox> mailbox, Napi::Promise::Deferred deferred, ToJs to_js) {
  return [mailbox = std::move(mailbox), deferred, to_js](Result<Value> result) {
    auto shared = std::make_shared<Result<Value>>(std::move(result));
    mailbox->PostReply([deferred, shared, to_js](napi_env env) {
      if (shared->ok()) {
        deferred.Resolve(to_js(Napi::Env(env), **shared));
      } else {
        deferred.Reject(ToError(env, shared->status()));
      }
    });
  };
}

}  // namespace

Napi::Function CoreWrap::Class(Napi::Env env) {
  return DefineClass(env, "Core",
                     {
                         InstanceMethod("loadModel", &CoreWrap::LoadModel),
                         InstanceMethod("addBatches", &CoreWrap::AddBatches),
                         InstanceMethod("unloadModel", &CoreWrap::UnloadModel),
                         InstanceMethod("submit", &CoreWrap::Submit),
                         InstanceMethod("cancel", &CoreWrap::Cancel),
                         InstanceMethod("readFile", &CoreWrap::ReadFile),
                         InstanceMethod("stats", &CoreWrap::Stats),
                         InstanceMethod("decodeStats", &CoreWrap::DecodeStats),
                         InstanceMethod("close", &CoreWrap::Close),
                     });
}

CoreWrap::CoreWrap(const Napi::CallbackInfo& info) : Napi::ObjectWrap<CoreWrap>(info) {
  const Napi::Env env = info.Env();
  CoreOptions options;
  if (!ParseCoreOptions(info[0], options)) return;
  if (!info[1].IsFunction()) {
    ThrowTypeError(env, "onResults must be a function");
    return;
  }
  if (!info[2].IsUndefined() && !info[2].IsFunction()) {
    ThrowTypeError(env, "onDeviceLost must be a function");
    return;
  }
  if (!Start(env, options, info[1].As<Napi::Function>())) return;
  if (info[2].IsFunction()) on_device_lost_ = Napi::Persistent(info[2].As<Napi::Function>());
  state_ = State::kOpen;
  Ref();
}

CoreWrap::~CoreWrap() { Abandon(); }

bool CoreWrap::Start(Napi::Env env, const CoreOptions& options, const Napi::Function& on_results) {
  auto core = Core::Open(
      options, [mailbox = mailbox_](TaskResult result) { mailbox->PostResult(std::move(result)); },
      [mailbox = mailbox_](const Status& status) { mailbox->PostDeviceLost(status); });
  if (!core.ok()) {
    napi_throw(env, ToError(env, core.status()));
    return false;
  }
  const napi_status made =
      napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "lattice"), 0,
                                      1, nullptr, nullptr, this, OnWake, &wake_);
  if (made != napi_ok) {
    ThrowTypeError(env, "the environment is ending");
    return false;
  }
  (void)napi_unref_threadsafe_function(env, wake_);
  core_ = *std::move(core);
  on_results_ = Napi::Persistent(on_results);
  arguments_ = std::make_unique<ResultArguments>(env);
  mailbox_->Open(wake_);
  // Registered after the thread-safe function, so that it runs before that one's own clean-up.
  (void)napi_add_env_cleanup_hook(env, OnEnvironmentEnd, this);
  AddLiveCore(this, [mailbox = mailbox_, core = core_] {
    mailbox->Shut();
    core->Close();
  });
  return true;
}

bool CoreWrap::Closed(Napi::Env env) {
  if (state_ == State::kOpen) return false;
  ThrowTypeError(env, "the core is closed");
  return true;
}

void CoreWrap::AddPending(Napi::Env env, size_t count) {
  if (pending_ == 0 && count > 0) (void)napi_ref_threadsafe_function(env, wake_);
  pending_ += count;
}

void CoreWrap::RemovePending(Napi::Env env, size_t count) {
  pending_ -= count;
  if (pending_ == 0 && count > 0) (void)napi_unref_threadsafe_function(env, wake_);
}

Napi::Value CoreWrap::LoadModel(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (Closed(env)) return env.Undefined();
  if (!info[0].IsString()) {
    ThrowTypeError(env, "path must be a string");
    return env.Undefined();
  }
  ModelToLoad model{info[0].As<Napi::String>().Utf8Value()};
  if (!info[1].IsUndefined() && !ParseLoadOptions(info[1], model)) return env.Undefined();
  const auto deferred = Napi::Promise::Deferred::New(env);
  AddPending(env, 1);
  core_->LoadModel(std::move(model), [settle = Settling<LoadedModel>(mailbox_, deferred, ToModel)](
                                         Result<LoadedModel> loaded) {
    RenewExitHandler();
    settle(std::move(loaded));
  });
  return deferred.Promise();
}

Napi::Value CoreWrap::AddBatches(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::vector<int> batches;
  if (Closed(env) || !ParseBatches(info[1], batches)) return env.Undefined();
  if (!info[0].IsNumber()) {
    ThrowTypeError(env, "modelId must be a number");
    return env.Undefined();
  }
  const auto deferred = Napi::Promise::Deferred::New(env);
  AddPending(env, 1);
  core_->AddBatches(info[0].As<Napi::Number>().Uint32Value(), std::move(batches),
                    Settling<LoadedModel>(mailbox_, deferred, ToModel));
  return deferred.Promise();
}

void CoreWrap::UnloadModel(const Napi::CallbackInfo& info) {
  if (Closed(info.Env())) return;
  if (!info[0].IsNumber()) return ThrowTypeError(info.Env(), "modelId must be a number");
  core_->UnloadModel(info[0].As<Napi::Number>().Uint32Value());
}

void CoreWrap::Submit(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (Closed(env)) return;
  std::vector<ImageTask> tasks;
  const bool parsed = ParseTasks(
      info[0], [this](uint32_t id) { return core_->FindModel(id); },
      [this](const Napi::Uint8Array& bytes) { return Hold(bytes); }, tasks);
  if (!parsed) return;
  const size_t count = tasks.size();
  const uint64_t duplicate = core_->Submit(std::move(tasks));
  if (duplicate != 0) {
    return ThrowTypeError(env, "task id " + std::to_string(duplicate) + " is live already");
  }
  AddPending(env, count);
}

// A thread may still decode the bytes of a task that was answered: the reference ends with their
// last owner, on the JS thread, where alone it can be deleted.
SentImage CoreWrap::Hold(const Napi::Uint8Array& bytes) {
  napi_ref reference = nullptr;
  if (napi_create_reference(bytes.Env(), bytes, 1, &reference) != napi_ok) return nullptr;
  using Bytes = std::span<const uint8_t>;
  return {new Bytes(bytes.Data(), bytes.ByteLength()),
          [mailbox = mailbox_, reference](const Bytes* held) {
            delete held;
            mailbox->PostReleased(reference);
          }};
}

Napi::Value CoreWrap::Cancel(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::vector<uint64_t> ids;
  if (Closed(env) || !ParseIds(info[0], ids)) return env.Undefined();
  return Napi::Number::New(env, static_cast<double>(core_->Cancel(ids)));
}

Napi::Value CoreWrap::ReadFile(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (Closed(env)) return env.Undefined();
  if (!info[0].IsString()) {
    ThrowTypeError(env, "path must be a string");
    return env.Undefined();
  }
  const auto deferred = Napi::Promise::Deferred::New(env);
  AddPending(env, 1);
  core_->ReadFile(
      info[0].As<Napi::String>().Utf8Value(),
      Settling<FileContent>(mailbox_, deferred, [](Napi::Env js, const FileContent& file) {
        return Napi::Buffer<uint8_t>::Copy(js, file.bytes.data(), file.bytes.size());
      }));
  return deferred.Promise();
}

Napi::Value CoreWrap::Stats(const Napi::CallbackInfo& info) {
  if (Closed(info.Env())) return info.Env().Undefined();
  return ToStats(info.Env(), *core_);
}

Napi::Value CoreWrap::DecodeStats(const Napi::CallbackInfo& info) {
  if (Closed(info.Env())) return info.Env().Undefined();
  return ToDecodeStats(info.Env(), *core_);
}

Napi::Value CoreWrap::Close(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto deferred = Napi::Promise::Deferred::New(env);
  if (state_ == State::kClosed) {
    deferred.Resolve(env.Undefined());
    return deferred.Promise();
  }
  closing_.push_back(deferred);
  if (state_ == State::kOpen) {
    state_ = State::kClosing;
    AddPending(env, 1);
    closer_ = std::thread([this, mailbox = mailbox_, core = core_] {
      core->Close();
      mailbox->PostReply([this](napi_env reply_env) { FinishClose(reply_env); });
    });
  }
  return deferred.Promise();
}

// JS thread; everything else that was pending has been delivered before.
void CoreWrap::FinishClose(Napi::Env env) {
  state_ = State::kClosed;
  (void)napi_remove_env_cleanup_hook(env, OnEnvironmentEnd, this);
  Abandon();
  for (const auto& deferred : closing_) deferred.Resolve(env.Undefined());
  closing_.clear();
  on_results_.Reset();
  on_device_lost_.Reset();
  arguments_.reset();
  Unref();
}

// Ends threads and wakes for good. Idempotent; touches no JavaScript.
void CoreWrap::Abandon() {
  if (core_ == nullptr) return;
  RemoveLiveCore(this);
  mailbox_->Shut();
  core_->Close();
  if (closer_.joinable()) closer_.join();
  core_.reset();
  (void)napi_release_threadsafe_function(wake_, napi_tsfn_abort);
}

void CoreWrap::OnEnvironmentEnd(void* wrap) { static_cast<CoreWrap*>(wrap)->Abandon(); }

void CoreWrap::OnWake(napi_env env, napi_value, void* context, void*) {
  if (env == nullptr) return;  // the environment is ending: Abandon has run or will
  static_cast<CoreWrap*>(context)->Deliver(env);
}

void CoreWrap::Deliver(Napi::Env env) {
  const Napi::HandleScope scope(env);
  const Mailbox::Contents contents = mailbox_->Drain();
  if (!contents.device_lost.ok() && !on_device_lost_.IsEmpty()) {
    const napi_value error = ToError(env, contents.device_lost);
    napi_value ignored = nullptr;
    (void)napi_call_function(env, env.Undefined(), on_device_lost_.Value(), 1, &error, &ignored);
    ReportException(env);
  }
  if (!contents.results.empty()) {
    const auto arguments = arguments_->Make(env, contents.results);
    if (!arguments) return;
    napi_value ignored = nullptr;
    (void)napi_call_function(env, env.Undefined(), on_results_.Value(), arguments->size(),
                             arguments->data(), &ignored);
    ReportException(env);
  }
  for (napi_ref value : contents.released) (void)napi_delete_reference(env, value);
  // Done before the replies, because the reply of close() takes the wake function away.
  RemovePending(env, contents.results.size() + contents.replies.size());
  for (const Mailbox::Reply& reply : contents.replies) reply(env);
  ReportException(env);
}

}  // namespace lattice
