import { expect, test } from 'vitest';
import type { FolderPage, FolderQuery } from '../../../src/client/lattice-client.js';
import { firstPictures, folderOf, folderTrail } from '../../../src/ui/images/folder.js';

const entry = (type: string, path: string) => ({ type, path, name: path });

const served =
  (folders: Record<string, object[]>) =>
  ({ under = '' }: FolderQuery = {}) =>
    Promise.resolve({
      path: under,
      entries: folders[under] ?? [],
      next_cursor: null,
    } as FolderPage);

test('the folders on the way to a path', () => {
  expect(folderTrail('2026/11')).toEqual([
    { name: '2026', path: '2026' },
    { name: '11', path: '2026/11' },
  ]);
  expect(folderTrail('/srv/a').map(({ path }) => path)).toEqual(['/srv', '/srv/a']);
  expect(folderTrail('')).toEqual([]);
  expect([folderOf('2026/11/a.jpg'), folderOf('a.jpg')]).toEqual(['2026/11', '']);
});

test('pictures to begin with are those of the first folder that has some', async () => {
  const folders: Record<string, object[]> = {
    '': [entry('folder', '2026')],
    2026: [entry('folder', '2026/10'), entry('folder', '2026/11')],
    '2026/11': [entry('image', '2026/11/a.jpg'), entry('image', '2026/11/b.jpg')],
  };
  const folder = served(folders);
  expect(await firstPictures({ folder }, 1)).toMatchObject([{ path: '2026/11/a.jpg' }]);
  folders['2026/11'] = [];
  expect(await firstPictures({ folder }, 1)).toEqual([]);
});

test('many folders without a picture do not show that there is none', async () => {
  const many = Array.from({ length: 20 }, (_, at) => entry('folder', `camera-${at}`));
  const last = [entry('image', 'camera-19/a.jpg')];
  const folder = served({ '': many, 'camera-19': last });
  expect(await firstPictures({ folder }, 1)).toBeNull();
});
