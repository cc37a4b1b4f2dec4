import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpClient } from '../../../bench/load/http-client.js';
import { agreement, boxesOf, Refused } from '../../../bench/peers/boxes.js';

type Box = [number, number, number, number];
const BOX: Box = [0, 0, 100, 100];
const car = (confidence: number, box: Box = BOX) => ({ class: 'car', confidence, box });
const onPhoto = (...found: ReturnType<typeof car>[]) => new Map([['p', found]]);

describe('agreement of two servers', () => {
  it('is full for scores that differ a little, and none for scores that differ much', () => {
    const ours = onPhoto(car(0.8));
    expect(agreement(ours, onPhoto(car(0.76)))).toMatchObject({ recall: 1, precision: 1 });
    expect(agreement(ours, onPhoto(car(0.74)))).toMatchObject({ recall: 0, precision: 0 });
  });

  it('is none for boxes that overlap too little', () => {
    const shifted = car(0.8, [6, 0, 106, 100]);
    expect(agreement(onPhoto(car(0.8)), onPhoto(shifted))).toMatchObject({ recall: 0 });
  });

  it('counts photos without an answer as without boxes', () => {
    expect(agreement(onPhoto(car(0.8)), new Map())).toMatchObject({ recall: 0, precision: 1 });
  });
});

describe('boxes of a server', () => {
  let server: Server;
  let answer: { status: number; body: unknown };
  let asked: unknown[];
  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        asked.push(JSON.parse(body));
        response.writeHead(answer.status).end(JSON.stringify(answer.body));
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  afterEach(() => server.close());
  const client = () =>
    new HttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 1);

  it('have the model’s class names, whether it answers with names or numbers', async () => {
    const detections = [car(0.9), { ...car(0.8), class: 1 }];
    answer = { status: 200, body: { detections } };
    using sender = client();
    const boxes = await boxesOf(sender, ['p'], ['bus', 'truck']);
    expect(boxes.get('p')).toEqual([car(0.9), { ...car(0.8), class: 'truck' }]);
    expect(asked).toEqual([{ image_path: 'p', confidence_threshold: 0.25, classes: ['*'] }]);
  });

  it('are not taken from an error', async () => {
    answer = { status: 422, body: { code: 'invalid_image' } };
    using sender = client();
    await expect(boxesOf(sender, ['p'], [])).rejects.toThrow('p was answered 422: {"code"');
    answer = { status: 503, body: { code: 'overloaded' } };
    await expect(boxesOf(sender, ['p'], [])).rejects.toThrow(Refused);
  });
});
