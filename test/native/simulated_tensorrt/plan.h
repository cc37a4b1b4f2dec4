// The plan that the simulated builder writes and the simulated runtime reads: the ONNX file it came
// from and the input's shape in each profile.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_PLAN_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_PLAN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace lattice::simulated {

using ProfileShape = std::array<int64_t, 4>;

struct Plan {
  std::vector<ProfileShape> profiles;
  std::string onnx;
};

inline constexpr char kPlanMark[] = "simulated-plan";

inline std::string WritePlan(const Plan& plan) {
  std::ostringstream text;
  text << kPlanMark << ' ' << plan.profiles.size();
  for (const ProfileShape& shape : plan.profiles) {
    for (const int64_t side : shape) text << ' ' << side;
  }
  text << ' ' << plan.onnx.size() << '\n' << plan.onnx;
  return text.str();
}

// Empty where `bytes` are no plan, or not all of one.
inline std::optional<Plan> ReadPlan(const std::string& bytes) {
  std::istringstream text(bytes);
  std::string mark;
  size_t profiles = 0;
  text >> mark >> profiles;
  Plan plan;
  plan.profiles.resize(text && mark == kPlanMark && profiles < 100 ? profiles : 0);
  for (ProfileShape& shape : plan.profiles) {
    for (int64_t& side : shape) text >> side;
  }
  size_t size = 0;
  text >> size;
  if (!text || text.get() != '\n' || plan.profiles.empty()) return std::nullopt;
  plan.onnx = bytes.substr(static_cast<size_t>(text.tellg()));
  if (plan.onnx.size() != size) return std::nullopt;
  return plan;
}

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_PLAN_H_
