# SPDX-License-Identifier: MIT
# The instruction sets of Highway's kernels. Each set is another copy of the kernels, which costs build time and size.
# SSSE3 is too old to justify one. SVE and RVV have no fixed vector size at compile time, which the kernels need. Arm runs
# NEON, RISC-V runs scalar code.
set(KAISEKI_HIGHWAY_WITHOUT "HWY_SSSE3|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV")
# All tests run with fewer sets, too. A machine with a missing set uses the kernels of the next lower one.
if(KAISEKI_SANITIZE STREQUAL thread) # Data races do not depend on the instruction set, so one is enough.
  string(APPEND KAISEKI_HIGHWAY_WITHOUT "|HWY_SSE4|HWY_AVX3")
elseif(KAISEKI_SANITIZE MATCHES address) # Every tested machine has AVX2. A machine with AVX-512 runs it, too.
  string(APPEND KAISEKI_HIGHWAY_WITHOUT "|HWY_AVX3")
endif()
if(KAISEKI_NATIVE)
  # Uses one of the kernels' sets, not all instructions of the CPU. The compiler's set must be the one of Highway's best
  # kernels. Without contraction to FMA, code outside the kernels computes the same bits as elsewhere.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -march=native)
  set(avx2 "defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__BMI2__) && defined(__AES__) && defined(__PCLMUL__)")
  check_cxx_source_compiles("#if !(${avx2})\n#error\n#endif\nint main() {}" KAISEKI_HAS_AVX2)
  check_cxx_source_compiles("#if !(${avx2} && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512CD__))\n#error\n#endif\nint main() {}"
                            KAISEKI_HAS_AVX512)
  unset(CMAKE_REQUIRED_FLAGS)
  if(KAISEKI_HAS_AVX512)
    add_compile_options(-march=x86-64-v4 -maes -mpclmul -ffp-contract=off)
  elseif(KAISEKI_HAS_AVX2)
    add_compile_options(-march=x86-64-v3 -maes -mpclmul -ffp-contract=off)
    string(APPEND KAISEKI_HIGHWAY_WITHOUT "|HWY_AVX3")
  endif()
endif()
set(KAISEKI_HIGHWAY_DEFINITIONS
  "HWY_DISABLED_TARGETS=(${KAISEKI_HIGHWAY_WITHOUT})") # No test is left out. Reason: each set costs build time and size.
