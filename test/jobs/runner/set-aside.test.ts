/** How long images wait for their volume: from its loss, at each loss. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SetAside } from '../../../src/jobs/runner/set-aside.js';

const image = (index: number, folder: string) => ({
  index,
  path: `${folder}/${index}.jpg`,
  deaths: 0,
});

test('the patience counts anew when the volume was back and is lost again', async () => {
  const aside = new SetAside({ pauseMs: 10, patienceMs: 50 }, () => undefined);
  expect(aside.take(image(0, 'lost'))).toBe(true);
  await sleep(60);
  expect(aside.take(image(0, 'lost'))).toBe(false);
  // Another folder says nothing about this volume.
  aside.done(image(1, 'elsewhere'));
  expect(aside.take(image(2, 'lost'))).toBe(false);
  aside.done(image(3, 'lost'));
  expect(aside.take(image(4, 'lost'))).toBe(true);
  expect(aside.isNew).toBe(false);
  aside.end();
});
