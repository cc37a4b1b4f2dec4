/** Short bursts of requests to one server, which runs for their time only. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../load/http-client.js';
import { detect, Refused } from './boxes.js';
import type { PeerProcess } from './peer-process.js';

const CLIENTS = 8;
/** Sent before without being counted: the server comes from its pause. */
const FIRST = 2;
const REST_MS = 50;

/** Adds each photo's milliseconds at one client to `took`. */
export async function aloneBurst(
  server: PeerProcess,
  photos: readonly string[],
  took: Map<string, number>,
): Promise<void> {
  server.resume();
  using client = new HttpClient(server.url, 1);
  for (const photo of photos.slice(0, FIRST)) await detect(client, photo);
  for (const photo of photos) took.set(photo, (await detect(client, photo)).ms);
  await server.pause();
}

export interface Together {
  /** For all photos. */
  seconds: number;
  /** Answers that the server had too much to do; the photo is sent again after a rest, within the same time. */
  refused: number;
}

/** All photos, sent by eight clients. */
export async function togetherBurst(
  server: PeerProcess,
  photos: readonly string[],
): Promise<Together> {
  server.resume();
  using client = new HttpClient(server.url, CLIENTS);
  await inTurns(client, photos.slice(0, CLIENTS * FIRST));
  const start = performance.now();
  const refused = await inTurns(client, photos);
  const seconds = (performance.now() - start) / 1_000;
  await server.pause();
  return { seconds, refused };
}

/** How many requests were refused on the way. */
async function inTurns(client: HttpClient, photos: readonly string[]): Promise<number> {
  const left = photos.values();
  let refused = 0;
  const sendAll = async () => {
    for (const photo of left) {
      while (!(await isTaken(client, photo))) {
        refused += 1;
        await sleep(REST_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, sendAll));
  return refused;
}

async function isTaken(client: HttpClient, photo: string): Promise<boolean> {
  try {
    await detect(client, photo);
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}
