/** Calls about aliases of models, rows of `model_aliases`. */
import { LatticeError } from '../api/errors.js';
import type { AliasContent } from '../api/schemas/model-alias.js';
import { NamedVersions, type Put, type Version, type VersionedTable } from './named-versions.js';
import type { Statements } from './statements.js';

export type StoredAlias = Omit<Version, 'owner'> & AliasContent;

const ALIASES: VersionedTable = {
  table: 'model_aliases',
  noun: 'alias',
  plural: 'aliases',
  isOwned: false,
  knowsBefore: true,
  most: 200,
  meanwhile: 'the models of this change were loaded',
};

const keyOf = (name: string) => ({ owner: '', name });

export class AliasReads {
  readonly #versions: NamedVersions<AliasContent>;

  constructor(statements: Statements) {
    this.#versions = new NamedVersions(statements, ALIASES);
  }

  /** The newest version of each. */
  aliases(): StoredAlias[] {
    return this.#versions.all();
  }

  /** Throws `alias_not_found`; a deleted alias has its versions still. */
  aliasVersion(name: string, version: number): StoredAlias {
    return this.#versions.get(keyOf(name), version);
  }

  /** The version that a rollback goes to. Throws `alias_not_found`, and `no_other_model` where there is none. */
  aliasBefore(name: string): StoredAlias {
    return versionBefore(this.#versions, name);
  }
}

export class AliasWrites {
  readonly #versions: NamedVersions<AliasContent>;

  constructor(statements: Statements) {
    this.#versions = new NamedVersions(statements, ALIASES);
  }

  /** Calls `NamedVersions.put`. */
  putAlias(name: string, content: AliasContent, at: number, from: number | null): Put<StoredAlias> {
    return this.#versions.put(keyOf(name), content, at, from);
  }

  /** The content of the version before `from` as a new version. Throws as `aliasBefore` and as `putAlias`. */
  rollBackAlias(name: string, at: number, from: number): StoredAlias {
    const { model, canary, shadow, before } = versionBefore(this.#versions, name);
    return this.#versions.replace(keyOf(name), { model, canary, shadow }, at, from, before);
  }

  /** Throws `alias_not_found`. */
  deleteAlias(name: string, at: number): void {
    this.#versions.delete(keyOf(name), at);
  }
}

function versionBefore(versions: NamedVersions<AliasContent>, name: string): StoredAlias {
  const { before } = versions.get(keyOf(name));
  const found = before === null ? null : versions.find(keyOf(name), before);
  if (found !== null) return found;
  throw new LatticeError('no_other_model', `The alias '${name}' has no earlier version.`);
}
