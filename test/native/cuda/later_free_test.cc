#include "native/cuda/later_free.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace lattice {
namespace {

// Takes as long to be freed as the test wants it to.
struct Slow {
  Slow(std::shared_future<void> until, std::promise<std::thread::id> done)
      : wait(std::move(until)), freed(std::move(done)) {}
  Slow(Slow&&) = default;
  ~Slow() {
    if (!wait.valid()) return;  // moved from
    wait.wait();
    freed.set_value(std::this_thread::get_id());
  }
  std::shared_future<void> wait;
  std::promise<std::thread::id> freed;
};

TEST(LaterFreeTest, NobodyWaitsForWhatTakesLong) {
  std::promise<void> gate;
  std::promise<std::thread::id> first;
  std::promise<std::thread::id> second;
  auto first_freed = first.get_future();
  auto second_freed = second.get_future();
  const std::shared_future<void> open = gate.get_future().share();
  FreeLater(Slow(open, std::move(first)));
  FreeLater(Slow(open, std::move(second)));
  EXPECT_EQ(first_freed.wait_for(std::chrono::milliseconds(5)), std::future_status::timeout);
  gate.set_value();
  EXPECT_NE(first_freed.get(), std::this_thread::get_id());
  EXPECT_NE(second_freed.get(), std::this_thread::get_id());
}

}  // namespace
}  // namespace lattice
