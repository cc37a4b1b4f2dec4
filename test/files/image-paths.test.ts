import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkImagePath, expandImagePaths } from '../../src/files/image-paths.js';

let folder: string;
let root: string;
let second: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-image-paths-'));
  root = join(folder, 'one');
  second = join(folder, 'two');
  for (const name of ['one/day/b', 'one/day/a', 'one/Day', 'one/empty', 'two/night', 'beside']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  for (const name of ['phone', 'only', 'nas/@eaDir/a.jpg', 'nas/#recycle', 'nas/$RECYCLE.BIN']) {
    mkdirSync(join(folder, 'one', name), { recursive: true });
  }
  for (const name of ['lost+found', '.thumbnails']) mkdirSync(join(folder, 'one/nas', name));
  for (const file of [
    'one/day/10.jpg',
    'one/day/2.jpg',
    'one/day/B.PNG',
    'one/day/notes.txt',
    'one/day/.hidden.jpg',
    'one/day/a/x.webp',
    'one/day/b/y.jpeg',
    'one/Day/other.jpg',
    'one/odd[1].jpg',
    'one/(a+)+.jpg',
    'one/plain',
    'one/phone/a.HEIC',
    'one/phone/b.heic',
    'one/phone/c.gif',
    'one/phone/d.jfif',
    'one/phone/e.JPE',
    'one/phone/f.mpo',
    'one/phone/g.bmp',
    'one/only/a.heic',
    'one/nas/@eaDir/a.jpg/SYNOPHOTO.jpg',
    'one/nas/#recycle/gone.jpg',
    'one/nas/$RECYCLE.BIN/gone.jpg',
    'one/nas/lost+found/gone.jpg',
    'one/nas/.thumbnails/small.jpg',
    'one/nas/photo.jpg',
    'two/night/n.tif',
    'beside/secret.jpg',
  ]) {
    writeFileSync(join(folder, file), '');
  }
  symlinkSync(join(folder, 'beside'), join(root, 'escape'));
  symlinkSync('day', join(root, 'alias'));
  symlinkSync('..', join(root, 'day', 'loop'));
  mkdirSync(join(root, 'out'));
  symlinkSync('../../beside', join(root, 'out', 'beside'));
  mkdirSync(join(root, 'links/day'), { recursive: true });
  writeFileSync(join(root, 'links/day/z.jpg'), '');
  for (const [target, name] of [
    ['day', 'a-latest'],
    ['day', 'b-latest'],
    ['.', 'self'],
    ['circle', 'circle'],
    [join(root, 'links/day'), 'by-path'],
    [join(second, 'night'), 'other-root'],
    ['../../two', 'other-root-too'],
    ['../../beside', 'out'],
    ['day/z.jpg', 'a.jpg'],
    ['../day/2.jpg', 'elsewhere.jpg'],
    ['../../beside/secret.jpg', 'secret.jpg'],
    ['gone', 'dangling'],
  ] as const) {
    symlinkSync(target, join(root, 'links', name));
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const expand = async (paths: string[], cap = 100): Promise<string[]> =>
  (await expandImagePaths(paths, [root, second], cap)).images;

const DAY = ['day/10.jpg', 'day/2.jpg', 'day/B.PNG', 'day/a/x.webp', 'day/b/y.jpeg'];

describe('entries', () => {
  test('plain paths are passed on in order, missing and repeated ones too', async () => {
    const paths = ['z.jpg', 'a.PNG', 'z.jpg', `${root}/day/2.jpg`, 'no-extension'];
    expect(await expand(paths)).toEqual(paths);
  });

  test('a file without an image name is passed on', async () => {
    expect(await expand(['plain', 'day/notes.txt'])).toEqual(['plain', 'day/notes.txt']);
  });

  test.each([['day'], ['day/'], ['./day'], ['day/.']])(
    'folder %s gives its images in order of name',
    async (path) => {
      expect(await expand([path])).toEqual(DAY);
    },
  );

  test('an absolute folder is listed relative to its root', async () => {
    expect(await expand([join(root, 'day/a')])).toEqual(['day/a/x.webp']);
  });

  test('a folder of the second root is found', async () => {
    expect(await expand(['night'])).toEqual(['night/n.tif']);
  });

  test.each([
    ['day/*.jpg', ['day/10.jpg', 'day/2.jpg']],
    ['day/?.jpg', ['day/2.jpg']],
    ['day/**/*.{webp,jpeg}', ['day/a/x.webp', 'day/b/y.jpeg']],
    ['day/[0-9]*.jpg', ['day/10.jpg', 'day/2.jpg']],
    ['day/*', ['day/10.jpg', 'day/2.jpg', 'day/B.PNG']],
    ['night/*', ['night/n.tif']],
  ])('glob %s gives the images that match', async (pattern, images) => {
    expect(await expand([pattern])).toEqual(images);
    expect(await expand([join(pattern.startsWith('n') ? second : root, pattern)])).toEqual(images);
  });

  test('folders, globs and files keep their order', async () => {
    expect(await expand(['b.jpg', 'day/a', 'night/*', 'a.jpg'])).toEqual([
      'b.jpg',
      'day/a/x.webp',
      'night/n.tif',
      'a.jpg',
    ]);
  });

  test.each([
    [['odd[1].jpg']],
    [['gone[1].jpg', 'day/{a}.png', 'gone/[x]/{y.jpg']],
    [Array.from({ length: 150 }, (_, index) => `gone [${index}].jpg`)],
  ])('brackets that match nothing are part of a name: %j', async (paths) => {
    expect(await expand(paths, 200)).toEqual(paths);
  });

  test('what has a name in the format of another picture is counted', async () => {
    const leftOutOf = (path: string) => expandImagePaths([path, path], [root, second], 100);
    const images = ['phone/d.jfif', 'phone/e.JPE', 'phone/f.mpo', 'phone/g.bmp'];
    const twice = { images: [...images, ...images], leftOut: { '.heic': 4, '.gif': 2 } };
    expect(await leftOutOf('phone')).toEqual(twice);
    expect(await leftOutOf('phone/*')).toEqual(twice);
    expect(await leftOutOf('phone/*.{JPE,heic}')).toEqual({
      images: ['phone/e.JPE', 'phone/e.JPE'],
      leftOut: { '.heic': 2 },
    });
  });

  test.each([
    ['nas', ['nas/photo.jpg']],
    ['nas/**', ['nas/photo.jpg']],
    ['nas/*/*.jpg', []],
    ['nas/@eaDir', ['nas/@eaDir/a.jpg/SYNOPHOTO.jpg']],
    ['nas/**/@eaDir/**', ['nas/@eaDir/a.jpg/SYNOPHOTO.jpg']],
    ['nas/#recycle/*.jpg', ['nas/#recycle/gone.jpg']],
    ['nas/$RECYCLE.BIN', ['nas/$RECYCLE.BIN/gone.jpg']],
    ['nas/lost+found/*', ['nas/lost+found/gone.jpg']],
    ['nas/.thumbnails', ['nas/.thumbnails/small.jpg']],
  ])(
    'thumbnails and deleted files of a volume are no photos unless named: %s',
    async (path, images) => {
      expect(await expand([path]).catch(() => [])).toEqual(images);
    },
  );
});

test.each([
  ['NFC', 'NFD'],
  ['NFD', 'NFC'],
])('a folder and a glob in %s are found in %s', async (asked, onDisk) => {
  const name = 'Zürich é';
  mkdirSync(join(root, name.normalize(onDisk)));
  writeFileSync(join(root, name.normalize(onDisk), 'ä.jpg'.normalize(onDisk)), '');
  const found = [`${name}/ä.jpg`.normalize(onDisk)];
  for (const path of [name, `${name}/`, `${name}/*.jpg`, `${name}/{ä,b}.jpg`]) {
    expect(await expand([path.normalize(asked)])).toEqual(found);
  }
  rmSync(join(root, name.normalize(onDisk)), { recursive: true });
});

describe('links beneath the roots', () => {
  const linked = (folder: string) => DAY.map((path) => path.replace('day', folder));

  test('a folder, or a part of a glob, may be one', async () => {
    expect(await expand(['alias'])).toEqual(linked('alias'));
    expect(await expand(['alias/*.jpg'])).toEqual(['alias/10.jpg', 'alias/2.jpg']);
    expect(await expand(['al*/[ab]/*'])).toEqual(['alias/a/x.webp', 'alias/b/y.jpeg']);
    expect(await expand(['links/other-root/*'])).toEqual(['links/other-root/n.tif']);
    expect(await expand([join(root, 'links/by-path')])).toEqual(['links/by-path/z.jpg']);
  });

  test('each real folder and file is listed once, under its own name first', async () => {
    expect(await expandImagePaths(['links'], [root, second], 100)).toEqual({
      images: ['links/day/z.jpg', 'links/elsewhere.jpg', 'links/other-root/n.tif'],
      leftOut: {
        "link 'links/out' that leads out of the image folders": 1,
        "link 'links/circle' that leads in a circle": 1,
        "link 'links/secret.jpg' that leads out of the image folders": 1,
      },
    });
    expect(await expand(['links/{a,b}-latest/*'])).toEqual(['links/a-latest/z.jpg']);
    expect(await expand(['links/*.jpg'])).toEqual(['links/a.jpg', 'links/elsewhere.jpg']);
  });
});

describe('refused', () => {
  test.each([['empty'], ['day/*.bmp'], ['nothing/*.jpg'], ['!day/*.jpg']])(
    '%s matches no image',
    async (path) => {
      await expect(expand(['a.jpg', path])).rejects.toMatchObject({
        code: 'validation_failed',
        errors: [{ pointer: '#/image_paths/1' }],
      });
    },
  );

  test.each([
    ['gate nroth/', "There is no folder 'gate nroth/' beneath the image folders."],
    ['Night/', "There is no folder 'Night/' beneath the image folders. Did you mean 'night'?"],
    [
      'day/2.jpg/',
      "There is no folder 'day/2.jpg/' beneath the image folders. Did you mean 'day/2.jpg'?",
    ],
    ['empty', "The folder 'empty' has no images."],
    ['only', "The folder 'only' has no images; left out: 1 .heic."],
    [
      'out',
      "The folder 'out' has no images; left out: 1 link 'out/beside' that leads out of the image folders.",
    ],
    ['phone/*.heic', "'phone/*.heic' matches no image; left out: 1 .heic."],
    ['phone/*.HEIC', "'phone/*.HEIC' matches no image; left out: 1 .heic."],
    ['night/[a-f]/*.png', "'night/[a-f]/*.png' matches no image."],
  ])('%s: %s', async (path, detail) => {
    await expect(expand(['a.jpg', path])).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ detail, pointer: '#/image_paths/1' }],
    });
  });

  test.each([
    ['../beside'],
    ['../beside/*.jpg'],
    ['day/../../beside'],
    ['/etc'],
    ['/etc/*.jpg'],
    ['a\0/*.jpg'],
    ['file:///srv/a.jpg'],
    ['https://example.org/a.jpg'],
    ['S3://bucket/a.jpg'],
    ['data:image/jpeg;base64,/9j/4AAQ'],
  ])('%j is not allowed', async (path) => {
    await expect(expand([path])).rejects.toMatchObject({ code: 'path_not_allowed' });
  });

  test.each([
    ['escape/*.jpg', "The link 'escape' leads out of the image folders."],
    ['escape', "The link 'escape' leads out of the image folders."],
    ['escape/', "The link 'escape' leads out of the image folders."],
    ['links/out/more/*', "The link 'links/out' leads out of the image folders."],
    ['links/circle', "The link 'links/circle' leads in a circle."],
  ])('%s: %s', async (path, detail) => {
    await expect(expand(['a.jpg', path])).rejects.toMatchObject({
      code: 'path_not_allowed',
      message: detail,
      errors: [{ detail, pointer: '#/image_paths/1' }],
    });
  });

  test('the cap counts images after expansion', async () => {
    expect(await expand(['day'], DAY.length)).toEqual(DAY);
    await expect(expand(['day'], DAY.length - 1)).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '#/image_paths' }],
    });
  });

  test('100 listings are accepted, one more is not', async () => {
    const many = (count: number) => Array<string>(count).fill('day/a');
    expect(await expand(many(100), 1_000)).toHaveLength(100);
    await expect(expand(many(101), 1_000)).rejects.toMatchObject({ code: 'validation_failed' });
  });

  test.each([['*a*a*a*a.jpg'], [`${'*/'.repeat(9)}x.jpg`]])(
    'glob %s has too many wildcards',
    async (pattern) => {
      await expect(expand([pattern])).rejects.toThrow(/wildcards/);
    },
  );

  test('operators of regular expressions are literal characters', async () => {
    writeFileSync(join(root, `${'a'.repeat(60)}b.jpg`), '');
    await expect(expand(['(a+)+*.png'])).rejects.toMatchObject({ code: 'validation_failed' });
    expect(await expand(['(a+)+*'])).toEqual(['(a+)+.jpg']);
    rmSync(join(root, `${'a'.repeat(60)}b.jpg`));
  });
});

test('property: no entry gives a path outside the roots', async () => {
  const piece = fc.constantFrom(
    '..',
    '.',
    'day',
    'escape',
    'a',
    '*',
    '**',
    '{..,day}',
    '[.][.]',
    '',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 5 }), async (pieces) => {
      const path = pieces.join('/');
      fc.pre(path !== '');
      const listed = await expand([path]).catch(() => []);
      for (const image of listed) {
        if (image === path) continue;
        expect(image).not.toMatch(/secret|\.\.|^\//);
      }
    }),
    { numRuns: 150 },
  );
});

test('10,000 plain paths need no file access', async () => {
  const paths = Array.from({ length: 10_000 }, (_, index) => `camera/${index}.jpg`);
  expect(await expand(paths, 10_000)).toHaveLength(10_000);
});

test('a path beside a root with the same beginning is outside', () => {
  expect(() => {
    checkImagePath('/data/images-old/a.jpg', ['/data/images'], '#/image_path');
  }).toThrow(/beneath/);
  checkImagePath('/data/images/a.jpg', ['/data/images'], '#/image_path');
  checkImagePath('/data/images/a.jpg', ['/data/images/'], '#/image_path');
  checkImagePath('a..b/..c/d..', [], '#/image_path');
});
