// What the simulated builder writes and the simulated runtime reads: the ONNX file it came from and
// the batch of each profile.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_PLAN_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_PLAN_H_

#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace lattice::simulated {

struct Plan {
  std::vector<int64_t> batches;
  std::string onnx;
};

inline constexpr char kPlanMark[] = "simulated-plan";

inline std::string WritePlan(const Plan& plan) {
  std::ostringstream text;
  text << kPlanMark << ' ' << plan.batches.size();
  for (const int64_t batch : plan.batches) text << ' ' << batch;
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
  plan.batches.resize(text && mark == kPlanMark && profiles < 100 ? profiles : 0);
  for (int64_t& batch : plan.batches) text >> batch;
  size_t size = 0;
  text >> size;
  if (!text || text.get() != '\n' || plan.batches.empty()) return std::nullopt;
  plan.onnx = bytes.substr(static_cast<size_t>(text.tellg()));
  if (plan.onnx.size() != size) return std::nullopt;
  return plan;
}

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_PLAN_H_
