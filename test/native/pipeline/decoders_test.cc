#include "native/pipeline/decoders.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

std::vector<std::string> NamesOf(const Decoders& decoders) {
  std::vector<std::string> names;
  for (const RouteStats& route : decoders.router->stats()) names.push_back(route.name);
  return names;
}

TEST(Decoders, WithoutGpusTheCoresAreTheOnlyResource) {
  const auto decoders = OpenDecoders({4, 0, false, {}});
  ASSERT_TRUE(decoders.ok());
  EXPECT_EQ(NamesOf(*decoders), std::vector<std::string>{"cpu"});
  EXPECT_FALSE(decoders->router->has_choice());
  EXPECT_TRUE(decoders->missing.empty());
}

TEST(Decoders, NamesChooseAmongTheRoutes) {
  const auto both = OpenDecoders({4, 2, false, {"cpu", "cpu reduced", "nvjpeg cuda"}});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(NamesOf(*both), (std::vector<std::string>{"cpu reduced", "cpu"}));
  const auto one = OpenDecoders({4, 2, false, {"cpu"}});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(NamesOf(*one), std::vector<std::string>{"cpu"});
  const auto none = OpenDecoders({4, 2, false, {"nvjpeg hardware"}});
  EXPECT_EQ(none.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(none.status().message().find("nvjpeg hardware"), std::string::npos);
}

TEST(Decoders, AskedForGpusThatAreNotThereTheySayWhy) {
  const auto decoders = OpenDecoders({4, 0, true, {}});
  ASSERT_TRUE(decoders.ok());
  if (decoders->router->has_choice()) GTEST_SKIP() << "this machine has GPU routes";
  ASSERT_FALSE(decoders->missing.empty());
  for (const std::string& reason : decoders->missing) EXPECT_FALSE(reason.empty());
}

TEST(Decoders, CalibrationMeasuresTheCores) {
  ASSERT_TRUE(InitDecoders().ok());
  const auto decoders = OpenDecoders({4, 0, false, {}});
  ASSERT_TRUE(decoders.ok());
  const double guess = decoders->router->stats()[0].megapixel_ms;
  CalibrateDecoders(*decoders->router, 0);
  EXPECT_EQ(decoders->router->stats()[0].megapixel_ms, guess) << "no time, no measurement";
  CalibrateDecoders(*decoders->router, 60'000);
  const double measured = decoders->router->stats()[0].megapixel_ms;
  EXPECT_NE(measured, guess);
  EXPECT_GT(measured, 0);
}

}  // namespace
}  // namespace lattice
