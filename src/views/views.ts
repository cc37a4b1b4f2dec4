/**
 * Views: stored regions by name, and for which paths of images they are used. Each API key has its own. All are in
 * memory, because every image of a job looks for its view when it runs; only this process writes the store.
 */
import { posix } from 'node:path';
import { LatticeError } from '../api/errors.js';
import type { ProcessedImage } from '../api/schemas/image.js';
import type { DetectOptions } from '../api/options.js';
import { pathPattern, type PathPattern } from '../base/path-pattern.js';
import { placesOf } from '../files/image-paths.js';
import type { ServiceStore } from '../store/service-store.js';
import type { StoreAllowances } from '../store/store-allowances.js';
import { nameNotFound, type Put } from '../store/named-versions.js';
import { ownerOf } from '../store/owner.js';
import type { StoredView, ViewContent } from '../store/view-rows.js';

/** The options that an image is run with, and the view that they come from. */
export interface Resolved {
  options: DetectOptions;
  used: Pick<ProcessedImage, 'view'>;
}

interface Rule {
  text: string;
  matches: PathPattern;
  view: StoredView;
}

interface Owned {
  views: Map<string, StoredView>;
  /** The longest pattern first; of patterns of one length, that of the first name. */
  rules: Rule[];
}

type ViewStore = Pick<ServiceStore, 'views' | 'viewVersion' | 'putView' | 'deleteView'>;

export class Views {
  readonly #store: ViewStore;
  readonly #imageRoots: readonly string[];
  readonly #ofStore: StoreAllowances;
  readonly #owners = new Map<string, Owned>();

  private constructor(store: ViewStore, imageRoots: readonly string[], ofStore: StoreAllowances) {
    this.#store = store;
    this.#ofStore = ofStore;
    this.#imageRoots = imageRoots;
  }

  static async open(
    store: ViewStore,
    imageRoots: readonly string[],
    ofStore: StoreAllowances = () => null,
  ): Promise<Views> {
    const views = new Views(store, imageRoots, ofStore);
    for (const view of await store.views()) views.#owned(view.owner).views.set(view.name, view);
    for (const owned of views.#owners.values()) owned.rules = rulesOf(owned.views);
    return views;
  }

  /** By name. */
  list(keyId: string | null): StoredView[] {
    const { views } = this.#owned(ownerOf(keyId));
    return [...views.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The newest version, or an earlier one, also of a view that was deleted since. Rejects with `view_not_found`. */
  async get(name: string, keyId: string | null, version?: number): Promise<StoredView> {
    const view = this.#owned(ownerOf(keyId)).views.get(name);
    const wanted = version ?? view?.version;
    if (wanted === undefined) throw nameNotFound('view', name);
    return wanted === view?.version ? view : this.#store.viewVersion(ownerOf(keyId), name, wanted);
  }

  /**
   * Resolves once it is on disk: from then on images that begin use it. Rejects with `view_changed` where another call
   * has changed the view since this one began.
   */
  async put(name: string, content: ViewContent, keyId: string | null): Promise<Put<StoredView>> {
    const [owner, at, store] = [ownerOf(keyId), Date.now() / 1000, this.#ofStore(keyId)];
    const from = this.#owned(owner).views.get(name)?.version ?? null;
    const put = await this.#store.putView(owner, name, content, at, from, store);
    this.#change(keyId, (views) => views.set(name, put.stored));
    return put;
  }

  /** Rejects with `view_not_found`. */
  async remove(name: string, keyId: string | null): Promise<void> {
    await this.#store.deleteView(ownerOf(keyId), name, Date.now() / 1000);
    this.#change(keyId, (views) => views.delete(name));
  }

  /** Throws `unknown_view`. */
  refuseUnknown(name: string | null | undefined, keyId: string | null): void {
    if (name) this.#named(name, keyId);
  }

  /**
   * The options with the regions of their view, as it is now: that of its name, else the one whose paths match where
   * the options have no regions. `path` is null for an image that is in no file. Throws `unknown_view`.
   */
  resolve(options: DetectOptions, path: string | null, keyId: string | null): Resolved {
    if (options.view === null && options.regions !== null) return { options, used: {} };
    const view =
      options.view === null ? this.#byPath(path, keyId) : this.#named(options.view, keyId);
    if (view === null) return { options, used: {} };
    const { name, version, regions } = view;
    return { options: { ...options, regions, view: null }, used: { view: { name, version } } };
  }

  #named(name: string, keyId: string | null): StoredView {
    const view = this.#owned(ownerOf(keyId)).views.get(name);
    if (view !== undefined) return view;
    const detail = `There is no view '${name}'.`;
    throw new LatticeError('unknown_view', detail, { errors: [{ detail, pointer: '#/view' }] });
  }

  #byPath(path: string | null, keyId: string | null): StoredView | null {
    const { rules } = this.#owned(ownerOf(keyId));
    if (path === null || rules.length === 0) return null;
    const places = placesOf(path, this.#imageRoots).map(({ relative }) => relative);
    const names = new Set([...places, posix.normalize(path)].map((each) => each.normalize('NFC')));
    const rule = rules.find(({ matches }) => [...names].some((name) => matches(name)));
    return rule?.view ?? null;
  }

  #change(keyId: string | null, change: (views: Map<string, StoredView>) => void): void {
    const owned = this.#owned(ownerOf(keyId));
    change(owned.views);
    owned.rules = rulesOf(owned.views);
  }

  #owned(owner: string): Owned {
    const known = this.#owners.get(owner) ?? { views: new Map<string, StoredView>(), rules: [] };
    this.#owners.set(owner, known);
    return known;
  }
}

function rulesOf(views: ReadonlyMap<string, StoredView>): Rule[] {
  return [...views.values()]
    .flatMap((view) =>
      view.paths.map((each) => {
        const text = posix.normalize(each.normalize('NFC'));
        return { text, matches: pathPattern(text), view };
      }),
    )
    .sort((a, b) => b.text.length - a.text.length || (a.view.name < b.view.name ? -1 : 1));
}
