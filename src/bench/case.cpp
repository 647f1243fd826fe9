#include "bench/case.h"

#include <array>

#include "base/error.h"
#include "base/json_object.h"
#include "base/text.h"

namespace tacho {
namespace {

void read(const Json& value, Mode& mode) {
  if (value != "infer" && value != "train") throw UserError("must be infer or train, not {}", to_text(value));
  mode = value == "infer" ? Mode::infer : Mode::train;
}

// "224x160".
void read(const Json& value, Extents& image) {
  std::string text;
  tacho::read(value, text);
  image.clear();
  for (const std::string& side : split(text, 'x')) {
    const auto extent = parse_integer(side);
    if (!extent) throw UserError("must be a size such as 224x224, not '{}'", text);
    image.push_back(*extent);
  }
}

using C = Case;

constexpr std::array kEntries = {
    entry<C, &C::model>("model"),
    Entry<C>{"mode", [](const C& cell) { return Json(name_of(cell.mode)); },
             [](C& cell, const Json& value) { read(value, cell.mode); }},
    entry<C, &C::batch>("batch"),
    count_entry<C, &C::batch_total>("batch_total"),
    Entry<C>{"image", [](const C& cell) { return Json(to_string(cell.image)); },
             [](C& cell, const Json& value) { read(value, cell.image); }},
    entry<C, &C::classes>("classes"),
    entry<C, &C::warmup>("warmup"),
    entry<C, &C::repeat>("repeat"),
    entry<C, &C::seed>("seed"),
    Entry<C>{"weights", [](const C& cell) { return cell.weights ? Json(cell.weights->string()) : Json(); },
             [](C& cell, const Json& value) { cell.weights = value.get<std::string>(); }},
};

}  // namespace

std::string_view name_of(Mode mode) { return mode == Mode::infer ? "infer" : "train"; }

bool same_work(const Case& a, const Case& b) {
  const auto work = [](const Case& cell) {
    Json fields = object_of<Case>(kEntries, cell);
    for (const char* protocol : {"warmup", "repeat"}) fields.erase(protocol);
    return fields;
  };
  return work(a) == work(b) && a.execution.devices == b.execution.devices &&
         a.execution.sync_batch_norm == b.execution.sync_batch_norm;
}

Case part_of(const Case& cell, int rank) {
  Case part = cell;
  if (cell.batch_total > 0)
    part.batch =
        cell.batch_total / cell.execution.devices + (rank < cell.batch_total % cell.execution.devices);
  return part;
}

Json fields_of(const Case& cell) {
  Json fields = object_of<Case>(kEntries, cell);
  fields.update(fields_of(cell.execution, cell.mode == Mode::train));
  return fields;
}

bool set_field(Case& cell, std::string_view name, const Json& value) {
  return set_entry<Case>(kEntries, name, value, cell) || set_field(cell.execution, name, value);
}

}  // namespace tacho
