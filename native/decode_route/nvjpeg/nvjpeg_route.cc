#include "native/decode_route/nvjpeg/nvjpeg_route.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "native/base/abandoned_gpu.h"
#include "native/base/stopwatch.h"

namespace lattice {
namespace {

// Smaller ones cost a core less than the way to the GPU.
constexpr int kLeastSide = 32;
// One picture must leave room for others.
constexpr size_t kLeastPictures = 4;
// For answers that were due while the whole process stood still.
constexpr std::chrono::milliseconds kSecondLook{100};

struct Job {
  const DecodeRequest* request = nullptr;
  OnRouteAnswer on_answer;
};

// A job as its lane sees it: `bytes` may be read until the job is answered, which a loss may do at
// any time.
struct Picture {
  std::span<const uint8_t> bytes;
  int width = 0;  // as stored
  int height = 0;
  int orientation = 1;
  PlaneLayout layout;
  PlanePool::Block memory;  // null: refused
  NvJpegPicture asked;
  bool decoded = false;
};

// The decoders of the host insist on the marker; devices make up what is missing.
bool EndsAsJpeg(std::span<const uint8_t> bytes) {
  const size_t size = bytes.size();
  return size >= 2 && bytes[size - 2] == 0xFF && bytes[size - 1] == 0xD9;
}

bool KeepsLimits(const JpegHeader& jpeg, const DecodeLimits& limits) {
  const size_t pixels = static_cast<size_t>(jpeg.width) * static_cast<size_t>(jpeg.height);
  return jpeg.width >= kLeastSide && jpeg.height >= kLeastSide && jpeg.width <= limits.max_side &&
         jpeg.height <= limits.max_side && pixels <= limits.max_pixels;
}

GpuImage ImageOf(const Picture& picture, int gpu) {
  GpuImage image;
  image.gpu = gpu;
  image.width = picture.width;
  image.height = picture.height;
  image.orientation = picture.orientation;
  if (image.orientation > 4) std::swap(image.width, image.height);
  for (size_t i = 0; i < 3; ++i) image.planes[i] = picture.asked.planes[i];
  image.pitches = picture.layout.pitches;
  image.memory = picture.memory;
  return image;
}

RouteAnswer AnswerOf(const Picture& picture, int gpu) {
  if (!picture.decoded) return {RouteVerdict::kRefused, Status()};
  DecodedImage image;
  image.on_gpu = ImageOf(picture, gpu);
  image.source_width = image.on_gpu.width;
  image.source_height = image.on_gpu.height;
  return {RouteVerdict::kAnswered, std::move(image)};
}

}  // namespace

struct NvJpegRoute::State {
  // What a lane is at work on.
  struct Hand {
    std::unique_ptr<NvJpegLane> lane;
    std::vector<Job> jobs;
    Clock::time_point since;
    // Held while files are copied to where only the lane owns them.
    std::mutex copying;
  };

  bool TakeBatch(Hand& hand, std::vector<Picture>* pictures);
  void Decode(Hand& hand, std::vector<Picture>& pictures);
  bool Stage(Hand& hand, std::vector<Picture*>& pictures);
  // False where the GPU was lost.
  bool DecodeStaged(Hand& hand, std::span<Picture* const> pictures);
  void Answer(Hand& hand, const std::vector<Picture>& pictures);
  void RunLane(Hand& hand);
  void Watch();
  void Lose();

