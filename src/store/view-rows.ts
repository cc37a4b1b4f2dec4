/** Rows of `views`: every change of a view is a new version of it, and numbers of versions are not used again. */
import { LatticeError } from '../api/errors.js';
import { viewNotFound, type StoredView, type ViewContent } from './view.js';
import type { StoreAllowance } from './job-records.js';
import type { Statements } from './statements.js';
import { refuseBytes } from './use-rows.js';

/** What results name can be looked up in so many versions. */
const VERSIONS_KEPT = 100;
const MOST_VIEWS = 1_000;

const COLUMNS = 'owner, name, version, stored_at AS storedAt, content';
const NEWEST =
  'version = (SELECT max(version) FROM views AS each WHERE each.owner = views.owner AND each.name = views.name)';

interface ViewRow {
  owner: string;
  name: string;
  version: number;
  storedAt: number;
  content: string | null;
}

export class ViewReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The newest version of each view of all owners. */
  views(): StoredView[] {
    const sql = `SELECT ${COLUMNS} FROM views WHERE content IS NOT NULL AND ${NEWEST} ORDER BY owner, name`;
    return (this.#statements.all(sql) as ViewRow[]).flatMap((row) => toView(row));
  }

  /** Throws `view_not_found`; a deleted view has its versions still. */
  viewVersion(owner: string, name: string, version: number): StoredView {
    const sql = `SELECT ${COLUMNS} FROM views WHERE owner = ? AND name = ? AND version = ?`;
    const [view] = toView(this.#statements.get(sql, owner, name, version) as ViewRow | undefined);
    if (view === undefined) throw viewNotFound(name);
    return view;
  }
}

export class ViewWrites {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /**
   * A new version, or the newest where it has this content. Throws `quota_exceeded` where the key has all that it may take
   * of the store; null: it may take all.
   */
  putView(
    owner: string,
    name: string,
    content: ViewContent,
    at: number,
    store: StoreAllowance | null = null,
  ): { view: StoredView; created: boolean } {
    const before = this.#newest(owner, name)?.content ?? null;
    // A field that is null is not given: the same content has the same text.
    const text = JSON.stringify(content, (_key, value: unknown) => value ?? undefined);
    if (before === null && this.#count(owner) >= MOST_VIEWS) {
      const detail = `There are ${MOST_VIEWS} views, which is the most: delete one first.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    if (before !== text) {
      if (store !== null) refuseBytes(this.#statements, owner, store);
      this.#add(owner, name, text, at);
    }
    const [view] = toView(this.#newest(owner, name));
    if (view === undefined) throw new Error(`View ${name} is not there after its write.`);
    return { view, created: before === null };
  }

  /** Throws `view_not_found`. */
  deleteView(owner: string, name: string, at: number): void {
    if ((this.#newest(owner, name)?.content ?? null) === null) throw viewNotFound(name);
    this.#add(owner, name, null, at);
  }

  #newest(owner: string, name: string): ViewRow | undefined {
    const sql = `SELECT ${COLUMNS} FROM views WHERE owner = ? AND name = ? ORDER BY version DESC LIMIT 1`;
    return this.#statements.get(sql, owner, name) as ViewRow | undefined;
  }

  #add(owner: string, name: string, content: string | null, at: number): void {
    const version = (this.#newest(owner, name)?.version ?? 0) + 1;
    this.#statements.run(
      'INSERT INTO views (owner, name, version, stored_at, content) VALUES (?, ?, ?, ?, ?)',
      owner,
      name,
      version,
      at,
      content,
    );
    this.#statements.run(
      'DELETE FROM views WHERE owner = ? AND name = ? AND version <= ?',
      owner,
      name,
      version - VERSIONS_KEPT,
    );
  }

  #count(owner: string): number {
    const { views } = this.#statements.get(
      `SELECT count(*) AS views FROM views WHERE owner = ? AND content IS NOT NULL AND ${NEWEST}`,
      owner,
    ) as { views: number };
    return views;
  }
}

/** None where there is no row, or one that says that the view was deleted. */
function toView(found: ViewRow | undefined): StoredView[] {
  if (found === undefined) return [];
  const { content, ...row } = found;
  return content === null ? [] : [{ ...row, ...(JSON.parse(content) as ViewContent) }];
}
