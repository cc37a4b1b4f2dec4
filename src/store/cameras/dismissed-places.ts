/** Calls about dismissed places, rows of `dismissed_places`, and what they take out of the counts of pictures. */
import { LatticeError } from '../../api/errors.js';
import type { Box } from '../../boxes/overlap.js';
import { dismissalOf, type DismissedBox } from '../../cameras/dismissal.js';
import { namedCamera } from './camera-pictures.js';
import { folderOf } from '../count-rows.js';
import { ownerOf } from '../owner.js';
import type { Statements } from '../statements.js';

/** Most dismissed places of one owner. */
const MOST = 1_000;

export interface NewDismissal extends DismissedBox {
  /** The folder of its pictures. */
  folder: string;
  /** It holds for the pictures of the folder whose names are of this camera by the pattern; null: for all. */
  named: { pattern: string; camera: string } | null;
}

export interface Dismissal extends NewDismissal {
  id: number;
  /** Unix seconds. */
  dismissedAt: number;
}

type Row = Omit<Dismissal, 'box' | 'named'> & {
  box: string;
  pattern: string | null;
  named: string | null;
};

const SELECT = `SELECT id, camera AS folder, pattern, named, class_group AS "group", box, width, height,
    dismissed_at AS dismissedAt
  FROM dismissed_places`;

const toDismissal = ({ box, pattern, named, ...row }: Row): Dismissal => ({
  ...row,
  named: pattern === null || named === null ? null : { pattern, camera: named },
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
    const { folder, named, class: name, box, width, height, group } = place;
    const ofCamera = all.filter(
      (one) =>
        one.folder === folder &&
        one.named?.pattern === named?.pattern &&
        one.named?.camera === named?.camera,
    );
    const known = dismissalOf(ofCamera, { class: name, box }, { width, height });
    if (known !== undefined) return { stored: known, created: false };
    if (all.length >= MOST) {
      const detail = `There are ${MOST} dismissed places, which is the most: delete one first.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    const id = this.#statements.insert(
      `INSERT INTO dismissed_places
         (owner, camera, pattern, named, class_group, box, width, height, dismissed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[owner, folder, named?.pattern ?? null, named?.camera ?? null],
      ...[group, JSON.stringify(box), width, height, at],
    );
    const stored = { id, folder, named, group, box, width, height, dismissedAt: at };
    return { stored, created: true };
  }

  /** Throws `dismissal_not_found`. */
  deleteDismissal(owner: string, id: number): void {
    const sql = 'DELETE FROM dismissed_places WHERE owner = ? AND id = ?';
    if (this.#statements.run(sql, owner, id) > 0) return;
    throw new LatticeError('dismissal_not_found', `There is no dismissal ${id}.`);
  }
}

interface HeldDismissal extends Dismissal {
  /** Whether it holds for the picture of this path, which lies in its folder. */
  holds: (path: string) => boolean;
}

function holdsFor({ named }: Dismissal): HeldDismissal['holds'] {
  if (named === null) return () => true;
  const cameraOf = namedCamera(named.pattern);
  return (path) => cameraOf(path) === named.camera;
}

/** The dismissed places, read once for one call. */
export class DismissedPlaces {
  readonly #statements: Statements;
  readonly #known = new Map<string, HeldDismissal[]>();
  /** Folders with dismissed places. */
  readonly folders: ReadonlySet<string>;

  /** `keyId`: whose pictures are read; null: those of all. */
  constructor(statements: Statements, keyId: string | null = null) {
    this.#statements = statements;
    const rows = statements.all(
      'SELECT DISTINCT camera FROM dismissed_places WHERE owner = coalesce(?, owner)',
      keyId,
    );
    this.folders = new Set((rows as { camera: string }[]).map(({ camera }) => camera));
  }

  /** Those in a picture of a job of the key. */
  of(keyId: string | null, picture: { path: string }): readonly Dismissal[] {
    const folder = folderOf(picture);
    if (!this.folders.has(folder)) return [];
    const key = JSON.stringify([keyId, folder]);
    const all =
      this.#known.get(key) ??
      ofOwner(this.#statements, ownerOf(keyId))
        .filter((one) => one.folder === folder)
        .map((one) => ({ ...one, holds: holdsFor(one) }));
    this.#known.set(key, all);
    return all.filter(({ holds }) => holds(picture.path));
  }
}
