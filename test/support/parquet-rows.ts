/** The rows of a Parquet file. */
import { parquetReadObjects } from 'hyparquet';

export function parquetRows(file: Buffer): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: new Uint8Array(file).buffer });
}
