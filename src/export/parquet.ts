/** The columns of the CSV file as Apache Parquet: one row per box. Texts are as they are, because nothing runs them. */
import { ByteWriter, ParquetWriter, type ColumnSource } from 'hyparquet-writer';
import { boxColumns, boxRows, type BoxColumn, type BoxRow } from './box-columns.js';
import type { ExportSource } from './export-source.js';

/** A group is in memory whole, and is written in one turn of the event loop. */
const ROWS_PER_GROUP = 2_048;

const TYPES = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  number: { type: 'DOUBLE' },
  whole: { type: 'INT32' },
} as const;

export async function* writeParquet(source: ExportSource): AsyncGenerator<Uint8Array, void> {
  const columns = boxColumns(source);
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: schemaOf(columns),
    createdBy: 'lattice-core',
  });
  for await (const rows of inGroups(boxRows(source))) {
    const columnData = columns.map((column) => columnOf(column, rows));
    await parquet.write({ columnData, rowGroupSize: rows.length });
    yield takeBytes(writer);
  }
  await parquet.finish();
  yield takeBytes(writer);
}

function schemaOf(columns: readonly BoxColumn[]) {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, kind }) => {
      return { name, repetition_type: 'OPTIONAL' as const, ...TYPES[kind] };
    }),
  ];
}

function columnOf({ name, value }: BoxColumn, rows: readonly BoxRow[]): ColumnSource {
  return { name, data: rows.map(value), offsetIndex: false };
}

/** The bytes that were written since the last call: offsets in the file count on. */
function takeBytes(writer: ByteWriter): Uint8Array {
  const bytes = writer.getBytes().slice();
  writer.index = 0;
  return bytes;
}

async function* inGroups(pages: AsyncIterable<BoxRow[]>): AsyncGenerator<BoxRow[], void> {
  let group: BoxRow[] = [];
  for await (const rows of pages) {
    for (const row of rows) {
      if (group.push(row) < ROWS_PER_GROUP) continue;
      yield group;
      group = [];
    }
  }
  if (group.length > 0) yield group;
}