  NvJpegRouteOptions options;
  std::shared_ptr<PlanePool> pool;
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable busy;  // a lane has begun while the watch saw none at work
  std::deque<Job> waiting;
  std::vector<std::unique_ptr<Hand>> hands;
  bool closing = false;
  bool watch_rests = false;
  std::atomic<bool> lost = false;  // written under the lock
};

bool NvJpegRoute::State::TakeBatch(Hand& hand, std::vector<Picture>* pictures) {
  pictures->clear();
  std::unique_lock lock(mutex);
  work.wait(lock, [this] { return closing || lost || !waiting.empty(); });
  if (lost || waiting.empty()) return false;
  while (!waiting.empty() && hand.jobs.size() < static_cast<size_t>(options.most_batch)) {
    hand.jobs.push_back(std::move(waiting.front()));
    waiting.pop_front();
    const EncodedImage& encoded = hand.jobs.back().request->encoded;
    Picture picture;
    picture.bytes = encoded.bytes;
    picture.width = encoded.jpeg.width;
    picture.height = encoded.jpeg.height;
    picture.orientation = std::clamp(encoded.jpeg.exif_orientation, 1, 8);
    picture.layout = LayOutPlanes(picture.width, picture.height);
    pictures->push_back(std::move(picture));
  }
  hand.since = Clock::now();
  if (watch_rests) busy.notify_one();
  return true;
}

bool NvJpegRoute::State::Stage(Hand& hand, std::vector<Picture*>& pictures) {
  size_t bytes = 0;
  for (const Picture* picture : pictures) bytes += picture->bytes.size();
  const auto staging = hand.lane->Stage(bytes);
  if (!staging.ok()) {
    if (staging.status().code() == StatusCode::kGpuLost) Lose();
    return false;
  }
  const std::lock_guard lock(hand.copying);
  if (lost) return false;
  size_t at = 0;
  for (Picture* picture : pictures) {
    const auto copy = staging->subspan(at, picture->bytes.size());
    std::memcpy(copy.data(), picture->bytes.data(), copy.size());
    picture->asked.bytes = copy;
    at += copy.size();
  }
  return true;
}

bool NvJpegRoute::State::DecodeStaged(Hand& hand, std::span<Picture* const> pictures) {
  {
    const std::lock_guard lock(mutex);
    hand.since = Clock::now();
  }
  std::vector<NvJpegPicture> asked;
  for (const Picture* picture : pictures) asked.push_back(picture->asked);
  const Status decoded = hand.lane->Decode(asked);
  if (decoded.code() == StatusCode::kGpuLost) {
    Lose();
    return false;
  }
  if (decoded.ok()) {
    for (Picture* picture : pictures) picture->decoded = true;
  } else if (pictures.size() > 1) {
    for (size_t i = 0; i < pictures.size(); ++i) {
      if (lost || !DecodeStaged(hand, pictures.subspan(i, 1))) return false;
    }
  }
  return true;
}

void NvJpegRoute::State::Decode(Hand& hand, std::vector<Picture>& pictures) {
  std::vector<Picture*> fitting;
  for (Picture& picture : pictures) {
    picture.memory = pool->Take(picture.layout.bytes);
    if (!picture.memory) continue;
    for (size_t i = 0; i < 3; ++i) {
      picture.asked.planes[i] = picture.memory.get() + picture.layout.offsets[i];
    }
    picture.asked.pitches = picture.layout.pitches;
    fitting.push_back(&picture);
  }
  if (!fitting.empty() && Stage(hand, fitting)) DecodeStaged(hand, fitting);
}

void NvJpegRoute::State::Answer(Hand& hand, const std::vector<Picture>& pictures) {
  std::vector<Job> jobs;
  {
    const std::lock_guard lock(mutex);
    if (lost) return;
    jobs = std::exchange(hand.jobs, {});
  }
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].on_answer(AnswerOf(pictures[i], options.gpu));
}

void NvJpegRoute::State::RunLane(Hand& hand) {
  std::vector<Picture> pictures;
  while (TakeBatch(hand, &pictures)) {
    try {
      Decode(hand, pictures);
    } catch (const std::exception&) {
      // Out of memory: who was not decoded is refused.
    }
    Answer(hand, pictures);
  }
}

