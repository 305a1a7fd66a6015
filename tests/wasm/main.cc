// SPDX-License-Identifier: MIT
// The entry of test executables. Emscripten 3.1.6 looks for "main", but clang 19 emits another
// name.
extern "C" int __main_argc_argv(int argc, char** argv);
extern "C" int entry(int argc, char** argv) __asm__("main");
extern "C" int entry(int argc, char** argv) { return __main_argc_argv(argc, argv); }
