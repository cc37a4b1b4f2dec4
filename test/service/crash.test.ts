/** Kill -9 at random moments under load of submits: nothing acknowledged is lost, one terminal event each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FEW_THREADS, jobsEnded } from '../support/service-client.js';
import { startService } from '../support/service-process.js';
import { eventual, until } from '../support/eventually.js';

const KILLS = 12;
const CLIENTS = 8;

interface StreamMessage {
  event: string;
  job_id?: string;
  seq?: number;
}

test(`${KILLS} kills lose no acknowledged job and end each job once`, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lattice-crash-'));
  const acknowledged = new Set<string>();
  try {
    for (let round = 0; round < KILLS; round += 1) {
      await using service = await startService({ dataDir, env: FEW_THREADS });
      const stop = new AbortController();
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        submitUntilDead(service.url, client, acknowledged, stop.signal),
      );
      const before = acknowledged.size;
      await eventual(() => acknowledged.size).toBeGreaterThan(before);
      await sleep(Math.random() * 450);
      await service.kill('SIGKILL');
      stop.abort();
      await Promise.all(clients);
    }
    await using service = await startService({ dataDir, env: FEW_THREADS });
    await jobsEnded(service.url);
    const events = await history(service.url);

    expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS);
    const terminal = new Map<string, number>();
    let previous = 0;
    for (const event of events) {
      expect(event.seq).toBe(previous + 1);
      previous = event.seq ?? 0;
      if (event.event === 'job_completed' || event.event === 'job_failed') {
        const id = event.job_id ?? '';
        terminal.set(id, (terminal.get(id) ?? 0) + 1);
      }
    }
    expect([...terminal.values()].every((times) => times === 1)).toBe(true);
    const lost = [...acknowledged].filter((id) => !terminal.has(id));
    expect(lost).toEqual([]);
    for (const id of [...acknowledged].slice(0, 50)) {
      const result = await fetch(`${service.url}/v1/jobs/${id}/result`);
      expect(await result.json()).toMatchObject({ job_id: id, status: 'completed' });
    }
    console.log(`${KILLS} kills, ${acknowledged.size} acknowledged jobs, 0 lost`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

async function submitUntilDead(
  url: string,
  client: number,
  acknowledged: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await fetch(`${url}/v1/jobs/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          job_type: 'batch_detect',
          image_paths: Array.from({ length: 1 + (client % 3) }, () => 'shapes.png'),
          priority: client,
        }),
        signal,
      });
      if (response.status === 202) {
        acknowledged.add(((await response.json()) as { job_id: string }).job_id);
      } else {
        await response.arrayBuffer();
      }
    } catch {
      return; // the kill: this answer is unknown, so nothing is claimed about it
    }
    await sleep(5);
  }
}

/** Every stored event, replayed over the socket in pages, up to the newest when it was asked for. */
async function history(url: string): Promise<StreamMessage[]> {
  const events: StreamMessage[] = [];
  let newest = Infinity;
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/stream`);
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as StreamMessage;
    if (message.event === 'subscribed') newest = message.seq ?? 0;
    else if (message.job_id !== undefined) events.push(message);
  });
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(
    JSON.stringify({
      action: 'subscribe',
      after_seq: 0,
      events: ['job_submitted', 'job_started', 'job_completed', 'job_failed'],
    }),
  );
  await until(() => (events.at(-1)?.seq ?? 0) >= newest, `${newest} events`);
  socket.close();
  return events;
}
