#include "cli/page.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_values.h"
#include "base/os.h"
#include "report/page.h"
#include "report/page_data.h"
#include "results/references.h"

namespace tacho {

void write_page(const std::filesystem::path& file, std::span<const Record> records, bool with_references,
                const std::string& command) {
  std::vector<Record> shown(records.begin(), records.end());
  if (with_references) {
    const std::vector<Record> published = reference_records();
    shown.insert(shown.end(), published.begin(), published.end());
  }
  const PageOrigin origin = {
      .generated = utc_now(), .version = TACHO_VERSION, .command = command, .machine = machine_id()};
  write_file_atomically(file, html_page(page_data(shown, origin)));
}

}  // namespace tacho
