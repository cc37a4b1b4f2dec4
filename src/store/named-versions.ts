/**
 * Rows of `views` and of `model_aliases`, contents by name: every change is a new version, and numbers of versions are
 * not used again. A version without content says that the name was deleted.
 */
import { LatticeError } from '../api/errors.js';
import type { Statements } from './statements.js';

/** Number of versions in which a name of a result can be looked up. */
const VERSIONS_KEPT = 100;

/** Condition on rows of `versions`: the newest of each name, if it has content. */
const PRESENT = `content IS NOT NULL AND version =
  (SELECT max(version) FROM versions AS each WHERE each.owner = versions.owner AND each.name = versions.name)`;

export interface VersionedTable {
  table: 'views' | 'model_aliases';
  noun: 'view' | 'alias';
  plural: 'views' | 'aliases';
  /** The table has a column for the owner. */
  isOwned: boolean;
  /** The table has a column for the version that a rollback goes back to. */
  knowsBefore: boolean;
  /** Most names of one owner. */
  most: number;
  /** The work between reading the version that is to be replaced and the write, for an error text. */
  meanwhile: string;
}

export interface Version {
  /** The id of the API key; empty without authentication, and where the names are everyone's. */
  owner: string;
  name: string;
  /** Begins at 1 and grows with every change, also over a deletion. */
  version: number;
  /** Time at which this version was stored, Unix seconds. */
  storedAt: number;
  /** Version that a rollback goes back to; null: there is none. */
  before: number | null;
}

export interface Put<Stored> {
  stored: Stored;
  /** True: there was no version of this name. */
  created: boolean;
}

type Key = Pick<Version, 'owner' | 'name'>;
type Row = Version & { content: string | null };
type PresentRow = Version & { content: string };

const isPresent = (row: Row | undefined): row is PresentRow => typeof row?.content === 'string';

export class NamedVersions<Content extends object> {
  readonly #statements: Statements;
  readonly #table: VersionedTable;
  /** SQL of the versions, in which both tables have the same columns. */
  readonly #rows: string;

  constructor(statements: Statements, table: VersionedTable) {
    this.#statements = statements;
    this.#table = table;
    const owner = table.isOwned ? 'owner' : "'' AS owner";
    const before = table.knowsBefore ? 'before' : 'NULL AS before';
    this.#rows = `WITH versions AS NOT MATERIALIZED
      (SELECT ${owner}, name, version, stored_at AS storedAt, content, ${before} FROM ${table.table})`;
  }

  /** The newest version of each name of all owners. */
  all(): (Version & Content)[] {
    const rows = this.#statements.all(
      `${this.#rows} SELECT * FROM versions WHERE ${PRESENT} ORDER BY owner, name`,
    ) as PresentRow[];
    return rows.map((row) => this.#stored(row));
  }

  /**
   * Returns the newest version, or the given one, also of a name that was deleted since. Throws `view_not_found` or
   * `alias_not_found`.
   */
  get(key: Key, version?: number): Version & Content {
    const found = this.find(key, version);
    if (found === null) throw nameNotFound(this.#table.noun, key.name);
    return found;
  }

  /** Like `get`, but returns null when there is none. */
  find(key: Key, version?: number): (Version & Content) | null {
    const row = version === undefined ? this.#newest(key) : this.#at(key, version);
    return isPresent(row) ? this.#stored(row) : null;
  }

  /**
   * Stores a new version, or returns the newest if it has this content. `refuse` may throw before the write. Throws
   * `view_changed` or `alias_changed` if the present version is not `from`; null means that there is none.
   */
  put(
    key: Key,
    content: Content,
    at: number,
    from: number | null,
    refuse: () => void = () => undefined,
  ): Put<Version & Content> {
    const newest = this.#newest(key);
    const created = !isPresent(newest);
    if (created) this.#refuseOneMore(key.owner);
    if (newest?.content === JSON.stringify(content)) return { stored: this.get(key), created };
    refuse();
    return { stored: this.replace(key, content, at, from), created };
  }

  /**
   * Like `put`, but also stores a new version for the same content. `before`: the version that a rollback goes back to.
   */
  replace(
    key: Key,
    content: Content,
    at: number,
    from: number | null,
    before = from,
  ): Version & Content {
    const newest = this.#newest(key);
    const present = isPresent(newest) ? newest.version : null;
    // A change that was checked against one version is not made to another.
    if (present !== from) throw this.#changed(key.name, present);
    this.#add(key, JSON.stringify(content), at, before);
    return this.get(key);
  }

  /** Throws as `get`. */
  delete(key: Key, at: number): void {
    this.get(key);
    this.#add(key, null, at, null);
  }

  #add({ owner, name }: Key, content: string | null, at: number, before: number | null): void {
    const { table, isOwned, knowsBefore } = this.#table;
    const version = (this.#newest({ owner, name })?.version ?? 0) + 1;
    const key = { ...(isOwned ? { owner } : {}), name };
    const row = { ...key, version, stored_at: at, content, ...(knowsBefore ? { before } : {}) };
    const places = Object.keys(row).fill('?');
    this.#statements.run(
      `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${places.join()})`,
      ...Object.values(row),
    );
    const isKey = Object.keys(key).map((column) => `${column} = ?`);
    this.#statements.run(
      `DELETE FROM ${table} WHERE ${isKey.join(' AND ')} AND version <= ?`,
      ...Object.values(key),
      version - VERSIONS_KEPT,
    );
  }

  #newest({ owner, name }: Key): Row | undefined {
    return this.#statements.get(
      `${this.#rows} SELECT * FROM versions WHERE owner = ? AND name = ? ORDER BY version DESC LIMIT 1`,
      owner,
      name,
    ) as Row | undefined;
  }

  #at({ owner, name }: Key, version: number): Row | undefined {
    return this.#statements.get(
      `${this.#rows} SELECT * FROM versions WHERE owner = ? AND name = ? AND version = ?`,
      owner,
      name,
      version,
    ) as Row | undefined;
  }

  #stored({ content, ...version }: PresentRow): Version & Content {
    return { ...version, ...(JSON.parse(content) as Content) };
  }

  #refuseOneMore(owner: string): void {
    const { most, plural } = this.#table;
    const { names } = this.#statements.get(
      `${this.#rows} SELECT count(*) AS names FROM versions WHERE owner = ? AND ${PRESENT}`,
      owner,
    ) as { names: number };
    if (names < most) return;
    const detail = `There are ${most} ${plural}, which is the most: delete one first.`;
    throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
  }

  #changed(name: string, present: number | null): LatticeError {
    const { noun, meanwhile } = this.#table;
    const became = present === null ? 'was deleted' : `became version ${present}`;
    return new LatticeError(
      `${noun}_changed`,
      `The ${noun} '${name}' ${became} while ${meanwhile}: read the ${noun}, and send the change again if it is still right.`,
    );
  }
}

export function nameNotFound(noun: VersionedTable['noun'], name: string): LatticeError {
  const detail = `There is no ${noun} '${name}', or not in this version.`;
  return new LatticeError(`${noun}_not_found`, detail);
}
