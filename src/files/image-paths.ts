/** Decides which paths a request may name, and finds the images of its folders and globs. */
import { posix } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { LatticeError, type ErrorItem } from '../api/errors.js';
import {
  GLOB_MAGIC,
  type FoundImages,
  type Listing,
  type PathKind,
  type Place,
} from './listing/find-images.js';
import { unicodeForms } from './unicode-forms.js';
import { addLeftOut, leftOutClause, type LeftOut } from '../api/left-out.js';
import { IMAGE_NAME } from './listing/image-names.js';
import { ImageLister, noFolder } from './listing/image-lister.js';
import { outsideText } from './listing/resolve-beneath.js';

/** Enough for every practical listing; with more, hostile names make matching slow. */
const MAX_STARS = { inPattern: 8, inComponent: 3 };
const LISTING_MS = 10_000;
/** A matcher does not answer while it works on a hostile glob: its process is killed this long after the time limit. */
const GRACE_MS = 3_000;
/** Limit for one system call. */
const LOOK_MS = 5_000;
const MAX_LISTINGS = 100;
/** Bounds the answer. */
const MOST_REFUSED = 50;
/** Paths that are checked in one turn of the event loop. */
const PATHS_PER_TURN = 10_000;

const lister = new ImageLister();

/**
 * Throws `path_not_allowed` for a NUL, a `..` component, or an absolute path that lies beneath no root. Checks
 * the text only; the open is confined again. `roots` are absolute and are not named in the answer. `pointer` says
 * where a body has the path.
 */
export function checkImagePath(path: string, roots: readonly string[], pointer?: string): void {
  const reason = refusal(path, roots);
  if (reason === null) return;
  throw new LatticeError('path_not_allowed', reason, {
    errors: [{ detail: reason, ...(pointer === undefined ? {} : { pointer }) }],
  });
}

/**
 * Entries in their order, with a folder replaced by the images beneath it and a glob by the images that match, each
 * listing sorted by code units and relative to its root. Relative folders and globs are looked up in each root in
 * order; the first with an image wins. Links are followed beneath the roots. An entry that names a file is
 * passed on without touching the disk, so that a missing file is an error of that image, not of the job. What has
 * characters of a glob and exists is no glob; what has only brackets, ends as an image does and matches nothing is the
 * name of a missing file.
 *
 * Throws `path_not_allowed` as `checkImagePath` does or for a link that leads out of the roots, or `validation_failed`
 * for a folder that is not there, a listing without an image, with too many wildcards, or when all together exceed
 * `cap`; `volume_unavailable` or `machine_overloaded` where a folder cannot be read in time.
 */
export async function expandImagePaths(
  paths: readonly string[],
  roots: readonly string[],
  cap: number,
): Promise<FoundImages> {
  const expanded: string[] = [];
  const leftOut: LeftOut = {};
  let listings = 0;
  let missing = 0;
  for (const [index, path] of paths.entries()) {
    if (index % PATHS_PER_TURN === PATHS_PER_TURN - 1) await setImmediate();
    const pointer = `#/image_paths/${index}`;
    checkImagePath(path, roots, pointer);
    if (IMAGE_NAME.test(path) && !GLOB_MAGIC.test(path)) expanded.push(path);
    else {
      const requested = {
        path,
        roots,
        cap,
        pointer,
        isName: missing >= MAX_LISTINGS && mayBeName(path),
      };
      const listed = await listImages(requested);
      if (listed === null) {
        if (GLOB_MAGIC.test(path)) missing += 1;
        expanded.push(path);
      } else if (++listings > MAX_LISTINGS) {
        throw invalid(`A job names at most ${MAX_LISTINGS} folders and globs.`, pointer);
      } else {
        for (const image of listed.images) expanded.push(image);
        addLeftOut(leftOut, listed.leftOut);
      }
    }
    if (expanded.length > cap) {
      throw invalid(`The job names more than ${cap} images.`, '#/image_paths');
    }
  }
  return { images: expanded, leftOut };
}

/**
 * The paths as they are: the disk is not touched. Throws `path_not_allowed` as `checkImagePath` does, with the first
 * paths that are refused.
 */
export async function literalPaths(
  paths: readonly string[],
  roots: readonly string[],
): Promise<FoundImages> {
  const refused: ErrorItem[] = [];
  for (const [index, path] of paths.entries()) {
    if (index % PATHS_PER_TURN === PATHS_PER_TURN - 1) await setImmediate();
    const detail = refusal(path, roots);
    if (detail !== null) refused.push({ detail, pointer: `#/image_paths/${index}` });
    if (refused.length === MOST_REFUSED) break;
  }
  const [first] = refused;
  if (first === undefined) return { images: [...paths], leftOut: {} };
  throw new LatticeError('path_not_allowed', first.detail, { errors: refused });
}

/** `*` and `?` are rare in names of files, brackets are not. */
function mayBeName(path: string): boolean {
  return IMAGE_NAME.test(path) && !/[*?]/.test(path);
}

/** `http:/x` still names a folder of that name. */
const ADDRESS = /^(\w[\w+.-]*):\/\//;
const DATA = /^data:[\w+.-]*\/?[\w+.-]*[;,]/i;

