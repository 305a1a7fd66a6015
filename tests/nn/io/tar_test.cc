// SPDX-License-Identifier: MIT
#include "nn/io/tar.h"

#include "base/file.h"
#include "nn/io/gzip.h"
#include "nn/io/tar_tensors.h"
#include "tests/nn/io/damage.h"
#include "tests/support/folder.h"
#include "tests/support/tar.h"

using namespace kaiseki;
using namespace kaiseki::nn;
using test::bytes_from;
using test::refuses;

namespace {

using Contents = std::vector<std::pair<std::string, ByteVector>>;

Contents list(ByteView bytes) {
  MemorySource source(bytes, "x.tar");
  TarReader tar(source);
  TarEntry entry;
  Contents files;
  while (tar.next(entry))
    if (entry.is_file) files.push_back({entry.path, tar.read(1 << 20)});
  return files;
}

void parse(ByteView bytes) { list(bytes); }

/// Changes the size and type of a header, and corrects the checksum.
ByteVector header(std::string_view path, std::string_view size, char type) {
  ByteVector block = tar_header(path, 0);
  std::copy_n(as_bytes(size).begin(), size.size(), block.begin() + 124);
  block[156] = static_cast<std::byte>(type);
  unsigned sum = 8 * ' ';
  for (size_t i = 0; i < 512; ++i)
    if (i < 148 || i >= 156) sum += std::to_integer<unsigned>(block[i]);
  for (int i = 5; i >= 0; --i, sum >>= 3) block[148 + i] = static_cast<std::byte>('0' + (sum & 7));
  return block;
}

ByteVector joined(std::initializer_list<ByteVector> parts) {
  ByteVector all;
  for (const ByteVector& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

ByteVector padded(std::string_view text) {
  ByteVector block = bytes_from(text);
  block.insert(block.end(), tar_padding(block.size()), std::byte{0});
  return block;
}

const ByteVector kEnd(1024);

}  // namespace

TEST_CASE("tar: reads what it writes, for all lengths of names and files") {
  Contents files = {{"a.txt", bytes_from("hello")},
                    {"empty", {}},
                    {"block", ByteVector(512, std::byte{7})},
                    {std::string(100, 'n'), ByteVector(513)},
                    {"deep/" + std::string(300, 'p') + "/\xe6\x87\x90.jpg", ByteVector(70'000)}};
  ByteVector archive;
  for (const auto& [path, contents] : files) append_tar_file(archive, path, contents);
  test::finish_tar(archive);
  CHECK(archive.size() % 512 == 0);
  CHECK(list(archive) == files);
}

TEST_CASE("tar: reads ustar prefixes, GNU and pax names and base-256 sizes, skips other entries") {
  ByteVector prefixed = header("name", "00000000003", '0');
  std::copy_n(as_bytes("some/folder").begin(), 11, prefixed.begin() + 345);
  prefixed[154] = std::byte{0};
  unsigned sum = 8 * ' ';
  for (size_t i = 0; i < 512; ++i)
    if (i < 148 || i >= 156) sum += std::to_integer<unsigned>(prefixed[i]);
  for (int i = 5; i >= 0; --i, sum >>= 3)
    prefixed[148 + i] = static_cast<std::byte>('0' + (sum & 7));
  std::string base256("\x80\0\0\0\0\0\0\0\0\0\0\2", 12);
  ByteVector archive = joined(
      {header("folder/", "00000000000", '5'), header("link", "00000000007", '2'), prefixed,
       padded("abc"), header("././@LongLink", "00000000006", 'L'),
       padded(std::string("long/\0", 6)), header("short", base256, '0'), padded("xy"),
       header("g", "00000000012", 'g'), padded("10 k=vvvv\n"), header("x", "00000000031", 'x'),
       padded("16 path=./p/./q\n9 size=1\n"), header("y", "00000000000", '0'), padded("z"), kEnd});
  Contents files = list(archive);
  REQUIRE(files.size() == 3);
  CHECK(files[0] == Contents::value_type{"some/folder/name", bytes_from("abc")});
  CHECK(files[1] == Contents::value_type{"long", bytes_from("xy")});
  CHECK(files[2] == Contents::value_type{"p/./q", bytes_from("z")});
}

TEST_CASE("tar: a damaged archive throws ParseError and allocates little memory") {
  ByteVector archive;
  append_tar_file(archive, std::string(150, 'n'), bytes_from("contents"));
  append_tar_file(archive, "b", ByteVector(600));
  size_t body = archive.size();
  test::finish_tar(archive);
  test::check_truncated(parse, ByteView(archive).first(body), 13);
  test::check_changed(parse, archive, 3000);
  CHECK(refuses(parse, header("a", "77777777777", '0'), "at most 1048576 bytes, got 8589934591"));
  CHECK(refuses(parse, header("a", std::string("\xbf", 1) + std::string(11, '\xff'), '0'), "2^62"));
  CHECK(refuses(parse, header("a", "0000000000x", '0'), "octal"));
  CHECK(refuses(parse, header("a", "77777777777", 'L'), "64 KiB"));
  CHECK(refuses(parse, header("a", "77777777777", 'x'), "64 KiB"));
  CHECK(refuses(parse, header("a", "00000000000", 'S'), "sparse"));
  for (const char* record :
       {"99 path=a\n", "0 a=b\n", "path=a\n", "6 a=b", "4 a\n", "5 ab\n",
        "18446744073709551616 a=b\n", "22 size=999999999999\n", "10 size=-1\n"}) {
    CAPTURE(record);
    std::string size = "00000000000";
    size_t length = std::string(record).size();
    size[10] = static_cast<char>('0' + length % 8);
    size[9] = static_cast<char>('0' + length / 8);
    CHECK(refuses(
        parse,
        joined({header("x", size, 'x'), padded(record), header("y", "00000000000", '0'), kEnd}),
        "x.tar"));
  }
  ByteVector wrong = archive;
  wrong[3] ^= std::byte{1};
  CHECK(refuses(parse, wrong, "checksum"));
}

TEST_CASE("tar: reads the tensors that it writes, plain or compressed") {
  std::vector<NamedTensor> tensors = {
      {"conv1/w", Tensor::from({1, 2, 3, 4}, {2, 2}, Device::cpu())},
      {"none", Tensor(Shape{0}, DType::f32, Device::cpu())},
      {std::string(120, 'b'), Tensor::from({5}, {}, Device::cpu())}};
  test::Folder folder;
  write_tar_tensors(folder.path / "w.tar", tensors);
  ByteVector bytes = encode_tar_tensors(tensors);
  for (const auto& read : {read_tar_tensors(read_file(folder.path / "w.tar")),
                           read_tar_tensors(bytes), read_tar_tensors(gzip(bytes))}) {
    REQUIRE(read.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(read[i].name == tensors[i].name);
      CHECK(read[i].value.shape() == tensors[i].value.shape());
      CHECK(read[i].value.to_vector() == tensors[i].value.to_vector());
    }
  }
  auto parse_tensors = [](ByteView file) { read_tar_tensors(file); };
  test::check_truncated(parse_tensors, ByteView(bytes).first(bytes.size() - 1023), 37);
  test::check_changed(parse_tensors, bytes, 3000);
}

namespace {

std::string text_of_tensors(ByteView file) {
  Metadata metadata;
  std::string text;
  for (const NamedTensor& tensor : read_tar_tensors(file, &metadata)) {
    text += tensor.name + tensor.value.shape().str();
    for (float value : tensor.value.to_vector()) text += " " + std::to_string(value);
  }
  return text + " step " + metadata["step"];
}

ByteVector archive_of_two() {
  return encode_tar_tensors({{NamedTensor{"w", Tensor::from({1, 2, 3}, {3}, Device::cpu())},
                              NamedTensor{"b", Tensor::from({4}, {1}, Device::cpu())}}},
                            {{"step", "12"}});
}

}  // namespace

TEST_CASE("tar: a flipped bit never changes what is read") {
  const ByteVector whole = archive_of_two();
  CHECK(text_of_tensors(whole) == "w[3] 1.000000 2.000000 3.000000b[1] 4.000000 step 12");
  test::count_accepted_flips(text_of_tensors, whole);
}

TEST_CASE("tar: a flipped bit never changes what a compressed file gives") {
  test::count_accepted_flips(text_of_tensors, gzip(archive_of_two()));
}

TEST_CASE("tar: an error of a checksum names the entry, and files without checksums are read") {
  ByteVector whole = encode_tar_tensors(
      {{NamedTensor{"conv1/w", Tensor::from({7}, {1}, Device::cpu())}}}, {{"k", "v"}});
  const std::string archive(as_text(whole));
  auto changed = [&](std::string_view from, std::string_view to) {
    ByteVector bytes = whole;
    const size_t at = archive.find(from);
    REQUIRE(at != archive.npos);
    std::copy_n(as_bytes(to).begin(), to.size(), bytes.begin() + static_cast<ptrdiff_t>(at));
    return bytes;
  };
  auto error = [](const ByteVector& bytes) {
    return test::parse_error([&] { read_tar_tensors(bytes, nullptr, "x.tar"); });
  };
  const std::string seven("\0\0\xe0\x40", 4), eight("\0\0\0\x41", 4);
  CHECK(
      error(changed(seven, eight))
          .starts_with("x.tar: \"conv1/w.f32\": the values do not have the SHA-256 in index.json"));
  CHECK(error(changed("\"k\":\"v\"", "\"k\":\"w\""))
            .starts_with("x.tar (index.json): checksum: the contents do not have the SHA-256"));
  ByteVector plain;
  append_tar_file(plain, "index.json", as_bytes(R"({"w":{"dtype":"F32","shape":[1]}})"));
  append_tar_file(plain, "w.f32", as_bytes(seven));
  test::finish_tar(plain);
  CHECK(read_tar_tensors(plain)[0].value.to_vector() == std::vector<float>{7});
}

TEST_CASE("tar: tensors that do not match the index throw ParseError") {
  auto parse_tensors = [](ByteView file) { read_tar_tensors(file); };
  auto archive = [](std::string_view index, std::string_view name, size_t bytes) {
    ByteVector file;
    append_tar_file(file, "index.json", as_bytes(index));
    append_tar_file(file, name, ByteVector(bytes));
    test::finish_tar(file);
    return file;
  };
  const char* index = R"({"w":{"dtype":"F32","shape":[2]}})";
  CHECK(!refuses(parse_tensors, archive(index, "w.f32", 8), ""));
  CHECK(refuses(parse_tensors, archive(index, "w.f32", 4), "expected 8 bytes"));
  CHECK(refuses(parse_tensors, archive(index, "v.f32", 8), "expected \"w.f32\""));
  CHECK(refuses(parse_tensors, archive("{}", "v.f32", 8), "no more files"));
  CHECK(refuses(parse_tensors, archive(R"({"w":{"dtype":"U8","shape":[8]}})", "w.f32", 8), "F32"));
  CHECK(refuses(parse_tensors,
                archive(R"({"w":{"dtype":"F32","shape":[1073741824,1024]}})", "w.f32", 8),
                "got 8"));
  ByteVector other;
  append_tar_file(other, "a.jpg", {});
  test::finish_tar(other);
  CHECK(refuses(parse_tensors, other, "index.json"));
}
