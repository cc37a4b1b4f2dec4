/** Clients, a subscriber and receivers of a chaos run. They write down what they did and saw. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobEventName } from '../../src/api/events.js';
import { ServiceError, type LatticeClient } from '../../src/client/lattice-client.js';
import { startReceiver, type Receiver } from '../../test/webhooks/receiver.js';
import type { EndOfJob, History, Operation, StreamEvent } from './history.js';

const CLIENTS = 4;
const MOST_OPEN = 40;

/** Repeats the call while the service is away or says that it cannot do it now; null after `forMs`. */
export async function insist<T>(call: () => Promise<T>, forMs: number): Promise<T | null> {
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ServiceError) || !error.isPassing || error.status === 500) throw error;
      await sleep(100);
    }
  }
  return null;
}

/** Null for a job that is not there or does not end in time. */
export async function endOf(
  service: LatticeClient,
  id: string,
  forMs: number,
): Promise<EndOfJob | null> {
  const ended = await insist(async () => {
    await service.waitFor(id, { deadlineMs: forMs });
    return service.result(id);
  }, forMs).catch(() => null);
  if (ended === null) return null;
  const images = ended.result !== null && 'images' in ended.result ? ended.result.images : [];
  const texts = images.map(
    (image) =>
      `${image.image_path} ${'error' in image ? image.error.code : JSON.stringify(image.detections)}`,
  );
  return { status: ended.status, images: texts };
}

/** Submits and cancels until `isOver`, and repeats what had no answer under the same key. */
export async function load(
  service: LatticeClient,
  names: readonly string[],
  receivers: ReadonlyMap<string, Receiver>,
  history: History,
  random: () => number,
  isOver: () => boolean,
): Promise<void> {
  let open = 0;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const submit = async (key: string) => {
    const paths = Array.from({ length: 2 + Math.floor(10 * random()) }, () => pick(names));
    // One that is right, so that no job fails as a whole.
    paths[0] = names[0]!;
    const receiver = random() < 0.5 ? pick([...receivers.keys()]) : null;
    const cancelled = random() < 0.1;
    const operation: Operation = { paths, receiver, jobId: null, cancelled };
    history.operations.push(operation);
    const hook = receiver === null ? {} : { callback_url: receivers.get(receiver)!.url };
    const job = { job_type: 'batch_detect' as const, image_paths: paths, ...hook };
    const accepted = await insist(() => service.submit(job, { idempotencyKey: key }), 60_000);
    if (accepted === null) return;
    operation.jobId = accepted.job_id;
    if (cancelled) {
      await insist(() => service.cancel(accepted.job_id), 60_000).catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== 'job_already_finished') throw error;
      });
    }
    open += 1;
    void endOf(service, accepted.job_id, 600_000).finally(() => (open -= 1));
  };
  const client = async (number: number) => {
    for (let turn = 0; !isOver(); turn += 1) {
      await sleep(20 + 150 * random());
      if (open >= MOST_OPEN) continue;
      await submit(`${number}-${turn}`).catch((error: unknown) => {
        history.unexpected.push(`submission ${number}-${turn}: ${String(error)}`);
      });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
}

/** Follows the stored events over all restarts, until the one of this number or the signal. */
export async function follow(
  service: LatticeClient,
  into: StreamEvent[],
  signal: AbortSignal,
  last = Infinity,
): Promise<void> {
  const events: JobEventName[] = ['job_submitted', 'job_started', 'job_completed', 'job_failed'];
  const options = { after_seq: 0, events, signal, keepTrying: true, longestPauseMs: 500 };
  try {
    for await (const event of service.events(options)) {
      if (event.event === 'gap') throw new Error('Events are gone.');
      into.push(event);
      if (event.seq >= last) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

export interface Receivers {
  byName: ReadonlyMap<string, Receiver>;
  /** Each answers 204 from now on, also what it has kept waiting. */
  heal(): void;
}

/** They hang, redirect and fail at times, and write down what they got. */
export async function startReceivers(history: History, random: () => number): Promise<Receivers> {
  const byName = new Map<string, Receiver>();
  const kept: (() => void)[] = [];
  let well = false;
  for (const name of ['good', 'hanging', 'redirecting', 'failing']) {
    const receiver = await startReceiver((response, { body }) => {
      const { data } = JSON.parse(body) as { data: { job_id: string } };
      history.webhooks.add(data.job_id);
      const accept = () => response.writeHead(204).end();
      if (well || name === 'good') accept();
      else if (name === 'redirecting') response.writeHead(302, { location: '/' }).end();
      else if (name === 'failing') response.writeHead(random() < 0.5 ? 500 : 204).end();
      else kept.push(accept);
    });
    byName.set(name, receiver);
  }
  const heal = () => {
    well = true;
    for (const accept of kept) accept();
  };
  return { byName, heal };
}