function refusal(path: string, roots: readonly string[]): string | null {
  const [, scheme] = ADDRESS.exec(path) ?? [];
  if (scheme !== undefined) {
    return `An image is named by its path beneath an image folder, not by an address (${scheme}://).`;
  }
  if (DATA.test(path)) {
    return 'An image is named by its path. The picture itself is sent to /v1/inference/detect, as its bytes or in a form.';
  }
  if (path.includes('\0')) return 'A path must not contain NUL.';
  if (path.includes('..') && path.split('/').includes('..')) {
    return "A path must not contain '..'.";
  }
  if (path.startsWith('/') && !roots.some((root) => beneath(path, root) !== null)) {
    return 'An absolute path must lie beneath an image root.';
  }
  return null;
}

/** `path` relative to `root`, or null when it lies elsewhere. */
export function beneath(path: string, root: string): string | null {
  const folder = root.endsWith('/') ? root : `${root}/`;
  if (path === root) return '.';
  return path.startsWith(folder) ? path.slice(folder.length) : null;
}

/** The places that a path can name, in the order of the roots. */
export function placesOf(path: string, roots: readonly string[]): Place[] {
  return roots.flatMap((root) => {
    const inRoot = path.startsWith('/') ? beneath(path, root) : path;
    return inRoot === null ? [] : [{ root, relative: posix.normalize(inRoot), roots }];
  });
}

/** The places of all Unicode forms of a path; those of the form in the request come first. */
export function placesOfForms(path: string, roots: readonly string[]): Place[] {
  return unicodeForms(path).flatMap((form) => placesOf(form, roots));
}

interface RequestedPath {
  path: string;
  roots: readonly string[];
  cap: number;
  pointer: string;
  /** True: the path is the name of a file, whatever characters it has. */
  isName: boolean;
}

/** Null for an entry that is no folder and no glob. */
async function listImages(requested: RequestedPath): Promise<FoundImages | null> {
  const { path, roots, cap, pointer } = requested;
  const isGlob = GLOB_MAGIC.test(path) && !requested.isName;
  const leftOut: LeftOut = {};
  let folder: Place | null = null;
  for (const place of placesOfForms(path, roots)) {
    const kind = await kindOf(place);
    if (kind === 'file') return null;
    if (typeof kind === 'object') {
      const detail = outsideText(kind);
      throw new LatticeError('path_not_allowed', detail, { errors: [{ detail, pointer }] });
    }
    if (kind === 'absent' && !isGlob) continue;
    const isFolder = kind === 'folder';
    if (isFolder) folder ??= place;
    const found = await list({ ...place, isFolder, cap }, pointer);
    if (found.images.length > 0) return found;
    addLeftOut(leftOut, found.leftOut);
  }
  if (folder !== null) throw invalid(await whyEmpty(path, folder, leftOut), pointer);
  if (isGlob && !mayBeName(path)) {
    throw invalid(`'${path}' matches no image${leftOutClause(leftOut)}.`, pointer);
  }
  if (path.endsWith('/') || posix.normalize(path) === '.') {
    throw invalid(await whyAbsent(path, roots), pointer);
  }
  return null;
}

async function whyAbsent(path: string, roots: readonly string[]): Promise<string> {
  const absent = `There is no folder '${path}' beneath the image folders.`;
  for (const place of placesOfForms(path, roots)) {
    const meant = await lister.ask('similarPath', place, LOOK_MS).catch(() => null);
    if (meant !== null) return `${absent} Did you mean '${meant}'?`;
  }
  return absent;
}

async function whyEmpty(path: string, folder: Place, leftOut: LeftOut): Promise<string> {
  const readable = await lister.ask('isReadable', folder, LOOK_MS).catch(() => true);
  if (!readable) return `The service has no permission to read the folder '${path}'.`;
  return `The folder '${path}' has no images${leftOutClause(leftOut)}.`;
}

async function kindOf(place: Place): Promise<PathKind> {
  try {
    return await lister.ask('kindOf', place, LOOK_MS);
  } catch (cause) {
    throw noFolder(`'${place.relative}'`, cause);
  }
}

async function list(listing: Omit<Listing, 'withinMs'>, pointer: string): Promise<FoundImages> {
  const { relative, isFolder } = listing;
  if (!isFolder) refuseCostlyGlob(relative, pointer);
  try {
    const query = { ...listing, withinMs: LISTING_MS };
    return await lister.ask('findImages', query, LISTING_MS + GRACE_MS);
  } catch (cause) {
    if (cause instanceof LatticeError) throw noFolder(`'${relative}'`, cause);
    const detail = `'${relative}' cannot be listed within ${LISTING_MS / 1000} s.`;
    throw new LatticeError('validation_failed', detail, { cause, errors: [{ detail, pointer }] });
  }
}

/** Throws `validation_failed` for a pattern whose matching may take long. */
export function refuseCostlyGlob(pattern: string, pointer: string): void {
  const stars = (text: string) => text.replaceAll('**', '*').split('*').length - 1;
  const costly =
    stars(pattern) > MAX_STARS.inPattern ||
    pattern.split('/').some((component) => stars(component) > MAX_STARS.inComponent);
  if (!costly) return;
  throw invalid(
    `A glob has at most ${MAX_STARS.inPattern} wildcards, ${MAX_STARS.inComponent} in one component.`,
    pointer,
  );
}

function invalid(detail: string, pointer: string): LatticeError {
  return new LatticeError('validation_failed', detail, { errors: [{ detail, pointer }] });
}
