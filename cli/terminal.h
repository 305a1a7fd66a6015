// SPDX-License-Identifier: MIT
// The terminal: whether there is one, its width and colors, and its live line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kaiseki::cli {

struct Terminal {
  bool live = false;     // stdout is a terminal that can move its cursor
  bool color = false;    // live, and NO_COLOR is not set
  bool unicode = false;  // the locale is UTF-8
};
Terminal terminal();

/// The terminal's width in columns, or 80 if unknown. Every call asks the terminal.
int terminal_width();

enum class TextStyle { plain, bold, dim, green, cyan };
/// Adds the style's escape codes if colors are on.
std::string styled(TextStyle style, std::string_view text);
/// The width of a UTF-8 text in columns. Wide characters count two, escape codes none.
int display_width(std::string_view text);
/// The start of a text, up to that many columns.
std::string leading_columns(std::string_view text, int columns);
/// Cuts a text to that many columns and resets the colors.
std::string fit(std::string_view text, int columns);

/// Prints the parts with separators. On a live terminal, a part that does not fit starts a line.
void print_parts(const std::vector<std::string>& parts, std::string_view separator);

/// Replaces the live line by `text`. Only for a live terminal. The cursor stays at the start of the
/// line. If the terminal gets narrower and breaks the line, all of its parts are after the cursor.
void draw_live_line(std::string_view text);
/// Removes the live line, so that other output starts on an empty line.
void clear_live_line();

}  // namespace kaiseki::cli
