/** Real bursts to a server process that refuses every third request. */
import { expect, test } from 'vitest';
import { aloneBurst, togetherBurst } from '../../../bench/peers/bursts.js';
import { PeerProcess } from '../../../bench/peers/peer-process.js';

const SERVER = `
  let count = 0;
  const asked = [];
  require('node:http').createServer((request, response) => {
    if (request.method === 'GET') return response.end(JSON.stringify(asked));
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const refused = process.env.REFUSES === 'yes' && ++count % 3 === 0;
      if (!refused) asked.push(JSON.parse(body).image_path);
      response.writeHead(refused ? 503 : 200).end('{"detections":[]}');
    });
  }).listen(process.env.PORT);
`;

async function startServer(refuses: 'yes' | 'no') {
  const command = {
    program: process.execPath,
    args: () => ['-e', SERVER],
    cwd: '.',
    env: { REFUSES: refuses },
  };
  const server = await PeerProcess.start(command, (url) => fetch(url));
  await server.pause();
  const answered = async () => {
    server.resume();
    return (await (await fetch(server.url)).json()) as string[];
  };
  return { server, answered };
}

test('at one client each photo has its time, and those before it are not counted', async () => {
  const { server, answered } = await startServer('no');
  try {
    const took = new Map<string, number>();
    await aloneBurst(server, ['a', 'b', 'c'], took);
    expect([...took.keys()]).toEqual(['a', 'b', 'c']);
    for (const ms of took.values()) expect(ms).toBeGreaterThan(0);
    expect(await answered()).toEqual(['a', 'b', 'a', 'b', 'c']);
  } finally {
    server.kill();
  }
});

test('at eight clients every photo is answered once, refused ones after a rest', async () => {
  const { server, answered } = await startServer('yes');
  try {
    const photos = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const { seconds, refused } = await togetherBurst(server, photos);
    expect(seconds).toBeGreaterThan(0);
    expect(refused).toBeGreaterThanOrEqual(15);
    const first = photos.slice(0, 16);
    expect((await answered()).sort()).toEqual([...first, ...photos].sort());
  } finally {
    server.kill();
  }
});
