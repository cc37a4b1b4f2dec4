/** Places that keys dismissed: what is found there is left out of their counts. */
import type { Detection, ImageSize } from '../api/schemas/image.js';
import { classGroup } from '../cameras/matching.js';
import { folderOf } from '../store/count-rows.js';
import type { Dismissal } from '../store/dismissed-places.js';
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

  /** Dismisses the place of a box of a picture, for all pictures of its folder. */
  add(
    picture: { path: string; image: ImageSize },
    { class: name, box }: Pick<Detection, 'class' | 'box'>,
    keyId: string | null,
  ): Promise<{ stored: Dismissal; created: boolean }> {
    const { width, height } = picture.image;
    const place = { class: name, group: classGroup(name), box, width, height };
    const camera = folderOf(picture);
    return this.#store.dismissPlace(ownerOf(keyId), { ...place, camera }, Date.now() / 1000);
  }

  /** Rejects with `dismissal_not_found`. */
  async remove(id: number, keyId: string | null): Promise<void> {
    await this.#store.deleteDismissal(ownerOf(keyId), id);
  }
}
