/** When the folders of a watch are scanned again. Each scan takes a while, and two of them are an hour apart. */
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '../support/eventually.js';
import { contentOf, WatchedFolder } from './watched-folder.js';

const HOUR = { existing: 'leave', intervalMs: 3_600_000 } as const;
const FOLDERS = 40;
const FILES = 4_000;

async function manyFiles(notices: boolean): Promise<WatchedFolder> {
  const folder = new WatchedFolder(notices);
  for (let day = 0; day < FOLDERS; day += 1) mkdirSync(folder.at(`in/${day}`));
  for (let file = 0; file < FILES; file += 1) folder.write(`in/${file % FOLDERS}/${file}.jpg`);
  await folder.open();
  return folder;
}

test('a notice during a scan does not hide the notices after it', async () => {
  await using folder = await manyFiles(true);
  // The first scan is told of each folder that it finds.
  await folder.watches.add('gate', contentOf(HOUR), null);
  mkdirSync(folder.at('in/new'));
  folder.write('in/new/a.jpg');
  await folder.expectResults(['in/new/a.jpg'], 0);
});

test('a watch that is changed during a scan is scanned again at once, and at its new interval', async () => {
  await using folder = await manyFiles(false);
  mkdirSync(folder.at('more'));
  folder.write('more/old.jpg');
  const adding = folder.watches.add('gate', contentOf(HOUR), null);
  await until(() => folder.watches.progress()[0]?.progress.state === 'listing', 'the first scan');
  const paths = ['in', 'more'];
  await folder.watches.change('gate', null, () =>
    Promise.resolve(contentOf({ existing: 'leave', paths })),
  );
  await until(
    async () => (await folder.watches.get('gate', null)).progress.state === 'active',
    'the scan of the new paths',
  );
  await adding;
  expect((await folder.watches.get('gate', null)).counts.recorded).toBe(FILES + 1);
  folder.write('more/new.jpg');
  await folder.expectResults(['more/new.jpg'], 0);
});
