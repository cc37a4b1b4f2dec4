#include "native/addon/kept_file_work.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native/addon/js_convert.h"
#include "native/engine_cache/engine_cache.h"

namespace lattice {
namespace {

// One text of all processes is written at a time, which takes a moment.
constexpr char kLockName[] = "texts";
constexpr std::chrono::seconds kLongestWait{10};

using Text = std::optional<std::string>;

Result<Text> ReadText(const std::string& folder, const std::string& name) {
  const auto cache = EngineCache::Open(folder);
  const auto bytes = cache.ok() ? cache->Load(name) : std::nullopt;
  return bytes ? Text(std::string(bytes->begin(), bytes->end())) : Text();
}

Result<Text> KeepText(const std::string& folder, const std::string& name, const std::string& text) {
  const auto cache = EngineCache::Open(folder);
  if (!cache.ok()) return cache.status();
  const auto lock = cache->Lock(kLockName, Clock::now() + kLongestWait);
  if (!lock.ok()) return lock.status();
  const Status stored = cache->Store(name, text);
  if (!stored.ok()) return stored;
  return Text();
}

class KeptFileWork final : public Napi::AsyncWorker {
 public:
  using Work = std::function<Result<Text>()>;
  KeptFileWork(Napi::Env env, Work work)
      : Napi::AsyncWorker(env, "latticeKeptFile"),
        work_(std::move(work)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 private:
  void Execute() override { done_ = work_(); }

  void OnOK() override {
    if (!done_.ok()) return deferred_.Reject(ToError(Env(), done_.status()));
    deferred_.Resolve(*done_ ? Napi::Value(Napi::String::New(Env(), **done_)) : Env().Null());
  }

  const Work work_;
  const Napi::Promise::Deferred deferred_;
  Result<Text> done_ = Text();
};

// The first `count` arguments as texts; empty, with an exception, where one is none.
std::vector<std::string> Texts(const Napi::CallbackInfo& info, size_t count) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    if (!info[i].IsString()) {
      Napi::TypeError::New(info.Env(), "folder, name and text must be strings")
          .ThrowAsJavaScriptException();
      return {};
    }
    texts.push_back(info[i].As<Napi::String>());
  }
  return texts;
}

Napi::Value Start(Napi::Env env, KeptFileWork::Work work) {
  auto* started = new KeptFileWork(env, std::move(work));  // deletes itself
  const Napi::Promise promise = started->promise();
  started->Queue();
  return promise;
}

}  // namespace

Napi::Value StartReadKept(const Napi::CallbackInfo& info) {
  const std::vector<std::string> texts = Texts(info, 2);
  if (texts.empty()) return info.Env().Undefined();
  return Start(info.Env(), [texts] { return ReadText(texts[0], texts[1]); });
}

Napi::Value StartKeep(const Napi::CallbackInfo& info) {
  const std::vector<std::string> texts = Texts(info, 3);
  if (texts.empty()) return info.Env().Undefined();
  return Start(info.Env(), [texts] { return KeepText(texts[0], texts[1], texts[2]); });
}

}  // namespace lattice
