/** Calls about views, rows of `views`. */
import type { Region } from '../api/region-rules.js';
import type { StoreAllowance } from './job-records.js';
import { NamedVersions, type Put, type Version, type VersionedTable } from './named-versions.js';
import type { Statements } from './statements.js';
import { refuseBytes } from './key-use-rows.js';

/** Regions by name. */
export interface ViewContent {
  regions: readonly Region[];
  /** Patterns of paths; relative to the image folder. */
  paths: readonly string[];
}

export type StoredView = Omit<Version, 'before'> & ViewContent;

const VIEWS: VersionedTable = {
  table: 'views',
  noun: 'view',
  plural: 'views',
  isOwned: true,
  knowsBefore: false,
  most: 1_000,
  meanwhile: 'this change was on its way',
};

export class ViewReads {
  readonly #versions: NamedVersions<ViewContent>;

  constructor(statements: Statements) {
    this.#versions = new NamedVersions(statements, VIEWS);
  }

  /** The newest version of each view of all owners. */
  views(): StoredView[] {
    return this.#versions.all();
  }

  /** Throws `view_not_found`; a deleted view has its versions still. */
  viewVersion(owner: string, name: string, version: number): StoredView {
    return this.#versions.get({ owner, name }, version);
  }
}

export class ViewWrites {
  readonly #statements: Statements;
  readonly #versions: NamedVersions<ViewContent>;

  constructor(statements: Statements) {
    this.#statements = statements;
    this.#versions = new NamedVersions(statements, VIEWS);
  }

  /**
   * Calls `NamedVersions.put`. Throws `quota_exceeded` where the key has all that it may take of the store; null: it
   * may take all.
   */
  putView(
    owner: string,
    name: string,
    content: ViewContent,
    at: number,
    from: number | null,
    store: StoreAllowance | null = null,
  ): Put<StoredView> {
    return this.#versions.put({ owner, name }, content, at, from, () => {
      if (store !== null) refuseBytes(this.#statements, owner, store);
    });
  }

  /** Throws `view_not_found`. */
  deleteView(owner: string, name: string, at: number): void {
    this.#versions.delete({ owner, name }, at);
  }
}
