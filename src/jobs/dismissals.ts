/** Places that keys dismissed: what is found there is left out of their counts. */
import { LatticeError } from '../api/errors.js';
import type { Detection, ImageSize } from '../api/schemas/image.js';
import { classGroup } from '../cameras/matching.js';
import { folderOf } from '../store/count-rows.js';
import { namedCamera } from '../store/cameras/camera-pictures.js';
import type { Dismissal, NewDismissal } from '../store/cameras/dismissed-places.js';
import { ownerOf } from '../store/owner.js';
import type { ServiceStore } from '../store/service-store.js';

type DismissalStore = Pick<ServiceStore, 'dismissals' | 'dismissPlace' | 'deleteDismissal'>;

export class Dismissals {
  readonly #store: DismissalStore;

  constructor(store: DismissalStore) {
    this.#store = store;
  }

  /** Oldest first. */
  list(keyId: string | null): Promise<Dismissal[]> {
    return this.#store.dismissals(ownerOf(keyId));
  }

  /**
   * Dismisses the place of a box of a picture, for all pictures of its folder; with a pattern for those whose names are
   * of the same camera by it. Throws `validation_failed` where the name of the picture does not fit the pattern.
   */
  add(
    picture: { path: string; image: ImageSize },
    { class: name, box }: Pick<Detection, 'class' | 'box'>,
    pattern: string | null,
    keyId: string | null,
  ): Promise<{ stored: Dismissal; created: boolean }> {
    const { width, height } = picture.image;
    const place = { class: name, group: classGroup(name), box, width, height };
    const cameras = { folder: folderOf(picture), named: namedBy(pattern, picture.path) };
    return this.#store.dismissPlace(ownerOf(keyId), { ...place, ...cameras }, Date.now() / 1000);
  }

  /** Rejects with `dismissal_not_found`. */
  async remove(id: number, keyId: string | null): Promise<void> {
    await this.#store.deleteDismissal(ownerOf(keyId), id);
  }
}

function namedBy(pattern: string | null, path: string): NewDismissal['named'] {
  if (pattern === null) return null;
  const camera = namedCamera(pattern)(path);
  if (camera !== null) return { pattern, camera };
  const detail = 'The name of this image does not fit camera_pattern: its camera is its folder.';
  throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
}
