#include "tensors/npy_header.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/error.h"

namespace tacho {
namespace {

struct Descr {
  std::string_view text;
  DType dtype;
};
constexpr std::array kDescrs = {Descr{"<f4", DType::f32}, Descr{"<f8", DType::f64}, Descr{"<i4", DType::i32},
                                Descr{"<i8", DType::i64}, Descr{"|u1", DType::u8}};

// A cursor over the few forms of Python literal that a NumPy header is made of.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  [[noreturn]] void fail(std::string_view expected) const {
    throw UserError("{}: the npy header is malformed: {} expected", file_, expected);
  }

  bool take(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted, std::string_view expected) {
    if (!take(wanted)) fail(expected);
  }

  std::string_view quoted(std::string_view expected) {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) fail(expected);
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) fail(expected);
    const std::string_view content = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return content;
  }

  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("True or False for fortran_order");
  }

  int64_t extent() {
    skip_space();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) fail("a shape of whole numbers from 0 on");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  const std::string& file_;
};

Shape read_shape(Scanner& scanner) {
  Shape shape;
  scanner.expect('(', "a tuple for shape");
  while (!scanner.take(')')) {
    shape.push_back(scanner.extent());
    if (scanner.take(',')) continue;
    scanner.expect(')', "',' or ')' in the shape");
    break;
  }
  return shape;
}

std::string printable(std::string_view text) {
  std::string copy(text.substr(0, 40));
  std::ranges::replace_if(
      copy, [](unsigned char c) { return !std::isprint(c); }, '?');
  return copy;
}

DType read_dtype(Scanner& scanner, const std::string& file) {
  const std::string_view text = scanner.quoted("a simple element type such as '<f4' for descr");
  const auto known = std::ranges::find(kDescrs, text, &Descr::text);
  if (known != kDescrs.end()) return known->dtype;
  if (text.starts_with('>')) {
    throw UserError("{}: element type '{}' is big-endian: save the array little-endian, as '<f4' for float32",
                    file, printable(text));
  }
  throw UserError("{}: element type '{}' is not supported: '<f4', '<f8', '<i4', '<i8' or '|u1' is", file,
                  printable(text));
}

void check_size(const NpyHeader& header, const std::string& file) {
  int64_t bytes = static_cast<int64_t>(size_of(header.dtype));
  for (const int64_t extent : header.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      throw UserError("{}: shape {} has more elements than can be counted", file, to_string(header.shape));
    }
  }
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& file) {
  Scanner scanner(text, file);
  std::optional<DType> dtype;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
  scanner.expect('{', "a dictionary");
  while (!scanner.take('}')) {
    const std::string_view key = scanner.quoted("the key descr, fortran_order or shape");
    scanner.expect(':', "':' behind a key");
    if (key == "descr" && !dtype) {
      dtype = read_dtype(scanner, file);
    } else if (key == "fortran_order" && !fortran_order) {
      fortran_order = scanner.boolean();
    } else if (key == "shape" && !shape) {
      shape = read_shape(scanner);
    } else {
      scanner.fail("each of descr, fortran_order and shape once");
    }
    if (scanner.take(',')) continue;
    scanner.expect('}', "',' or '}' behind a value");
    break;
  }
  if (!scanner.at_end()) scanner.fail("nothing behind the dictionary");
  if (!dtype || !fortran_order || !shape) scanner.fail("each of descr, fortran_order and shape once");
  if (*fortran_order) {
    throw UserError("{}: the array is in Fortran order: save numpy.ascontiguousarray(x) instead", file);
  }
  NpyHeader header{*dtype, std::move(*shape)};
  check_size(header, file);
  return header;
}

std::string make_npy_header(const NpyHeader& header) {
  const auto descr = std::ranges::find(kDescrs, header.dtype, &Descr::dtype);
  const char* comma = header.shape.size() == 1 ? "," : "";
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr->text,
                     fmt::join(header.shape, ", "), comma);
}

}  // namespace tacho
