#include "native/scheduler/device_planner.h"

#include <algorithm>

namespace lattice {

DevicePlanner::DevicePlanner(size_t places, Slots slots)
    : slots_(slots),
      places_(places),
      left_(places >= kMostPlaces ? ~PlaceSet{0} : (PlaceSet{1} << places) - 1) {}

size_t DevicePlanner::RunningIn(Lane lane, size_t place) const {
  const auto& running = places_[place].running;
  return static_cast<size_t>(std::count_if(running.begin(), running.end(),
                                           [&](const Running& r) { return r.lane == lane; }));
}

size_t DevicePlanner::SlotsOf(Lane lane) const {
  return static_cast<size_t>(lane == Lane::kSync ? slots_.sync : slots_.async);
}

bool DevicePlanner::HasFree(Lane lane) const {
  for (size_t place = 0; place < places_.size(); ++place) {
    if (Has(left_, place) && RunningIn(lane, place) < SlotsOf(lane)) return true;
  }
  return false;
}

size_t DevicePlanner::Idle(Lane lane, PlaceSet places) const {
  size_t idle = 0;
  for (size_t place = 0; place < places_.size(); ++place) {
    if (Has(places, place) && RunningIn(lane, place) == 0) ++idle;
  }
  return idle;
}

double DevicePlanner::AheadMs(Lane lane, const Place& place, double now_ms) const {
  double ahead = 0;
  for (size_t i = 0; i < place.running.size(); ++i) {
    const Running& running = place.running[i];
    if (i > 0) {
      if (lane == Lane::kAsync || running.lane == Lane::kSync) ahead += running.predicted_ms;
      continue;
    }
    const double over = now_ms - running.since_ms - running.overtook_ms - running.predicted_ms;
    ahead += over < 0 ? -over : std::max(over, 0.1 * running.predicted_ms);
  }
  return ahead;
}

std::optional<DevicePlanner::Best> DevicePlanner::BestFor(const PlannedSlice& slice,
                                                          std::span<const double> ahead) const {
  std::optional<Best> best;
  for (size_t place = 0; place < places_.size(); ++place) {
    if (!Has(slice.places, place)) continue;
    const double finish = ahead[place] + slice.costs->PredictMs(place, slice.images);
    if (!best || finish < best->finish_ms) best = Best{place, finish};
  }
  return best;
}

// Measured against the last use of any other place: after a quiet time nothing needs a probe.
std::optional<size_t> DevicePlanner::ProbeFor(const PlannedSlice& slice, double now_ms) const {
  double last_ms = 0;
  for (const Place& place : places_) {
    last_ms = std::max(last_ms, place.running.empty() ? place.idle_since_ms : now_ms);
  }
  for (size_t place = 0; place < places_.size(); ++place) {
    const bool idle = Has(slice.places, place) && places_[place].running.empty();
    if (idle && last_ms - places_[place].idle_since_ms > kProbeAfterMs) return place;
  }
  return std::nullopt;
}

std::optional<DevicePlanner::Start> DevicePlanner::Choose(Lane lane,
                                                          std::span<const PlannedSlice> waiting,
                                                          size_t more, double now_ms) {
  if (waiting.empty() || !HasFree(lane)) return std::nullopt;
  const bool async = lane == Lane::kAsync;
  if (async && waiting.size() + more >= 2 * places_.size()) {
    const auto probe = ProbeFor(waiting[0], now_ms);
    if (probe) return Start{0, *probe};
  }
  ahead_.clear();
  for (const Place& place : places_) ahead_.push_back(AheadMs(lane, place, now_ms));
  planned_ = ahead_;
  for (size_t i = 0; i < std::min(kLookAhead, waiting.size() + more); ++i) {
    const PlannedSlice& slice = waiting[std::min(i, waiting.size() - 1)];
    const auto best = BestFor(slice, planned_);
    if (!best) continue;
    if (RunningIn(lane, best->place) < SlotsOf(lane)) {
      if (!async) return Start{std::min(i, waiting.size() - 1), best->place};
      size_t first = 0;
      while (!Has(waiting[first].places, best->place)) ++first;
      const auto at_once = BestFor(waiting[first], ahead_);
      if (best->finish_ms <= kFarLater * at_once->finish_ms) return Start{first, best->place};
    }
    planned_[best->place] = best->finish_ms;
  }
  return std::nullopt;
}

uint64_t DevicePlanner::Begin(Lane lane, const PlannedSlice& slice, size_t place, double now_ms) {
  const double predicted = slice.costs->PredictMs(place, slice.images);
  places_[place].running.push_back({next_, lane, slice, predicted, now_ms});
  return next_++;
}

void DevicePlanner::End(uint64_t running, bool measure, double now_ms) {
  for (size_t index = 0; index < places_.size(); ++index) {
    Place& place = places_[index];
    const auto found = std::find_if(place.running.begin(), place.running.end(),
                                    [&](const Running& r) { return r.id == running; });
    if (found == place.running.end()) continue;
    const Running ended = *found;
    const double took_ms = std::max(now_ms - ended.since_ms - ended.overtook_ms, 0.0);
    // Those behind it come first now; those before it had to wait for it.
    for (auto it = place.running.begin(); it != found; ++it) it->overtook_ms += took_ms;
    for (auto it = found + 1; it != place.running.end(); ++it) {
      it->since_ms = now_ms;
      it->overtook_ms = 0;
    }
    place.running.erase(found);
    place.idle_since_ms = now_ms;
    if (measure) ended.slice.costs->Observe(index, ended.slice.images, took_ms);
    return;
  }
}

}  // namespace lattice
