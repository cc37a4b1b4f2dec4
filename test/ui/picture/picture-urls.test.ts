import { expect, test } from 'vitest';
import { PictureUrls } from '../../../src/ui/picture/picture-urls.js';

function urlsOf(mostUnused: number) {
  const asked: { path: string; signal: AbortSignal; answer: (blob: Blob) => void }[] = [];
  const urls = new PictureUrls(
    (path, _width, signal) =>
      new Promise((answer, reject) => {
        asked.push({ path, signal, answer });
        signal.addEventListener('abort', () => {
          reject(new Error('aborted'));
        });
      }),
    mostUnused,
  );
  return { urls, asked };
}

const BLOB = new Blob(['x']);

test('two that show one picture ask once', async () => {
  const { urls, asked } = urlsOf(5);
  const [one, two] = [urls.acquire('/a'), urls.acquire('/a')];
  asked[0]!.answer(BLOB);
  expect(await one.url).toBe(await two.url);
  expect(asked).toHaveLength(1);
});

test('a picture that nobody waits for is not fetched to its end', async () => {
  const { urls, asked } = urlsOf(5);
  const picture = urls.acquire('/a');
  picture.release();
  expect(asked[0]!.signal.aborted).toBe(true);
  await expect(picture.url).rejects.toThrow('aborted');
  urls.acquire('/a');
  expect(asked).toHaveLength(2);
});

test('the last unused ones are kept, older ones are given up', async () => {
  const { urls, asked } = urlsOf(2);
  const show = async (path: string): Promise<string> => {
    const before = asked.length;
    const picture = urls.acquire(path);
    if (asked.length > before) asked.at(-1)!.answer(BLOB);
    const url = await picture.url;
    picture.release();
    return url;
  };
  const first = await show('/a');
  for (const path of ['/b', '/c']) await show(path);
  expect(asked.map(({ path }) => path)).toEqual(['/a', '/b', '/c']);
  await show('/b'); // kept
  expect(asked).toHaveLength(3);
  expect(await show('/a')).not.toBe(first); // given up
  await show('/c'); // the longest unused when /a came back
  expect(asked.map(({ path }) => path)).toEqual(['/a', '/b', '/c', '/a', '/c']);
});
