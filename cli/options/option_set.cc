// SPDX-License-Identifier: MIT
#include "cli/options/option_set.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "cli/text.h"

namespace kaiseki::cli {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& expected,
                         const std::string& given) {
  throw OptionError(name + ": expected " + expected + ", got '" + shortened(given) + "'");
}

std::string number_text(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string expected_text(const Whole& limits) {
  if (limits.most == Whole().most)
    return "a whole number of " + std::to_string(limits.least) + " or more";
  return "a whole number from " + std::to_string(limits.least) + " to " +
         std::to_string(limits.most);
}

std::string type_text(const Whole& limits) {
  const std::string most = limits.most == Whole().most ? "" : std::to_string(limits.most);
  return "INT[" + std::to_string(limits.least) + ".." + most + "]";
}

bool has_least(const Real& limits) { return limits.least != kAnyNumber.least; }
bool has_most(const Real& limits) { return limits.most != Real().most; }

std::string expected_text(const Real& limits) {
  const std::string least = number_text(limits.least), most = number_text(limits.most);
  if (!has_least(limits)) return "a number";
  if (!has_most(limits))
    return limits.above_least ? "a number above " + least : "a number of " + least + " or more";
  return std::string("a number ") + (limits.above_least ? "above " : "of at least ") + least +
         (limits.below_most ? " and below " : " and at most ") + most;
}

std::string type_text(const Real& limits) {
  if (!has_least(limits)) return "NUMBER";
  const std::string most = has_most(limits) ? number_text(limits.most) : "";
  return "NUMBER[" + std::string(limits.above_least ? ">" : "") + number_text(limits.least) +
         (limits.above_least && most.empty() ? "" : "..") + (limits.below_most ? "<" : "") + most +
         "]";
}

double read_real(const std::string& name, const std::string& text, const Real& limits) {
  const auto number = parse_number<double>(text);
  const bool accepted = number && std::isfinite(*number) && *number >= limits.least &&
                        *number <= limits.most &&
                        !(limits.above_least && *number == limits.least) &&
                        !(limits.below_most && *number == limits.most);
  if (!accepted) refuse(name, expected_text(limits), text);
  return *number;
}

std::string noun(const std::string& type) {
  if (type == "FILE") return "a file";
  if (type == "DIR") return "a folder";
  if (type == "NET") return "a network";
  if (type == "URL") return "a URL";
  if (type == "ADDRESS") return "an address";
  if (type == "PICTURE") return "a picture";
  return "a value";
}

}  // namespace

AddedOption& AddedOption::required() {
  option->required();
  return *this;
}

AddedOption& AddedOption::needs(const AddedOption& other) {
  option->needs(other.option);
  return *this;
}

std::string OptionSet::shown(double value) { return value != 0 ? number_text(value) : ""; }

OptionSet OptionSet::group(const char* name) { return OptionSet(*app_->add_option_group(name)); }

AddedOption OptionSet::add(const char* name, const std::string& type, const std::string& shown,
                           const char* help, std::function<void(const std::string&)> take,
                           bool many) {
  const std::string own = name;
  auto* option = app_->add_option(
      name,
      [take = std::move(take), own](const CLI::results_t& values) {
        for (const std::string& value : values) {
          if (value.size() > 2 && value.starts_with("--"))
            throw OptionError(own + ": expected a value, got the option " + shortened(value));
          take(value);
        }
        return true;
      },
      help);
  option->type_name(type)->run_callback_for_default(false);
  if (many) option->expected(CLI::detail::expected_max_vector_size)->take_all();
  if (!shown.empty()) option->default_str(shown);
  if (needed_) option->needs(needed_);
  return {option};
}

AddedOption OptionSet::flag(const char* name, bool& value, const char* help) {
  auto* option = app_->add_flag(name, value, help)->disable_flag_override();
  if (needed_) option->needs(needed_);
  return {option};
}

AddedOption OptionSet::text(const char* name, const char* type, std::string& value,
                            const char* help) {
  return add(
      name, type, value, help,
      [&value, own = std::string(name), what = noun(type)](const std::string& given) {
        if (given.empty()) refuse(own, what, given);
        value = given;
      },
      false);
}

AddedOption OptionSet::texts(const char* name, const char* type, std::vector<std::string>& values,
                             const char* help) {
  return add(
      name, type, "", help,
      [&values, own = std::string(name), what = noun(type)](const std::string& given) {
        if (given.empty()) refuse(own, what, given);
        values.push_back(given);
      },
      true);
}

AddedOption OptionSet::add_choice(const char* name, std::function<void(const std::string&)> set,
                                  const std::string& shown, std::vector<std::string> choices,
                                  const std::string& earlier, const char* help) {
  const std::string listed = join(choices, ",");
  return add(
      name, "{" + listed + "}", shown, help,
      [set = std::move(set), own = std::string(name), earlier,
       choices = std::move(choices)](const std::string& given) {
        const bool is_earlier = !earlier.empty() && given == earlier;
        if (!is_earlier && std::ranges::find(choices, given) == choices.end()) {
          const std::vector<std::string> but_last(choices.begin(), choices.end() - 1);
          refuse(own, join(but_last, ", ") + " or " + choices.back(), given);
        }
        set(given);
      },
      false);
}

AddedOption OptionSet::add_checked(const char* name, const char* type,
                                   std::function<void(const std::string&)> set,
                                   const std::string& shown, std::string_view expected,
                                   bool (*is_valid)(std::string_view), const char* help) {
  return add(
      name, type, shown, help,
      [set = std::move(set), own = std::string(name), expected = std::string(expected),
       is_valid](const std::string& given) {
        if (!is_valid(given)) refuse(own, expected, given);
        set(given);
      },
      false);
}

AddedOption OptionSet::seed(const char* name, uint64_t& value, const char* help) {
  return add(
      name, "INT[0..]", std::to_string(value), help,
      [&value, own = std::string(name)](const std::string& given) {
        const auto number = parse_number<uint64_t>(given);
        if (!number) refuse(own, "a whole number of 64 bits, 0 or more", given);
        value = *number;
      },
      false);
}

AddedOption OptionSet::reals(const char* name, std::vector<float>& values, Real limits,
                             const char* help) {
  AddedOption added = add(
      name, type_text(limits), "", help,
      [&values, own = std::string(name), limits](const std::string& given) {
        values.push_back(static_cast<float>(read_real(own, given, limits)));
      },
      true);
  added.option->delimiter(',');
  return added;
}

AddedOption OptionSet::add_whole(const char* name, Whole limits, std::function<void(int64_t)> set,
                                 const std::string& shown, const char* help) {
  return add(
      name, type_text(limits), shown, help,
      [set = std::move(set), own = std::string(name), limits](const std::string& given) {
        const auto number = parse_number<int64_t>(given);
        const bool is_digits =
            !given.empty() && given.find_first_not_of("0123456789") == std::string::npos;
        const bool too_large = number ? *number > limits.most : is_digits;
        if (too_large) refuse(own, "at most " + std::to_string(limits.most), given);
        if (!number || *number < limits.least) refuse(own, expected_text(limits), given);
        set(*number);
      },
      false);
}

AddedOption OptionSet::add_real(const char* name, Real limits, std::function<void(double)> set,
                                const std::string& shown, const char* help) {
  return add(
      name, type_text(limits), shown, help,
      [set = std::move(set), own = std::string(name), limits](const std::string& given) {
        set(read_real(own, given, limits));
      },
      false);
}

}  // namespace kaiseki::cli
