/** A server that reads each request and answers it at once, in a process of its own: what HTTP takes by itself. */
import { PeerProcess } from '../peers/peer-process.js';

const SCRIPT = `
  require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(202).end('{"job_id":"none"}'));
  }).listen(process.env.PORT, '127.0.0.1');
`;

export async function startBareServer(): Promise<{ url: string } & Disposable> {
  const command = { program: process.execPath, args: () => ['-e', SCRIPT], cwd: '.', env: {} };
  const server = await PeerProcess.start(command, (url) => fetch(url));
  return {
    url: server.url,
    [Symbol.dispose]: () => {
      server.kill();
    },
  };
}
