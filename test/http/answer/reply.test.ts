/** Answers that are made in pieces. */
import { setImmediate } from 'node:timers/promises';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { AppEnv } from '../../../src/http/app-env.js';
import { replyPieces } from '../../../src/http/answer/reply.js';

/** The answer to a request, and what was said to be broken. */
async function answered(pieces: AsyncGenerator<string, void>) {
  const broken: unknown[] = [];
  const app = new Hono<AppEnv>();
  app.get('/', (c) => replyPieces(c, 200, pieces, (error) => broken.push(error)));
  const { body } = await app.request('/');
  if (body === null) throw new Error('The answer has no body.');
  return { reader: body.getReader(), broken };
}

test('a reader that goes away while a piece is made breaks nothing off', async () => {
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  let isEnded = false;
  const { reader, broken } = await answered(
    (async function* () {
      try {
        yield 'one';
        yield 'two';
        await held;
        yield 'three';
      } finally {
        isEnded = true;
      }
    })(),
  );
  await reader.read();
  await reader.read();
  const third = reader.read();
  await setImmediate();
  const cancelled = reader.cancel();
  goOn();
  await cancelled;
  expect(await third).toMatchObject({ done: true });
  expect({ isEnded, broken }).toEqual({ isEnded: true, broken: [] });
});

test('a piece that cannot be made breaks the answer off and is told', async () => {
  const fault = new Error('Disk.');
  const { reader, broken } = await answered(
    (async function* () {
      yield 'one';
      yield 'two';
      await Promise.reject(fault);
    })(),
  );
  await reader.read();
  await reader.read();
  await expect(reader.read()).rejects.toBe(fault);
  expect(broken).toEqual([fault]);
});
