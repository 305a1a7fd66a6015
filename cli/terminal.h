// SPDX-License-Identifier: MIT
// The terminal: whether there is one, its width and colours, and the line that is drawn over.
#pragma once

#include <string>
#include <string_view>

namespace kaiseki::cli {

struct Terminal {
  bool live = false;     // stdout is a terminal that can move its cursor
  bool colour = false;   // live, and NO_COLOR is not set
  bool unicode = false;  // the locale is UTF-8
};
Terminal terminal();

/// Columns of the terminal; 80 when unknown. Asked anew at each call.
int terminal_width();

enum class Style { plain, bold, dim, green, yellow, cyan };
/// The text with the escape codes of the style, where colours are wanted.
std::string styled(Style style, std::string_view text);
/// Columns that a UTF-8 text takes; escape codes take none.
int display_width(std::string_view text);
/// Cut to that many columns, colours reset.
std::string fit(std::string_view text, int columns);

/// Draws `text` over the line drawn before. Only on a live terminal.
void draw_live_line(std::string_view text);
/// Removes it, so that other output starts on a clean line.
void clear_live_line();

}  // namespace kaiseki::cli
