// SPDX-License-Identifier: MIT
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "base/environment.h"
#include "base/utf8.h"

namespace kaiseki::cli {
namespace {

bool drawn = false;

bool is_utf8_locale(std::string_view locale) {
  return std::ranges::any_of(std::array{"UTF-8", "utf8", "utf-8"}, [&](std::string_view name) {
    return locale.find(name) != locale.npos;
  });
}

struct CodeRange {
  char32_t first, last;
};
// Characters of East Asia and emoji fill two columns (Unicode Standard Annex 11).
constexpr CodeRange kWide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xa960, 0xa97c}, {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},  {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
constexpr CodeRange kCombining[] = {
    {0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};

bool is_in(std::span<const CodeRange> ranges, char32_t code) {
  return std::ranges::any_of(
      ranges, [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

/// Returns the number of bytes of the escape code or character at `i`, and its width in columns.
size_t element(std::string_view text, size_t i, int& columns) {
  columns = 0;
  if (text[i] == '\x1b') {
    size_t end = text.find('m', i);
    return (end == std::string_view::npos ? text.size() : end + 1) - i;
  }
  const auto [bytes, code] = first_character(text.substr(i));
  columns = is_in(kWide, code) ? 2 : is_in(kCombining, code) ? 0 : 1;
  return std::max<size_t>(1, bytes);
}

}  // namespace

Terminal terminal() {
  static const Terminal found = [] {
    Terminal t;
    const TerminalEnvironment set = terminal_environment();
    t.live = isatty(STDOUT_FILENO) && !set.type.empty() && set.type != "dumb";
    t.color = t.live && !set.no_color;
    t.unicode = is_utf8_locale(set.locale);
    return t;
  }();
  return found;
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return terminal_environment().columns.value_or(80);
}

std::string styled(TextStyle style, std::string_view text) {
  if (!terminal().color || style == TextStyle::plain) return std::string(text);
  static constexpr const char* codes[] = {"", "1", "2", "32", "36"};
  return "\x1b[" + std::string(codes[static_cast<int>(style)]) + "m" + std::string(text) +
         "\x1b[0m";
}

int display_width(std::string_view text) {
  int width = 0, columns = 0;
  for (size_t i = 0; i < text.size(); i += element(text, i, columns), width += columns) {
  }
  return width;
}

std::string leading_columns(std::string_view text, int columns) {
  size_t bytes = 0;
  for (int width = 0; bytes < text.size();) {
    int taken = 0;
    const size_t more = element(text, bytes, taken);
    width += taken;
    if (width > columns) break;
    bytes += more;
  }
  return std::string(text.substr(0, bytes));
}

std::string fit(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  return leading_columns(text, columns) + (terminal().color ? "\x1b[0m" : "");
}

void print_parts(const std::vector<std::string>& parts, std::string_view separator) {
  const std::string between(separator);
  std::string line;
  for (const std::string& part : parts) {
    const bool fits = display_width(line + between + part) <= terminal_width();
    if (terminal().live && !line.empty() && !fits) {
      std::printf("%s\n", line.c_str());
      line.clear();
    }
    line += (line.empty() ? "" : between) + part;
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void draw_live_line(std::string_view text) {
  if (!terminal().live) return;
  const std::string line = fit(text, terminal_width() - 1) + "\x1b[J\r";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
  drawn = true;
}

void clear_live_line() {
  if (!drawn) return;
  std::fputs("\x1b[J", stdout);
  std::fflush(stdout);
  drawn = false;
}

}  // namespace kaiseki::cli
