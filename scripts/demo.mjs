// Shows the whole service on the bundled picture: a sync detection, a job watched over the WebSocket,
// a webhook delivery, the boxes as a table and the picture with its boxes drawn. Exits 0 when all of it worked.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { PATIENCE_MS, startService } from './demo-service.mjs';
import { ROOT } from './setup.mjs';

const PICTURE = 'street.jpg';
const dataDir = mkdtempSync(join(tmpdir(), 'lattice-demo-'));
let service = null;
const giveUp = setTimeout(() => {
  console.error(`The demo did not finish within ${PATIENCE_MS / 1000} s.`);
  service?.kill();
  process.exit(1);
}, PATIENCE_MS);

try {
  service = await startService({
    args: ['--port', '0'],
    env: {
      LATTICE_DATA_DIR: dataDir,
      LATTICE_IMAGE_ROOTS: join(ROOT, 'models/demo'),
      LATTICE_LOG_LEVEL: process.env.LATTICE_LOG_LEVEL ?? 'warn',
    },
  });
  console.log(`Service: ${service.url} (docs at ${service.url}/docs)\n`);
  await detectNow();
  await runJob();
  console.log('\nDemo finished: all of it worked.');
} catch (error) {
  console.error(`\nDemo failed: ${error instanceof Error ? error.message : String(error)}`);
  if (service !== null) console.error(service.output);
  process.exitCode = 1;
} finally {
  clearTimeout(giveUp);
  await service?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function detectNow() {
  const answer = await service.ask('/v1/inference/detect', { image_path: PICTURE, annotate: true });
  console.log(
    `1. POST /v1/inference/detect  ${PICTURE}: ${answer.processing_time_ms.toFixed(1)} ms`,
  );
  printTable(answer.detections);
  const drawn = await fetch(new URL(answer.annotated_url, service.url));
  if (!drawn.ok) throw new Error(`annotated picture: HTTP ${drawn.status}`);
  const file = join(ROOT, 'data', 'demo-boxes.jpg');
  mkdirSync(join(ROOT, 'data'), { recursive: true });
  writeFileSync(file, Buffer.from(await drawn.arrayBuffer()));
  console.log(`   picture with boxes: ${file}`);
}

async function runJob() {
  const receiver = createServer();
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const delivered = once(receiver, 'request').then(async ([request, response]) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.writeHead(204).end();
    return JSON.parse(body);
  });
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/stream`);
  await once(socket, 'open');
  console.log('\n2. POST /v1/jobs/submit, watched over /v1/stream, with a webhook');
  const ended = new Promise((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      console.log(`   event   ${message.event}  ${message.job_id}  ${message.status}`);
      if (message.event === 'job_completed' || message.event === 'job_failed') resolve(message);
    });
  });
  const accepted = await service.ask('/v1/jobs/submit', {
    job_type: 'detect_vehicles',
    image_paths: [PICTURE],
    callback_url: `http://127.0.0.1:${receiver.address().port}/hook`,
    metadata: { from: 'demo' },
  });
  await ended;
  const result = await service.ask(`/v1/jobs/${accepted.job_id}/result`);
  console.log(`   result  ${result.status}: ${result.result.total_count} vehicles`);
  const hook = await delivered;
  console.log(`   webhook ${hook.type} with ${hook.data.result.total_count} vehicles`);
  socket.close();
  receiver.close();
  if (result.status !== 'completed' || hook.data.job_id !== accepted.job_id) {
    throw new Error('the job did not complete');
  }
}

function printTable(detections) {
  console.table(
    detections.map(({ class: name, confidence, box }) => ({
      class: name,
      confidence: confidence.toFixed(3),
      box: box.map((side) => side.toFixed(1)).join(', '),
    })),
  );
}
