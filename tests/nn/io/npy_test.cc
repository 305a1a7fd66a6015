// SPDX-License-Identifier: MIT
#include "nn/io/npy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "tests/nn/io/damage.h"
#include "tests/support/folder.h"

using namespace kaiseki;
using namespace kaiseki::nn;
using test::refuses;

namespace {

/// A file as numpy.save writes it.
ByteVector npy(const std::string& dict, std::string_view data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += static_cast<char>(dict.size() >> (8 * i));
  text += dict;
  text += data;
  return test::bytes_from(text);
}

template <typename T>
std::string raw(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

void parse(ByteView bytes) { read_npy(bytes); }

}  // namespace

TEST_CASE("npy: reads every type, order and version") {
  std::string six = raw<float>({1, 2, 3, 4, 5, 6});
  for (int version : {1, 2, 3}) {
    Tensor c = read_npy(
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", six, version));
    CHECK(c.shape() == Shape{2, 3});
    CHECK(c.to_vector() == std::vector<float>{1, 2, 3, 4, 5, 6});
  }
  Tensor f = read_npy(npy("{'shape': (2, 3), \"fortran_order\": True, 'descr': '<f4'}", six));
  CHECK(f.to_vector() == std::vector<float>{1, 3, 5, 2, 4, 6});
  Tensor d = read_npy(
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", raw<double>({0.5, -1e30})));
  CHECK(d.to_vector()[0] == 0.5f);
  CHECK(d.dtype() == DType::f32);
  Tensor l = read_npy(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }",
                          raw<int64_t>({-7, 1 << 30})));
  CHECK(l.to_vector<int32_t>() == std::vector<int32_t>{-7, 1 << 30});
  Tensor u = read_npy(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\1\2\xff"));
  CHECK(u.to_vector<uint8_t>() == std::vector<uint8_t>{1, 2, 255});
  Tensor b = read_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\1\5"));
  CHECK(b.data<bool>()[1]);
  CHECK(read_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", raw<float>({9})))
            .item() == 9);
}

TEST_CASE("npy: reads big-endian numbers of every size") {
  auto read = [](const std::string& descr, std::string data, size_t size) {
    for (size_t i = 0; i < data.size(); i += size)
      std::reverse(data.begin() + static_cast<ptrdiff_t>(i),
                   data.begin() + static_cast<ptrdiff_t>(i + size));
    return read_npy(
        npy("{'descr': '" + descr + "', 'fortran_order': True, 'shape': (3,), }", data));
  };
  const std::vector<float> floats = {1.5f, -2, 1e30f};
  const std::vector<int32_t> integers = {1, -2, 1 << 30};
  CHECK(read(">f4", raw<float>({1.5f, -2, 1e30f}), 4).to_vector() == floats);
  CHECK(read(">f8", raw<double>({1.5, -2, 1e30}), 8).to_vector() == floats);
  CHECK(read(">i4", raw<int32_t>({1, -2, 1 << 30}), 4).to_vector<int32_t>() == integers);
  CHECK(read(">i8", raw<int64_t>({1, -2, 1 << 30}), 8).to_vector<int32_t>() == integers);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(std::isinf(read(">f8", raw<double>({infinity, 0, 0}), 8).to_vector()[0]));
}

TEST_CASE("npy: keeps f64 if the caller wants it") {
  const std::vector<double> values = {0.1, -1e300, 3, 1e-320, 5, 6};
  const std::string data(reinterpret_cast<const char*>(values.data()), 8 * values.size());
  const std::string rows = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,3,), }";
  const Tensor read = read_npy(npy(rows, data), "memory", NpyF8::f64);
  CHECK(read.dtype() == DType::f64);
  CHECK(read.to_vector<double>() == values);
  const std::string columns = "{'descr': '<f8', 'fortran_order': True, 'shape': (3,2,), }";
  CHECK(read_npy(npy(columns, data), "memory", NpyF8::f64).to_vector<double>() ==
        std::vector<double>{0.1, 1e-320, -1e300, 5, 3, 6});
  CHECK(read_npy(encode_npy(read), "memory", NpyF8::f64).to_vector<double>() == values);
}

TEST_CASE("npy: converts Fortran order to row-major for any rank") {
  std::vector<float> values(2 * 3 * 5 * 7);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  std::string data(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  Tensor t =
      read_npy(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 5, 7), }", data));
  const float* p = t.data<float>();
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 5; ++c)
        for (int d = 0; d < 7; ++d)
          CHECK(*p++ == static_cast<float>(a + 2 * (b + 3 * (c + 5 * d))));
}

TEST_CASE("npy: reads what it writes, and aligns the data to 64 bytes") {
  test::Folder folder;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 0, 2}, Shape{5, 7, 11}}) {
    std::vector<float> values(static_cast<size_t>(shape.elements()), 1.25f);
    Tensor t = Tensor::from(std::span<const float>(values), shape, Device::cpu());
    ByteVector bytes = encode_npy(t);
    CHECK((bytes.size() - t.bytes()) % 64 == 0);
    CHECK(read_npy(bytes).shape() == shape);
    write_npy(folder.path / "t.npy", t);
    CHECK(read_file(folder.path / "t.npy") == bytes);
    CHECK(read_npy(folder.path / "t.npy").to_vector() == values);
  }
}

TEST_CASE("npy: a damaged file throws ParseError and allocates little memory") {
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  ByteVector file = npy(dict, raw<float>({1, 2, 3, 4, 5, 6}));
  test::check_truncated(parse, file);
  test::check_changed(parse, file, 5000);
  auto with = [](const std::string& dict) { return npy(dict, "\1\2\3\4"); };
  const std::string good = "'descr': '<f4', 'fortran_order': False, ";
  CHECK(refuses(parse, with("{" + good + "'shape': (1099511627775,), }"), "bytes of elements"));
  CHECK(refuses(parse, with("{" + good + "'shape': (4294967296, 4294967296), }"), "2^40"));
  CHECK(refuses(parse, with("{" + good + "'shape': (9223372036854775807, 2), }"), "2^40"));
  CHECK(refuses(parse, with("{" + good + "'shape': (99999999999999999999,), }"), "a dimension"));
  CHECK(refuses(parse, with("{" + good + "'shape': (-1,), }"), "a dimension"));
  CHECK(refuses(parse, with("{" + good + "'shape': (1,1,1,1,1,1,1,1,1), }"), "8 dimensions"));
  CHECK(refuses(parse, with("{" + good + "}"), "expected descr"));
  CHECK(refuses(parse, with("{" + good + good + "'shape': (1,)}"), "once each"));
  CHECK(refuses(parse, with("{'descr': '>f2', 'fortran_order': False, 'shape': (1,), }"), "'>f2'"));
  CHECK(refuses(parse, with("{'descr': '>u1', 'fortran_order': False, 'shape': (1,), }"), "'>u1'"));
  CHECK(refuses(parse, with("{'descr': '', 'fortran_order': False, 'shape': (1,), }"), "''"));
  CHECK(refuses(
      parse, npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", raw<double>({1e39})),
      "32 bits"));
  CHECK(refuses(parse, with("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"), "'|O'"));
  CHECK(refuses(parse, test::bytes_from("\x93NUMPX\1\0\0\0"), "npy header"));
  CHECK(
      refuses(parse, test::bytes_from(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)), "64 KiB"));
  CHECK(refuses(parse,
                npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }",
                    raw<int64_t>({int64_t{1} << 40})),
                "32 bits"));
}
