/** Tables of rows: code knows a row by its key, HTTP by `wireName`. Plain data, safe for browsers. */
import { snake, type Snake } from './snake-case.js';

/** The key in snake_case, unless the row says another name. */
export type WireName<Row, Key> = Row extends { wireName: infer Wire extends string }
  ? Wire
  : Snake<Key>;

/** The rows in their order, with their names. */
export const rowsOf = (table: object): readonly { name: string; wireName: string }[] =>
  Object.entries(table).map(([name, row]) => ({
    wireName: snake(name),
    ...(row as object),
    name,
  }));
