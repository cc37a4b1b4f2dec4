/** Calls about dismissed places, rows of `dismissed_places`, and what they take out of the counts of pictures. */
import { LatticeError } from '../api/errors.js';
import type { Box } from '../boxes/overlap.js';
import { dismissalOf, type DismissedBox } from '../cameras/dismissal.js';
import { folderOf } from './count-rows.js';
import { ownerOf } from './owner.js';
import type { Statements } from './statements.js';

/** Most dismissed places of one owner. */
const MOST = 1_000;

export interface NewDismissal extends DismissedBox {
  /** The folder of its pictures. */
  camera: string;
}

export interface Dismissal extends NewDismissal {
  id: number;
  /** Unix seconds. */
  dismissedAt: number;
}

type Row = Omit<Dismissal, 'box'> & { box: string };

const SELECT = `SELECT id, camera, class_group AS "group", box, width, height, dismissed_at AS dismissedAt
  FROM dismissed_places`;

const toDismissal = ({ box, ...row }: Row): Dismissal => ({
  ...row,
  box: JSON.parse(box) as Box,
});

const ofOwner = (statements: Statements, owner: string): Dismissal[] =>
  (statements.all(`${SELECT} WHERE owner = ? ORDER BY id`, owner) as Row[]).map(toDismissal);

export class DismissalReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Oldest first. */
  dismissals(owner: string): Dismissal[] {
    return ofOwner(this.#statements, owner);
  }
}

export class DismissalWrites {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** A box over a dismissed place gives that one. Throws `validation_failed` where there are too many. */
  dismissPlace(
    owner: string,
    place: NewDismissal & { class: string },
    at: number,
  ): { stored: Dismissal; created: boolean } {
    const all = ofOwner(this.#statements, owner);
    const { camera, class: name, box, width, height, group } = place;
    const ofCamera = all.filter((one) => one.camera === camera);
    const known = dismissalOf(ofCamera, { class: name, box }, { width, height });
    if (known !== undefined) return { stored: known, created: false };
    if (all.length >= MOST) {
      const detail = `There are ${MOST} dismissed places, which is the most: delete one first.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    const id = this.#statements.insert(
      `INSERT INTO dismissed_places (owner, camera, class_group, box, width, height, dismissed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[owner, camera, group, JSON.stringify(box), width, height, at],
    );
    return { stored: { id, camera, group, box, width, height, dismissedAt: at }, created: true };
  }

  /** Throws `dismissal_not_found`. */
  deleteDismissal(owner: string, id: number): void {
    const sql = 'DELETE FROM dismissed_places WHERE owner = ? AND id = ?';
    if (this.#statements.run(sql, owner, id) > 0) return;
    throw new LatticeError('dismissal_not_found', `There is no dismissal ${id}.`);
  }
}

/** The dismissed places, read once for one call. */
export class DismissedPlaces {
  readonly #statements: Statements;
  readonly #known = new Map<string, Dismissal[]>();
  /** Cameras with dismissed places. */
  readonly cameras: ReadonlySet<string>;

  /** `keyId`: whose pictures are read; null: those of all. */
  constructor(statements: Statements, keyId: string | null = null) {
    this.#statements = statements;
    const rows = statements.all(
      'SELECT DISTINCT camera FROM dismissed_places WHERE owner = coalesce(?, owner)',
      keyId,
    );
    this.cameras = new Set((rows as { camera: string }[]).map(({ camera }) => camera));
  }

  /** Those in a picture of a job of the key. */
  of(keyId: string | null, picture: { path: string }): readonly Dismissal[] {
    const camera = folderOf(picture);
    if (!this.cameras.has(camera)) return [];
    const key = JSON.stringify([keyId, camera]);
    const all =
      this.#known.get(key) ??
      ofOwner(this.#statements, ownerOf(keyId)).filter((one) => one.camera === camera);
    this.#known.set(key, all);
    return all;
  }
}
