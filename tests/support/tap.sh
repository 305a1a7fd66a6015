# SPDX-License-Identifier: MIT
# Functions on the reports of Node's test runner. Scripts source this file.
# shellcheck shell=bash

# Prints the sum of the lines "# WORD NUMBER" of a file: sum_of WORD FILE
sum_of() { awk -v word="$1" '$1 == "#" && $2 == word { sum += $3 } END { print sum + 0 }' "$2"; }
