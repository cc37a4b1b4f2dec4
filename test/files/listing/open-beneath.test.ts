/** Files and folders beneath the roots while folders of their paths are exchanged for links that lead out. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileStamps } from '../../../src/files/listing/file-stamps.js';
import { findImages } from '../../../src/files/listing/find-images.js';
import { readFolderPage } from '../../../src/files/listing/folder-page.js';
import { kindOf } from '../../../src/files/listing/find-images.js';

const ROUNDS = 300;

let base: string;
let roots: string[];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'lattice-beneath-'));
  roots = [join(base, 'root'), join(base, 'second')];
  for (const name of ['root/swap', 'root/deep/er', 'second/day', 'outside']) {
    mkdirSync(join(base, name), { recursive: true });
  }
  for (const name of ['root/swap', 'second', 'second/day']) {
    writeFileSync(join(base, name, 'secret.jpg'), 'inside');
  }
  for (const name of ['secret.jpg', 'other.jpg']) writeFileSync(join(base, 'outside', name), 'out');
});
afterEach(() => {
  rmSync(base, { recursive: true });
});

const place = (relative: string) => ({ root: join(base, 'root'), relative, roots });
const link = (target: string, name: string) => {
  symlinkSync(target, join(base, 'root', name));
};
const inside = createHash('sha256').update('inside').digest('hex');

async function digestOf(relative: string): Promise<string | null> {
  const [found] = await fileStamps({
    root: join(base, 'root'),
    files: [[place(relative)]],
    digest: true,
  });
  return found?.digest ?? null;
}

test('the rule of detection: links into every root, and none out of them', async () => {
  link('../second/day', 'beside');
  link(join(base, 'second'), 'by-path');
  link(`${base}/outside/../second/secret.jpg`, 'around.jpg');
  link('../../swap/secret.jpg', 'deep/er/up.jpg');
  link(base, 'above');
  link(`${base}/rooted`, 'beginning');
  link('../outside/secret.jpg', 'out.jpg');
  link('loop', 'loop');
  link('gone', 'dangling');
  for (const path of [
    ...['beside/secret.jpg', 'by-path/day/secret.jpg', 'around.jpg', 'deep/er/up.jpg'],
    ...['above/root/swap/secret.jpg', 'above/second/secret.jpg'],
  ]) {
    expect([path, await digestOf(path)]).toEqual([path, inside]);
  }
  for (const path of ['above/outside/secret.jpg', 'beginning', 'out.jpg', 'loop', 'dangling']) {
    expect([path, await digestOf(path)]).toEqual([path, null]);
  }
  expect(await kindOf(place('above/outside/secret.jpg'))).toEqual({
    link: 'above',
    inCircle: false,
  });
  expect(await kindOf(place('loop'))).toEqual({ link: 'loop', inCircle: true });
  expect(await kindOf(place('by-path/day/'))).toBe('folder');
  expect(await kindOf(place('by-path/secret.jpg/'))).toBe('absent');
  expect(await kindOf(place('dangling'))).toBe('absent');
});

test('forty links are followed and no more', async () => {
  let target = 'swap/secret.jpg';
  for (let number = 1; number <= 41; number += 1) {
    link(number % 2 === 0 ? join(base, 'root', target) : target, `link-${number}`);
    target = `link-${number}`;
  }
  expect(await digestOf('link-40')).toBe(inside);
  expect(await kindOf(place('link-41'))).toMatchObject({ inCircle: true });
});

test('a folder and a link that keep turning into a link to the outside show nothing of it', async () => {
  link('../outside', 'link');
  link(join(base, 'second'), 'linked');
  link(join(base, 'outside'), 'linked-out');
  const exchange = (one: string, other: string) => {
    const at = (name: string) => join(base, 'root', name);
    renameSync(at(one), at('aside'));
    renameSync(at(other), at(one));
    renameSync(at('aside'), at(other));
  };
  const seen = new Set<string | null>();
  const names = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const reads = ['swap/secret.jpg', 'linked/secret.jpg'].map(digestOf);
    const lists = ['swap', 'linked'].flatMap((relative) => [
      readFolderPage({ ...place(relative), after: '', limit: 10 }).then((page) => {
        if (Array.isArray(page)) for (const { name } of page) names.add(name);
      }),
      findImages({ ...place(relative), isFolder: true, cap: 10, withinMs: 60_000 }).then(
        ({ images }) => {
          for (const image of images) names.add(image.slice(image.lastIndexOf('/') + 1));
        },
      ),
    ]);
    let isOver = false;
    const all = Promise.allSettled([...reads, ...lists]).finally(() => (isOver = true));
    while (!isOver) {
      exchange('swap', 'link');
      exchange('linked', 'linked-out');
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const result of await all) {
      if (result.status === 'fulfilled' && result.value !== undefined) seen.add(result.value);
    }
  }
  expect([...seen].filter((digest) => digest !== null)).toEqual([inside]);
  expect([...names].sort()).toEqual(['day', 'secret.jpg']);
});
