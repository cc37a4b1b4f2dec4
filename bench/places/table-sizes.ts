/** The number of rows of the tables of a store, and its bytes. No process may have it open. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { STORE_FILE } from '../../src/store/data-folder.js';
import type { Row } from '../tables.js';

/** Tables with rows, and the bytes of the database. */
export function tableSizes(dataDir: string): { tables: Row[]; bytes: number } {
  const file = join(dataDir, STORE_FILE);
  const database = new DatabaseSync(file);
  try {
    const names = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
      .all() as { name: string }[];
    const counted = names.map(({ name }) => {
      const { rows } = database.prepare(`SELECT count(*) AS rows FROM ${name}`).get() as {
        rows: number;
      };
      return { table: name, rows };
    });
    const filled = counted.filter(({ rows }) => rows > 0).sort((a, b) => b.rows - a.rows);
    const tables = filled.map(({ table, rows }) => ({ table, rows: String(rows) }));
    return { tables, bytes: statSync(file).size };
  } finally {
    database.close();
  }
}
