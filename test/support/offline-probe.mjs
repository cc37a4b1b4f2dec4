/** Run in a network namespace of its own: starts the service, uses it and prints what it saw as a line of JSON. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';

const dataDir = mkdtempSync(join(tmpdir(), 'lattice-offline-'));
const args = ['dist/cli/lattice.js', 'serve', '--port', '0', '--data-dir', dataDir];
const service = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });

try {
  const url = await listening();
  const detection = await (
    await fetch(`${url}/v1/inference/detect`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"image_path":"street.jpg"}',
    })
  ).json();
  const page = await (await fetch(`${url}/docs`)).text();
  const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
  const files = {};
  for (const path of [...named, '/openapi.json']) {
    files[path] = (await fetch(new URL(path, url))).status;
  }
  const interfaces = Object.keys(networkInterfaces());
  const outside = await reach('192.0.2.1', 80);
  console.log(JSON.stringify({ interfaces, outside, detection, files }));
} finally {
  service.kill('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
}

function listening() {
  return new Promise((resolve, reject) => {
    let output = '';
    service.stderr.on('data', (chunk) => {
      output += chunk;
      const url = /listening on (http:\/\/\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    service.on('exit', (code) => reject(new Error(`Service ended with ${code}: ${output}`)));
  });
}

/** 'connected', or the code of the error. */
function reach(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    socket.on('connect', () => resolve('connected'));
    socket.on('timeout', () => resolve('timeout'));
    socket.on('error', (error) => resolve(error.code));
    socket.on('close', () => socket.destroy());
  });
}
