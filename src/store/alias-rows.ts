/** Rows of `model_aliases`: every change of an alias is a new version of it, and numbers of versions are not used again. */
import { LatticeError } from '../api/errors.js';
import type { AliasContent } from '../api/model-alias.js';
import { aliasNotFound, type PutAlias, type StoredAlias } from './stored-alias.js';
import type { Statements } from './statements.js';

const VERSIONS_KEPT = 100;
const MOST_ALIASES = 200;

const COLUMNS = 'name, version, stored_at AS storedAt, content, before';
const NEWEST =
  'version = (SELECT max(version) FROM model_aliases AS each WHERE each.name = model_aliases.name)';

interface AliasRow {
  name: string;
  version: number;
  storedAt: number;
  content: string | null;
  before: number | null;
}

type PresentRow = AliasRow & { content: string };

export class AliasReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The newest version of each. */
  aliases(): StoredAlias[] {
    const sql = `SELECT ${COLUMNS} FROM model_aliases WHERE content IS NOT NULL AND ${NEWEST} ORDER BY name`;
    return (this.#statements.all(sql) as AliasRow[]).flatMap((row) => toAlias(row) ?? []);
  }

  /** Throws `alias_not_found`; a deleted alias has its versions still. */
  aliasVersion(name: string, version: number): StoredAlias {
    const alias = toAlias(rowOf(this.#statements, name, version));
    if (alias === null) throw aliasNotFound(name);
    return alias;
  }

  /** What a rollback goes to. Throws `alias_not_found`, and `no_other_model` where there is nothing. */
  aliasBefore(name: string): AliasContent {
    return JSON.parse(rowBefore(this.#statements, name).content) as AliasContent;
  }
}

export class AliasWrites {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /**
   * A new version, or the newest where it has this content. Throws `alias_changed` where another version than `from` was
   * to be replaced, which is null for no alias.
   */
  putAlias(name: string, content: AliasContent, at: number, from: number | null): PutAlias {
    const newest = newestRow(this.#statements, name);
    const present = isPresent(newest) ? newest.version : null;
    const created = present === null;
    const text = JSON.stringify(content);
    if (created && this.#count() >= MOST_ALIASES) {
      const detail = `There are ${MOST_ALIASES} aliases, which is the most: delete one first.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    if (newest?.content !== text) {
      refuseChanged(name, present, from);
      this.#add({ name, content: text, storedAt: at, before: present });
    }
    return { alias: this.#present(name), created };
  }

  /** The content of the version before `from` as a new version. Throws as `aliasBefore` and as `putAlias`. */
  rollBackAlias(name: string, at: number, from: number): StoredAlias {
    refuseChanged(name, presentRow(this.#statements, name).version, from);
    const { content, before } = rowBefore(this.#statements, name);
    this.#add({ name, content, storedAt: at, before });
    return this.#present(name);
  }

  /** Throws `alias_not_found`. */
  deleteAlias(name: string, at: number): void {
    presentRow(this.#statements, name);
    this.#add({ name, content: null, storedAt: at, before: null });
  }

  #present(name: string): StoredAlias {
    const alias = toAlias(newestRow(this.#statements, name));
    if (alias === null) throw new Error(`Alias ${name} is not there after its write.`);
    return alias;
  }

  #add({ name, content, storedAt, before }: Omit<AliasRow, 'version'>): void {
    const version = (newestRow(this.#statements, name)?.version ?? 0) + 1;
    this.#statements.run(
      'INSERT INTO model_aliases (name, version, stored_at, content, before) VALUES (?, ?, ?, ?, ?)',
      name,
      version,
      storedAt,
      content,
      before,
    );
    this.#statements.run(
      'DELETE FROM model_aliases WHERE name = ? AND version <= ?',
      name,
      version - VERSIONS_KEPT,
    );
  }

  #count(): number {
    const { aliases } = this.#statements.get(
      `SELECT count(*) AS aliases FROM model_aliases WHERE content IS NOT NULL AND ${NEWEST}`,
    ) as { aliases: number };
    return aliases;
  }
}

function newestRow(statements: Statements, name: string): AliasRow | undefined {
  const sql = `SELECT ${COLUMNS} FROM model_aliases WHERE name = ? ORDER BY version DESC LIMIT 1`;
  return statements.get(sql, name) as AliasRow | undefined;
}

/** Throws `alias_not_found`. */
function presentRow(statements: Statements, name: string): PresentRow {
  const row = newestRow(statements, name);
  if (!isPresent(row)) throw aliasNotFound(name);
  return row;
}

/** A change that was checked against one version is not made to another. */
function refuseChanged(name: string, present: number | null, from: number | null): void {
  if (present === from) return;
  const became = present === null ? 'was deleted' : `became version ${present}`;
  throw new LatticeError(
    'alias_changed',
    `The alias '${name}' ${became} while the models of this change were loaded: read the alias, and send the change again ` +
      'if it is still right.',
  );
}

function rowBefore(statements: Statements, name: string): PresentRow {
  const { before } = presentRow(statements, name);
  const row = before === null ? undefined : rowOf(statements, name, before);
  if (isPresent(row)) return row;
  throw new LatticeError('no_other_model', `The alias '${name}' has no earlier version.`);
}

/** False where there is no row, or one that says that the alias was deleted. */
function isPresent(row: AliasRow | undefined): row is PresentRow {
  return typeof row?.content === 'string';
}

function rowOf(statements: Statements, name: string, version: number): AliasRow | undefined {
  const sql = `SELECT ${COLUMNS} FROM model_aliases WHERE name = ? AND version = ?`;
  return statements.get(sql, name, version) as AliasRow | undefined;
}

function toAlias(row: AliasRow | undefined): StoredAlias | null {
  if (!isPresent(row)) return null;
  const { name, version, storedAt, content, before } = row;
  return { name, version, storedAt, before, ...(JSON.parse(content) as AliasContent) };
}
