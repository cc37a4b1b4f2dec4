/** Which images of a job are asked for, and which are kept. */
import { expect, test } from 'vitest';
import type { JobImage, JobImages } from '../../../src/client/records.js';
import { ServiceError } from '../../../src/client/service-error.js';
import { ImagePages } from '../../../src/ui/job/image-pages.js';
import { eventually } from '../../support/eventually.js';

const image = (index: number): JobImage => ({
  index,
  image_path: `p${index}.jpg`,
  status: 'pending',
});

/** A job of `count` images whose pages have at most `most` of them. */
function pagesOf(count: number, most = 1_000) {
  const asked: [number, number][] = [];
  let changes = 0;
  const pages = new ImagePages({
    fetch: async (offset, limit) => {
      asked.push([offset, limit]);
      await Promise.resolve();
      const length = Math.max(0, Math.min(limit, most, count - offset));
      const images = Array.from({ length }, (_, at) => image(offset + at));
      const next = offset + length < count ? offset + length : null;
      return { images, matching: count, next_offset: next } satisfies JobImages;
    },
    onChange: () => (changes += 1),
  });
  const shown = async (from: number, to: number) => {
    pages.want(from, to);
    await eventually(() => {
      expect(pages.at(to - 1)?.index).toBe(to - 1);
      expect(pages.at(from)?.index).toBe(from);
    });
  };
  return { pages, asked, shown, changes: () => changes };
}

test('what is in view is asked for once', async () => {
  const { pages, asked, shown } = pagesOf(100_000);
  expect(pages.matching).toBeNull();
  await shown(0, 24);
  expect(pages.matching).toBe(100_000);
  await shown(6, 30);
  await shown(50_000, 50_024);
  expect(asked).toEqual([
    [0, 60],
    [50_000, 24],
  ]);
});

test('a page that ends early is continued', async () => {
  const { asked, shown } = pagesOf(1_000, 10);
  await shown(0, 25);
  expect(asked.map(([offset]) => offset)).toEqual([0, 10, 20]);
});

test('while a page is on its way, only the last place that was scrolled to is asked for next', async () => {
  const { pages, asked, shown } = pagesOf(100_000);
  pages.want(0, 20);
  for (let from = 100; from < 90_000; from += 100) pages.want(from, from + 20);
  await shown(90_000, 90_020);
  expect(asked.length).toBe(2);
});

test('only images near the view are kept', async () => {
  const { pages, shown } = pagesOf(100_000);
  for (let from = 0; from < 6_000; from += 60) await shown(from, from + 60);
  expect(pages.kept).toBeLessThanOrEqual(900);
  expect(pages.at(0)).toBeUndefined();
  await shown(0, 60);
});

test('images that may have changed are asked for again, those in view only', async () => {
  const { pages, asked, shown, changes } = pagesOf(500);
  await shown(120, 150);
  asked.length = 0;
  const before = changes();
  pages.refresh();
  await eventually(() => {
    expect(changes()).toBeGreaterThan(before);
  });
  expect(asked).toEqual([[120, 30]]);
});

test('images that were read before a change are asked for again when they come into view', async () => {
  const { pages, asked, shown } = pagesOf(500);
  await shown(0, 24);
  await shown(300, 324);
  asked.length = 0;
  pages.refresh();
  await eventually(() => {
    expect(asked).toEqual([[300, 24]]);
  });
  pages.want(0, 24);
  await eventually(() => {
    expect(asked).toEqual([
      [300, 24],
      [0, 24],
    ]);
  });
  expect(pages.at(0)?.index).toBe(0);
});

test('after a change all in view are asked for again, also where a page ends early', async () => {
  const { pages, asked, shown } = pagesOf(500, 10);
  await shown(0, 25);
  asked.length = 0;
  pages.refresh();
  await eventually(() => {
    expect(asked.map(([offset]) => offset)).toEqual([0, 10, 20]);
  });
});

test('after a fault that may pass the images are asked for again; those of before stay until then', async () => {
  let path = 'before.jpg';
  let isAway = false;
  const pages = new ImagePages({
    fetch: () =>
      isAway
        ? Promise.reject(ServiceError.ofClient('unreachable', 'It is away.'))
        : Promise.resolve({
            images: [{ ...image(0), image_path: path }],
            matching: 1,
            next_offset: null,
          }),
    onChange: () => undefined,
  });
  pages.want(0, 10);
  await eventually(() => {
    expect(pages.at(0)?.image_path).toBe('before.jpg');
  });
  [isAway, path] = [true, 'after.jpg'];
  pages.refresh();
  await eventually(() => {
    expect(pages.fault).toBeInstanceOf(ServiceError);
  });
  expect(pages.at(0)?.image_path).toBe('before.jpg');
  isAway = false;
  await eventually(() => {
    expect(pages.at(0)?.image_path).toBe('after.jpg');
  });
  expect(pages.fault).toBeNull();
  pages.close();
});

test('a fault is told; the next call tries again', async () => {
  let isBroken = true;
  const pages = new ImagePages({
    fetch: () =>
      isBroken
        ? Promise.reject(new Error('away'))
        : Promise.resolve({ images: [image(0)], matching: 1, next_offset: null }),
    onChange: () => undefined,
  });
  pages.want(0, 10);
  await eventually(() => {
    expect(pages.fault).toBeInstanceOf(Error);
  });
  isBroken = false;
  await eventually(() => {
    pages.want(0, 10);
    expect(pages.at(0)).toBeDefined();
  });
  expect(pages.fault).toBeNull();
});

test('a job without images that fit is not asked for without end', async () => {
  const { pages, asked } = pagesOf(0);
  pages.want(0, 20);
  await eventually(() => {
    expect(pages.matching).toBe(0);
  });
  expect(asked).toHaveLength(1);
});

test('another question is asked at once; what is in view stays until it is answered, late answers are dropped', async () => {
  let answer = (): void => undefined;
  const late = new Promise<void>((resolve) => (answer = resolve));
  const asked: string[] = [];
  const by = (name: string, wait?: Promise<void>) => async (offset: number, limit: number) => {
    asked.push(`${name} ${offset}`);
    await wait;
    const images = Array.from({ length: limit }, (_, at) => ({
      ...image(offset + at),
      image_path: name,
    }));
    return { images, matching: 1_000, next_offset: offset + limit };
  };
  const pages = new ImagePages({ fetch: by('first'), onChange: () => undefined });
  pages.want(0, 10);
  await eventually(() => {
    expect(pages.at(20)?.image_path).toBe('first');
  });
  pages.refetch(by('late', late));
  expect(pages.at(0)?.image_path).toBe('first');
  // Out of view nothing of an earlier question comes back.
  expect(pages.at(20)).toBeUndefined();
  pages.refetch(by('last'));
  await Promise.resolve();
  answer();
  await eventually(() => {
    expect(pages.at(9)?.image_path).toBe('last');
  });
  expect(Array.from({ length: 10 }, (_, place) => pages.at(place)?.image_path)).not.toContain(
    'late',
  );
  expect(asked).toEqual(['first 0', 'late 0', 'last 0']);
  pages.close();
});
