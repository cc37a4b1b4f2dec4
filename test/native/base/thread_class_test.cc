#include "native/base/thread_class.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <thread>

namespace lattice {
namespace {

int ThisNiceness() { return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))); }

// Holds a thread of that name until told to tell its scheduling policy.
class NamedThread {
 public:
  explicit NamedThread(const char* name)
      : thread_([this, name] {
          NameThread(name);
          ready_.set_value();
          go_.get_future().wait();
          policy_ = sched_getscheduler(0);
        }) {
    ready_.get_future().wait();
  }

  int Policy() {
    go_.set_value();
    thread_.join();
    return policy_;
  }

 private:
  std::promise<void> ready_;
  std::promise<void> go_;
  int policy_ = -1;
  std::thread thread_;
};

TEST(ThreadClassTest, OnlyThreadsOfTheNameStepAside) {
  NamedThread yielding("test-yield");
  NamedThread other("test-other");
  EXPECT_EQ(MakeThreadsIdleClass("test-nobody"), 0);
  EXPECT_EQ(MakeThreadsIdleClass("test-yield"), 1);
  EXPECT_EQ(yielding.Policy(), SCHED_IDLE);
  EXPECT_EQ(other.Policy(), SCHED_OTHER);
}

TEST(ThreadClassTest, LongNamesAreCutOnBothSides) {
  NamedThread yielding("a-name-of-many-letters");
  EXPECT_EQ(MakeThreadsIdleClass("a-name-of-many-letters"), 1);
  EXPECT_EQ(yielding.Policy(), SCHED_IDLE);
}

TEST(ThreadClassTest, AThreadStartedByANamedOneHasItsName) {
  std::thread([] {
    NameThread("test-parent");
    std::promise<void> go;
    int policy = -1;
    std::thread child([&] {
      go.get_future().wait();
      policy = sched_getscheduler(0);
    });
    NameThread("test-renamed");
    EXPECT_EQ(MakeThreadsIdleClass("test-parent"), 1);
    go.set_value();
    child.join();
    EXPECT_EQ(policy, SCHED_IDLE);
  }).join();
}

TEST(ThreadClassTest, LoweringReachesTheCallingThreadOnly) {
  const int before = ThisNiceness();
  std::thread([before] {
    EXPECT_TRUE(LowerThread(3));
    EXPECT_EQ(ThisNiceness(), std::min(before + 3, 19));
  }).join();
  EXPECT_EQ(ThisNiceness(), before);
}

}  // namespace
}  // namespace lattice
