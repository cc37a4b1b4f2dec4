/**
 * Watches over real folders, with and without notices of the system: every version of a file at rest has one result.
 */
import { appendFileSync, linkSync, mkdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import { until } from '../support/eventually.js';
import { contentOf, WatchedFolder } from './watched-folder.js';

describe.each([
  { how: 'notices', notices: true },
  { how: 'scans', notices: false },
])('with $how', ({ notices }) => {
  let folder: WatchedFolder;
  beforeEach(async () => {
    folder = new WatchedFolder(notices);
    await folder.open();
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  const add = (changes: Parameters<typeof contentOf>[0] = {}) =>
    folder.watches.add('gate', contentOf(changes), null);
  const view = () => folder.watches.get('gate', null);

  test('files that lie there and files that come have one result each', async () => {
    folder.write('in/a.jpg');
    const { progress } = await add();
    expect(progress).toMatchObject({ state: 'active', reason: null, report: { noticed: notices } });
    mkdirSync(folder.at('in/day'));
    folder.write('in/day/b.jpg');
    for (const name of ['.c.jpg', 'd.jpg.part', 'e.tmp']) folder.write(`in/${name}`);
    await folder.expectResults(['in/a.jpg', 'in/day/b.jpg']);
    const { counts } = await view();
    expect(counts).toMatchObject({
      recorded: 2,
      submitted: 2,
      succeeded: 2,
      failed: 0,
      openJobs: 0,
    });
    const { jobs } = await folder.jobs.service.list({ watch: 'gate' }, { limit: 9, cursor: null });
    expect(jobs.every(({ watch }) => watch === 'gate')).toBe(true);
    expect(folder.jobs.events.every((event) => event.watch === 'gate')).toBe(true);
  });

  test('each version that rests has a result; a growing file has none before it rests', async () => {
    await add();
    folder.write('in/a.jpg', 'first');
    await folder.expectResults(['in/a.jpg'], 0);
    for (let part = 0; part < 20; part += 1) {
      appendFileSync(folder.at('in/a.jpg'), 'more');
      await sleep(40);
    }
    await folder.expectResults(['in/a.jpg', 'in/a.jpg']);
    expect(folder.detector.requests).toHaveLength(2);
  });

  test('links to folders and files beneath the roots are followed, others are named', async () => {
    for (const name of ['in/day', 'archive', 'archive/old']) mkdirSync(folder.at(name));
    folder.write('archive/old/a.jpg');
    folder.write('in/day/b.jpg');
    for (const [target, link] of [
      ['day', 'in/latest'],
      [folder.at('archive/old'), 'in/nas'],
      ['../../archive', 'in/day/up'],
      ['..', 'in/circle'],
      ['/proc', 'in/out'],
    ] as const) {
      symlinkSync(target, folder.at(link));
    }
    await add();
    await folder.expectResults(['in/day/b.jpg', 'in/day/up/old/a.jpg'], 0);
    const { progress } = await view();
    expect(progress).toMatchObject({ state: 'active', reason: null });
    expect(progress.report?.skipped).toEqual({
      "link 'in/out' that leads out of the image folders": 1,
    });
    folder.write('archive/old/c.jpg');
    folder.write('archive/d.jpg');
    symlinkSync('../archive/d.jpg', folder.at('in/e.jpg'));
    unlinkSync(folder.at('in/day/up'));
    await until(async () => (await folder.results()).includes('in/e.jpg'), 'the link to a file');
    await until(async () => (await folder.results()).includes('in/nas/c.jpg'), 'the other link');
  });

  test('a path that is a link, also to another folder later', async () => {
    for (const name of ['in/monday', 'in/tuesday']) mkdirSync(folder.at(name));
    folder.write('in/monday/a.jpg');
    symlinkSync('monday', folder.at('in/latest'));
    const { progress } = await add({ paths: ['in/latest'] });
    expect(progress).toMatchObject({ state: 'active', reason: null });
    await folder.expectResults(['in/latest/a.jpg'], 0);
    folder.write('in/tuesday/b.jpg');
    unlinkSync(folder.at('in/latest'));
    symlinkSync('tuesday', folder.at('in/latest'));
    await folder.expectResults(['in/latest/a.jpg', 'in/latest/b.jpg'], 0);
    unlinkSync(folder.at('in/latest'));
    symlinkSync('/proc', folder.at('in/latest'));
    await until(async () => (await view()).progress.state === 'away', 'away');
    expect((await view()).progress.reason).toBe(
      "The link 'in/latest' leads out of the image folders.",
    );
  });

  test('a path that is no folder any more is away, and said', async () => {
    folder.write('in/a.jpg');
    await add();
    await folder.expectResults(['in/a.jpg'], 0);
    folder.remove('in');
    folder.write('in', 'no picture');
    await until(async () => (await view()).progress.state === 'away', 'away');
    expect((await view()).progress.reason).toBe(
      "'in' is a file and no picture: there is no folder of that name.",
    );
    folder.remove('in');
    symlinkSync('in', folder.at('in'));
    await until(
      async () => (await view()).progress.reason === "The link 'in' leads in a circle.",
      'the circle',
    );
    folder.remove('in');
    mkdirSync(folder.at('in'));
    folder.write('in/b.jpg');
    await folder.expectResults(['in/a.jpg', 'in/b.jpg'], 0);
  });

  test('a file that is overwritten all the time is taken now and then, and said', async () => {
    await add();
    let turn = 0;
    const writing = setInterval(() => {
      turn += 1;
      // As cameras do: into the file, or beside it and then in its place; of any length.
      const text = 'x'.repeat(1 + ((turn * 7) % 10));
      if (turn % 2 === 0) folder.write('in/snapshot.jpg', text);
      else {
        folder.write('in/.new', text);
        folder.rename('in/.new', 'in/snapshot.jpg');
      }
    }, 40);
    try {
      await until(async () => (await folder.results()).length >= 2, 'results');
      await until(
        async () => (await view()).progress.reason?.includes('never rests') === true,
        'the remark',
      );
      const { progress } = await view();
      expect(progress.state).toBe('active');
      expect(progress.reason).toBe(
        "'in/snapshot.jpg' never rests: it is overwritten again and again, and taken every 1 s.",
      );
    } finally {
      clearInterval(writing);
    }
    await until(async () => (await view()).progress.reason === null, 'rest');
  });

  test('after a restart nothing is computed again, also where the folder was away', async () => {
    folder.write('in/a.jpg');
    await add();
    await folder.expectResults(['in/a.jpg'], 0);
    folder.rename('in', 'elsewhere');
    await until(async () => (await view()).progress.state === 'away', 'away');
    await folder.reopen();
    await until(async () => (await view()).progress.state === 'away', 'away');
    expect((await view()).progress.reason).toContain("'in'");
    folder.rename('elsewhere', 'in');
    folder.write('in/b.jpg');
    await folder.expectResults(['in/a.jpg', 'in/b.jpg']);
    // An empty mount point in its place.
    folder.rename('in', 'elsewhere');
    mkdirSync(folder.at('in'));
    await sleep(1_200);
    folder.remove('in');
    folder.rename('elsewhere', 'in');
    await folder.expectResults(['in/a.jpg', 'in/b.jpg']);
    expect((await view()).progress.state).toBe('active');
  });

  test('a renamed file is the same version; a copy, a swap and a new file of an old name are not mixed up', async () => {
    await add();
    folder.write('in/a.jpg');
    folder.write('in/b.jpg');
    await folder.expectResults(['in/a.jpg', 'in/b.jpg'], 0);
    folder.rename('in/a.jpg', 'in/x');
    folder.rename('in/b.jpg', 'in/a.jpg');
    folder.rename('in/x', 'in/b.jpg');
    await folder.expectResults(['in/a.jpg', 'in/b.jpg']);
    folder.rename('in/a.jpg', 'in/c.jpg');
    folder.write('in/a.jpg', 'new');
    linkSync(folder.at('in/c.jpg'), folder.at('in/copy.jpg'));
    await folder.expectResults(['in/a.jpg', 'in/a.jpg', 'in/b.jpg', 'in/copy.jpg']);
    renameSync(folder.at('in'), folder.at('old'));
    mkdirSync(folder.at('in'));
    folder.rename('old', 'in/old');
    await folder.expectResults(['in/a.jpg', 'in/a.jpg', 'in/b.jpg', 'in/copy.jpg']);
  });

  test('a file that changes, goes or gets another name before its turn', async () => {
    let read: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (read = resolve));
    folder.detector.before = () => held;
    await add({ batch: { maxImages: 3, maxWaitS: 5 } });
    for (const name of ['changed', 'gone', 'renamed']) folder.write(`in/${name}.jpg`);
    await until(async () => (await view()).counts.openJobs === 1, 'the job');
    folder.write('in/changed.jpg', 'another text');
    folder.remove('in/gone.jpg');
    folder.rename('in/renamed.jpg', 'in/new name.jpg');
    await sleep(1_000);
    expect((await view()).counts).toMatchObject({ submitted: 3, inJob: 3 });
    await folder.watches.change('gate', null, () => Promise.resolve(contentOf()));
    read();
    await folder.expectResults(['in/changed.jpg', 'in/new name.jpg']);
    folder.write('in/gone.jpg', 'back');
    await folder.expectResults(['in/changed.jpg', 'in/gone.jpg', 'in/new name.jpg']);
  });

  test('a file that takes the place of one before its turn has its own result only', async () => {
    await add();
    folder.write('in/done.jpg');
    await folder.expectResults(['in/done.jpg'], 0);
    let read: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (read = resolve));
    folder.detector.before = () => held;
    folder.write('in/next.jpg');
    await until(async () => (await view()).counts.openJobs === 1, 'the job');
    folder.rename('in/done.jpg', 'in/next.jpg');
    read();
    await folder.expectResults(['in/done.jpg']);
    expect((await view()).counts).toMatchObject({ recorded: 1, succeeded: 1, failed: 0 });
  });

  test('an image that was not read is submitted again though its file has not changed', async () => {
    let isAway = true;
    folder.detector.before = () =>
      isAway
        ? Promise.reject(new LatticeError('image_not_found', 'It is not there.'))
        : Promise.resolve();
    await add();
    folder.write('in/a.jpg');
    const hasFailed = () => folder.jobs.events.some(({ event }) => event === 'job_failed');
    await until(hasFailed, 'an image that was not found');
    isAway = false;
    await folder.expectResults(['in/a.jpg']);
    expect((await view()).counts).toMatchObject({ recorded: 1, succeeded: 1, failed: 0 });
  });

  test('a list leaves out a watch that is deleted meanwhile, and a question for it names it', async () => {
    await add();
    const removed = folder.watches.remove('gate', null);
    const listed = folder.watches.list(null);
    const asked = expect(view()).rejects.toThrow("There is no watch 'gate'.");
    expect(await listed).toEqual([]);
    await Promise.all([removed, asked]);
  });

  test('an image that cannot be read for long is not submitted with every scan', async () => {
    folder.detector.before = () =>
      Promise.reject(new LatticeError('image_not_found', 'It is not there.'));
    await add();
    folder.write('in/a.jpg');
    const failed = () => folder.jobs.events.filter(({ event }) => event === 'job_failed').length;
    await until(() => failed() === 2, 'the first submission and the one after the next scan');
    const scannedAt = async () => (await view()).progress.scannedAt ?? 0;
    const before = await scannedAt();
    await until(async () => (await scannedAt()) > before + 1, 'scans of a second');
    expect(failed()).toBe(2);
  });

  test('two names of one new file have a result each, and no error', async () => {
    folder.write('in/a.jpg');
    linkSync(folder.at('in/a.jpg'), folder.at('in/b.jpg'));
    await add();
    await folder.expectResults(['in/a.jpg', 'in/b.jpg'], 0);
    expect((await view()).counts).toMatchObject({ submitted: 2, succeeded: 2, failed: 0 });
  });

  test('what lies there is left where the watch is told to, also in a path that is added', async () => {
    mkdirSync(folder.at('more'));
    for (const name of ['in/old.jpg', 'in/other.jpg', 'more/old.jpg']) folder.write(name);
    const { progress, counts } = await add({ existing: 'leave' });
    expect(progress.state).toBe('active');
    expect(counts.recorded).toBe(2);
    folder.write('in/new.jpg');
    folder.write('in/old.jpg', 'changed');
    await folder.expectResults(['in/new.jpg', 'in/old.jpg']);
    const paths = ['in', 'more'];
    await folder.watches.change('gate', null, () =>
      Promise.resolve(contentOf({ existing: 'leave', paths })),
    );
    folder.write('more/new.jpg');
    await folder.expectResults(['in/new.jpg', 'in/old.jpg', 'more/new.jpg']);
  });

  test('pause, resume and removal', async () => {
    await add({ paused: true });
    folder.write('in/a.jpg');
    await folder.expectResults([]);
    expect((await view()).progress.state).toBe('paused');
    await folder.watches.change('gate', null, () => Promise.resolve(contentOf()));
    await folder.expectResults(['in/a.jpg'], 0);
    await folder.watches.remove('gate', null);
    folder.write('in/b.jpg');
    await folder.expectResults(['in/a.jpg']);
    await expect(view()).rejects.toMatchObject({ code: 'watch_not_found' });
  });

  test('globs, empty files and files without permission', async () => {
    mkdirSync(folder.at('in/north'));
    await add({ paths: ['in/*/g*.jpg'] });
    folder.write('in/north/gate.jpg');
    folder.write('in/north/other.jpg');
    folder.write('in/north/g-empty.jpg', '');
    await folder.expectResults(['in/north/gate.jpg']);
    expect((await view()).progress.report?.skipped).toEqual({ empty: 1 });
    folder.write('in/north/g-empty.jpg', 'no more');
    await folder.expectResults(['in/north/g-empty.jpg', 'in/north/gate.jpg']);
  });

  test('a job has at most so many images, and few jobs are open', async () => {
    let read: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (read = resolve));
    folder.detector.before = () => held;
    for (let number = 0; number < 30; number += 1) folder.write(`in/${number}.jpg`);
    await add({ batch: { maxImages: 5, maxWaitS: 0 } });
    await until(async () => (await view()).counts.openJobs === 4, 'jobs');
    await sleep(800);
    const { counts, progress } = await view();
    expect(counts).toMatchObject({ openJobs: 4, inJob: 20 });
    expect(progress.counts).toMatchObject({ new: 10 });
    read();
    await folder.expectResults(Array.from({ length: 30 }, (_, number) => `in/${number}.jpg`));
    const { jobs } = await folder.jobs.service.list({}, { limit: 100, cursor: null });
    expect(Math.max(...jobs.map(({ imageCount }) => imageCount))).toBe(5);
  });

  test('images of a cancelled job are not submitted again', async () => {
    folder.detector.before = () => new Promise(() => undefined);
    folder.write('in/a.jpg');
    await add();
    await until(async () => (await view()).counts.openJobs === 1, 'the job');
    const { jobs } = await folder.jobs.service.list({}, { limit: 1, cursor: null });
    await folder.jobs.service.cancel(jobs[0]?.jobId ?? '', null);
    folder.detector.before = () => Promise.resolve();
    await folder.expectResults([]);
    expect((await view()).counts).toMatchObject({ failed: 1, inJob: 0, openJobs: 0 });
    folder.write('in/a.jpg', 'changed');
    await folder.expectResults(['in/a.jpg']);
  });
});

test('each key has its own watches', async () => {
  await using folder = new WatchedFolder(true);
  await folder.open();
  await folder.watches.add('gate', contentOf(), 'one');
  await folder.watches.add('gate', contentOf(), 'two');
  await expect(folder.watches.add('gate', contentOf(), 'two')).rejects.toMatchObject({
    code: 'watch_exists',
  });
  expect(await folder.watches.list(null)).toEqual([]);
  expect((await folder.watches.list('two')).map(({ watch }) => watch.owner)).toEqual(['two']);
  await folder.watches.remove('gate', 'one');
  await expect(folder.watches.get('gate', 'one')).rejects.toMatchObject({
    code: 'watch_not_found',
  });
  await folder.watches.get('gate', 'two');
});