void NvJpegRoute::State::Watch() {
  const auto patience = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(options.patience_ms));
  bool looked_again = false;
  std::unique_lock lock(mutex);
  while (!closing && !lost) {
    auto until = Clock::time_point::max();
    for (const auto& hand : hands) {
      if (!hand->jobs.empty()) until = std::min(until, hand->since + patience);
    }
    if (until == Clock::time_point::max()) {
      watch_rests = true;
      busy.wait(lock);
      watch_rests = false;
    } else if (until > Clock::now()) {
      busy.wait_until(lock, until);
    } else if (!looked_again) {
      // Where the whole process stood still, its lanes are about to answer.
      looked_again = true;
      busy.wait_for(lock, kSecondLook);
      continue;
    } else {
      lock.unlock();
      AbandonGpu();
      Lose();
      return;
    }
    looked_again = false;
  }
}

void NvJpegRoute::State::Lose() {
  std::vector<Job> ended;
  {
    const std::lock_guard lock(mutex);
    if (lost) return;
    lost = true;
    for (const auto& hand : hands) {
      for (Job& job : hand->jobs) ended.push_back(std::move(job));
      hand->jobs.clear();
    }
    for (Job& job : waiting) ended.push_back(std::move(job));
    waiting.clear();
  }
  work.notify_all();
  busy.notify_all();
  pool->Abandon();
  // Until its answer a request's bytes are there to be read.
  for (const auto& hand : hands) const std::lock_guard lock(hand->copying);
  for (const Job& job : ended) job.on_answer({RouteVerdict::kLost, Status()});
}

NvJpegRoute::NvJpegRoute(NvJpegRouteOptions options, std::shared_ptr<NvJpegDevice> device,
                         std::vector<std::unique_ptr<NvJpegLane>> lanes,
                         std::shared_ptr<PlanePool> pool)
    : description_{options.name, options.resource,
                   static_cast<int>(lanes.size()) * options.most_batch, options.cost, options.gpu},
      device_(std::move(device)),
      most_plane_bytes_(pool->most_bytes() / kLeastPictures),
      state_(std::make_shared<State>()) {
  state_->options = std::move(options);
  state_->pool = std::move(pool);
  for (auto& lane : lanes) {
    state_->hands.push_back(std::make_unique<State::Hand>());
    state_->hands.back()->lane = std::move(lane);
  }
  for (const auto& hand : state_->hands) {
    threads_.emplace_back([state = state_, &hand = *hand] { state->RunLane(hand); });
  }
  watch_ = std::thread([state = state_.get()] { state->Watch(); });
}

NvJpegRoute::~NvJpegRoute() {
  bool lost = false;
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
    // The network may have found that the GPU hangs.
    lost = state_->lost || IsGpuAbandoned();
  }
  if (lost) state_->pool->Abandon();
  state_->work.notify_all();
  state_->busy.notify_all();
  watch_.join();
  for (std::thread& thread : threads_) lost ? thread.detach() : thread.join();
}

bool NvJpegRoute::Takes(const DecodeRequest& request) const {
  const EncodedImage& encoded = request.encoded;
  const JpegHeader& jpeg = encoded.jpeg;
  return request.gpu_images && encoded.format == ImageFormat::kJpeg && jpeg.process == 0 &&
         jpeg.precision == 8 && !jpeg.rgb_coded &&
         encoded.chroma_sampling() == ChromaSampling::k420 && KeepsLimits(jpeg, request.limits) &&
         LayOutPlanes(jpeg.width, jpeg.height).bytes <= most_plane_bytes_;
}

void NvJpegRoute::Start(const DecodeRequest& request, CallerThread&, OnRouteAnswer on_answer) {
  if (!EndsAsJpeg(request.encoded.bytes) || !device_->Supports(request.encoded)) {
    return on_answer({RouteVerdict::kRefused, Status()});
  }
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->lost) {
      state_->waiting.push_back({&request, std::move(on_answer)});
      // Under the lock: once the image is answered, the route may go.
      state_->work.notify_one();
      return;
    }
  }
  on_answer({RouteVerdict::kLost, Status()});
}

}  // namespace lattice
