// SPDX-License-Identifier: MIT
#include "cli/options/nearest.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kaiseki::cli {
namespace {

constexpr size_t kLongest = 40;  // letters of a word that is compared

constexpr size_t kLeastStart = 3;  // letters of a name that a longer word begins with
/// Names of other programs.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {{"learning-rate", "lr"},
                                                                      {"test", "eval"}};

/// Returns the option's name in lower case, without dashes, with aliases replaced.
std::string letters_of(const std::string& word) {
  std::string letters = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  for (char& c : letters) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [alias, name] : kAliases)
    if (letters == alias) return std::string(name);
  return letters;
}

/// The number of insertions, deletions, replacements and exchanges of neighbors (optimal string
/// alignment).
size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string letters = letters_of(word);
  if (letters.empty() || letters.size() > kLongest) return "";
  std::vector<std::string> begun;
  for (const std::string& candidate : candidates)
    if (letters.size() > 1 && letters_of(candidate).starts_with(letters))
      begun.push_back(candidate);
  if (begun.size() == 1) return begun[0];
  std::string best;
  size_t least = std::max<size_t>(1, letters.size() / 3) + 1;
  begun.insert(begun.end(), candidates.begin(), candidates.end());
  for (const std::string& candidate : begun) {
    const size_t differing = distance(letters, letters_of(candidate));
    if (differing >= least) continue;
    least = differing;
    best = candidate;
  }
  if (!best.empty()) return best;
  for (const std::string& candidate : candidates) {
    const std::string name = letters_of(candidate);
    if (name.size() >= kLeastStart && letters.starts_with(name) && candidate.size() > best.size())
      best = candidate;
  }
  return best;
}

}  // namespace kaiseki::cli
