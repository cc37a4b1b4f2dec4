// Stands in for a worker on a Ray node: dials the service, says who it is, leaves when its stdin ends.
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

if (process.env.STAND_IN_FAULT) {
  console.error(process.env.STAND_IN_FAULT);
  process.exit(3);
}
const folder = process.env.STAND_IN_FOLDER;
if (folder !== undefined && !existsSync(folder)) {
  await sleep(Number(process.env.STAND_IN_FAULT_AFTER_MS ?? 0));
  console.error(`${folder} is not there`);
  process.exit(3);
}
process.stdin.resume();
process.stdin.once('end', () => process.exit(0));
const socket = new WebSocket(process.env.LATTICE_SERVICE_URL);
socket.once('open', () => {
  const hello = { worker: process.env.LATTICE_WORKER_ID, pid: process.pid, env: process.env };
  socket.send(JSON.stringify({ ...hello, nice: getPriority() }));
});
socket.on('message', (text) => process.exit(Number(text)));
socket.once('close', () => process.exit(1));
socket.once('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
process.once('SIGTERM', () => {
  // A worker that drains takes a moment.
  setTimeout(() => process.exit(0), 200);
});
