// SPDX-License-Identifier: MIT
// CSV tables: any text gives a table whose cells can be read and encoded, or a ParseError.
#include "ml/table/encoder.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;

KAISEKI_FUZZ(bytes) {
  const ml::DataTable table = ml::parse_table(as_text(bytes), "fuzz");
  for (const ml::Column& column : table.columns)
    for (int64_t row = 0; row < table.rows(); ++row) column.text(row);
  ml::TableEncoder encoder(ml::Missing::mean);
  encoder.fit(table);
  encoder.encode(table);
}
