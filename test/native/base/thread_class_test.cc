#include "native/base/thread_class.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

namespace lattice {
namespace {

int Niceness() { return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))); }

TEST(ThreadClassTest, NamesTheCallingThreadAndCutsLongNames) {
  std::thread([] {
    std::array<char, 16> name{};
    EXPECT_TRUE(NameThread("a-name-of-many-letters"));
    pthread_getname_np(pthread_self(), name.data(), name.size());
    EXPECT_STREQ(name.data(), "a-name-of-many-");
  }).join();
}

TEST(ThreadClassTest, LowersTheCallingThreadOnly) {
  const int before = Niceness();
  std::thread([before] {
    EXPECT_TRUE(LowerThread(3));
    EXPECT_EQ(Niceness(), std::min(before + 3, 19));
  }).join();
  EXPECT_EQ(Niceness(), before);
}

TEST(ThreadClassTest, TheIdleClassIsTheCallingThreadsOnly) {
  std::thread([] {
    EXPECT_TRUE(MakeThreadIdleClass());
    EXPECT_EQ(sched_getscheduler(0), SCHED_IDLE);
  }).join();
  EXPECT_NE(sched_getscheduler(0), SCHED_IDLE);
}

}  // namespace
}  // namespace lattice
