/**
 * Where a path beneath an image root leads, by the rule of detection (`native/files/open_beneath.h`): links are
 * followed while they stay beneath the roots. The target of a link is text that is walked from the root in which it
 * lies, also an absolute one and one that reaches another root through `..`; what lies outside is never asked for.
 */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { pathOnDisk, shownName } from './byte-names.js';

/** `relative` is beneath `root`. Links may lead into `roots`; where they are not given, into the root only. */
export interface Place {
  root: string;
  relative: string;
  roots?: readonly string[];
}

/** The link is named beneath its root; `inCircle`: it is one link too many. */
export interface OutsideLink {
  link: string;
  inCircle: boolean;
}

/** `real` has no links. `null`: nothing is there. */
type Destination =
  { kind: 'file' | 'folder' | 'other'; real: Buffer } | ({ kind: 'outside' } & OutsideLink) | null;

/** Limit of the kernel for the links of one resolution. */
const MOST_LINKS = 40;

/** Paths are bytes, as text of one character each, without a slash at the end. */
interface RealRoot {
  path: string;
  real: string;
}

export async function resolveBeneath(place: Place): Promise<Destination> {
  const { root, relative } = place;
  const asked = bytesText(await pathOnDisk(root, relative));
  const path = asked.replace(/(?:\/\.?)+$/, '');
  const top = await realRoot(root);
  const beneath = path.slice(bytesText(root).replace(/\/$/, '').length);
  // Most paths have no link, and one call says so.
  const real = await realpath(bytesOf(path), 'buffer').catch(() => null);
  const isPlain = real !== null && bytesText(real) === top.real + beneath;
  const found = await (isPlain ? seen(real) : walk(await realRoots(place), top, beneath));
  return path !== asked && found?.kind === 'file' ? null : found;
}

/** Where the link `name` of a folder leads, whose real path is known. */
export async function resolveLink(
  place: Place,
  folder: Buffer,
  name: Buffer,
): Promise<Destination> {
  const at = bytesText(folder);
  const roots = await realRoots(place);
  const top = roots.find(({ real }) => isBeneath(at, real));
  if (top === undefined) return null;
  return walk(roots, top, `${at.slice(top.real.length)}/${bytesText(name)}`);
}

/** Whether a real path lies beneath one of the roots. */
export async function isBeneathRoots(real: Buffer, place: Place): Promise<boolean> {
  const roots = await realRoots(place);
  return roots.some((root) => isBeneath(bytesText(real), root.real));
}

export function outsideText({ link, inCircle }: OutsideLink): string {
  return inCircle
    ? `The link '${link}' leads in a circle.`
    : `The link '${link}' leads out of the image folders.`;
}

async function seen(real: Buffer): Promise<Destination> {
  const status = await lstat(real).catch(() => null);
  if (status === null) return null;
  if (status.isFile()) return { kind: 'file', real };
  return { kind: status.isDirectory() ? 'folder' : 'other', real };
}

/** `path` is beneath the root; where it stands is always a real folder beneath one of the roots. */
async function walk(
  roots: readonly RealRoot[],
  root: RealRoot,
  path: string,
): Promise<Destination> {
  const remaining = partsOf(path);
  let [top, at] = [root, root.real];
  let links = 0;
  let link = '';
  const outside = (inCircle: boolean): Destination => ({
    kind: 'outside',
    link: shownName(bytesOf(link)),
    inCircle,
  });
  const enter = (from: string): boolean => {
    const entered = enterFrom(roots, from, remaining);
    if (entered === null) return false;
    remaining.splice(0, remaining.length, ...entered.remaining);
    top = entered.root;
    at = top.real;
    return true;
  };
  for (let name = remaining.shift(); name !== undefined; name = remaining.shift()) {
    if (name === '.') continue;
    if (name === '..') {
      if (at !== top.real) at = parentOf(at);
      else if (!enter(parentOf(at))) return outside(false);
      continue;
    }
    const next = `${at}/${name}`;
    const status = await lstat(bytesOf(next)).catch(() => null);
    if (status === null) return null;
    if (status.isSymbolicLink()) {
      link = next.slice(top.real.length + 1);
      links += 1;
      if (links > MOST_LINKS) return outside(true);
      const target = await readlink(bytesOf(next), 'buffer').catch(() => null);
      if (target === null) return null;
      const text = bytesText(target);
      remaining.unshift(...partsOf(text));
      if (text.startsWith('/') && !enter('')) return outside(false);
    } else if (remaining.length > 0 && !status.isDirectory()) {
      return null;
    } else at = next;
  }
  return seen(bytesOf(at === '' ? '/' : at));
}

/**
 * The innermost root that the remaining names lead to, and the names behind it. They count from the folder `from`,
 * which lies outside.
 */
function enterFrom(
  roots: readonly RealRoot[],
  from: string,
  remaining: readonly string[],
): { root: RealRoot; remaining: string[] } | null {
  let at = from;
  let entered: { root: RealRoot; remaining: string[] } | null = null;
  for (let next = 0; ; next += 1) {
    const root = roots.find(({ path, real }) => path === at || real === at);
    if (root !== undefined) entered = { root, remaining: remaining.slice(next) };
    const name = remaining[next];
    if (name === undefined || (name === '..' && entered !== null)) return entered;
    if (name === '..') at = parentOf(at);
    else if (name !== '.') at += `/${name}`;
  }
}

function realRoots({ root, roots = [root] }: Place): Promise<RealRoot[]> {
  return Promise.all(roots.map(realRoot));
}

async function realRoot(root: string): Promise<RealRoot> {
  const real = await realpath(root, 'buffer').catch(() => Buffer.from(root));
  const [path, realText] = [bytesText(root), bytesText(real)].map((text) =>
    text.replace(/\/$/, ''),
  );
  return { path: path ?? '', real: realText ?? '' };
}

/** A slash at the end asks for a folder, as `.` does. */
function partsOf(path: string): string[] {
  return (path.endsWith('/') ? `${path}.` : path).split('/').filter((name) => name !== '');
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function isBeneath(path: string, real: string): boolean {
  return path === real || path.startsWith(`${real}/`);
}

function bytesText(path: string | Buffer): string {
  return Buffer.from(path).toString('latin1');
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
