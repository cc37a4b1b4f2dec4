/** Brings the tables of the job store to the newest schema. */
import type { DatabaseSync } from '@photostructure/sqlite';
import { foldText } from '../base/fold-text.js';
import { FUNCTIONS_OF_COUNTS, SUM_OF } from './migrations/count-migration.js';
import { APPLICATION_ID, MIGRATIONS } from './migrations/migrations.js';

export type Database = InstanceType<typeof DatabaseSync>;

export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Throws on the file of another program: one without the id, and without the tables of releases before the id. Changes
 * nothing.
 */
export function refuseForeign(database: Database, file: string): void {
  const { application_id: id } = database.prepare('PRAGMA application_id').get() as {
    application_id: number;
  };
  if (id === APPLICATION_ID) return;
  const { ours } = database
    .prepare(
      `SELECT count(*) AS ours FROM sqlite_schema
       WHERE name IN ('jobs', 'job_images', 'outbox', 'process_runs', 'charged_markers')`,
    )
    .get() as { ours: number };
  if (id === 0 && ours === 5) return;
  throw new Error(
    `${file} is the database of another program. Nothing was changed. ` +
      'Move it to its place, or point LATTICE_DATA_DIR at another folder.',
  );
}

/** Brings the tables to `SCHEMA_VERSION`. Throws on tables of a later release. */
export function migrate(database: Database, file: string): void {
  const { user_version: found } = database.prepare('PRAGMA user_version').get() as {
    user_version: number;
  };
  if (found > SCHEMA_VERSION) {
    throw new Error(
      `${file} was written by a later release (schema ${found}, this one knows ${SCHEMA_VERSION}). ` +
        'Start that release, restore a backup that was made before the upgrade (`lattice restore --force`), or point ' +
        'LATTICE_DATA_DIR at another folder.',
    );
  }
  if (found < SCHEMA_VERSION) applyMigrations(database, found);
}

/** Applies the migrations after `found` (0: no tables) in one transaction. Leaves no prepared statement behind. */
export function applyMigrations(database: Database, found: number): void {
  database.function('fold_text', { deterministic: true }, (text: string | null) =>
    text === null ? null : foldText(text),
  );
  database.aggregate('sum_of', SUM_OF);
  for (const [name, read] of Object.entries(FUNCTIONS_OF_COUNTS)) {
    database.function(name, { deterministic: true }, read);
  }
  database.exec('BEGIN IMMEDIATE');
  for (const statements of MIGRATIONS.slice(found)) database.exec(statements);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  database.exec('COMMIT');
}
