#include "native/base/numa_nodes.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace lattice {
namespace {

// More than any machine has: a damaged text must not fill the memory.
constexpr int kMostCpus = 1 << 16;

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Takes the number from the front of `text`; false where none leads it.
bool TakeNumber(std::string_view* text, int* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

bool Take(std::string_view* text, char expected) {
  if (text->empty() || text->front() != expected) return false;
  text->remove_prefix(1);
  return true;
}

}  // namespace

std::vector<int> ParseCpuList(std::string_view text) {
  std::vector<int> cpus;
  do {
    int first = 0;
    if (!TakeNumber(&text, &first)) return {};
    int last = first;
    if (Take(&text, '-') && !TakeNumber(&text, &last)) return {};
    if (first < 0 || last < first || last >= kMostCpus) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  } while (Take(&text, ','));
  if (!text.empty()) return {};
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::vector<NumaNode> NumaNodes::List() const {
  const std::string folder = sys_ + "/devices/system/node/";
  std::vector<NumaNode> nodes;
  for (const int id : ParseCpuList(ReadText(folder + "online"))) {
    auto cpus = ParseCpuList(ReadText(folder + "node" + std::to_string(id) + "/cpulist"));
    // A node may be memory alone.
    if (!cpus.empty()) nodes.push_back({id, std::move(cpus)});
  }
  return nodes;
}

int NumaNodes::OfPciDevice(const std::string& bus_id) const {
  const std::string text = ReadText(sys_ + "/bus/pci/devices/" + bus_id + "/numa_node");
  std::string_view rest = text;
  int node = -1;
  return TakeNumber(&rest, &node) && rest.empty() && node >= 0 ? node : -1;
}

int CurrentNumaNode() {
  unsigned cpu = 0;
  unsigned node = 0;
  return getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : 0;
}

}  // namespace lattice
