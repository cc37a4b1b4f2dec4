/** The answers that the view asks for while it is shown. */
import { signal } from '@preact/signals';
import type { ClusterStatus, JobList, SettingList } from '../../client/records.js';
import { ServiceError } from '../../client/service-error.js';
import { isAway } from '../live/live.js';
import { loadModels } from '../models/models.js';
import { service, show } from '../session/session.js';

const EVERY_MS = 5_000;
const MOST_JOBS = 100;

export const notReady = signal<string | null>(null);
export const cluster = signal<ClusterStatus | null>(null);
export const clusterFault = signal<unknown>(null);
export const waiting = signal<ReturnType<typeof waitingByPriority> | null>(null);
export const settings = signal<SettingList['settings'] | null>(null);

/** Asks now and again until the result is called. */
export function watchService(): () => void {
  let isAsking = false;
  const ask = async (): Promise<void> => {
    if (isAsking || document.hidden) return;
    isAsking = true;
    await Promise.all([
      askReady(),
      show(service.clusterStatus(), cluster, clusterFault),
      askWaiting(),
      loadModels(),
    ]);
    isAsking = false;
  };
  void ask();
  void askSettings();
  const timer = setInterval(() => void ask(), EVERY_MS);
  return () => clearInterval(timer);
}

async function askReady(): Promise<void> {
  try {
    await service.ready();
    notReady.value = null;
  } catch (error) {
    // The page says so by itself; what the service said last stays.
    if (isAway(error)) return;
    notReady.value = error instanceof ServiceError ? error.detail : String(error);
  }
}

async function askWaiting(): Promise<void> {
  const list = (status: 'running' | 'pending') =>
    service.listPage({ status: [status], limit: MOST_JOBS });
  const lists = await Promise.all([list('running'), list('pending')]).catch(() => null);
  if (lists !== null) waiting.value = waitingByPriority(lists);
}

async function askSettings(): Promise<void> {
  const answer = await service.settings().catch(() => null);
  settings.value = answer?.settings ?? null;
}

/** Highest first; cut when there are more jobs than were asked for. */
function waitingByPriority(lists: readonly JobList[]) {
  const sums = new Map<number, { jobs: number; images: number }>();
  for (const { priority, image_count, finished_images } of lists.flatMap(({ jobs }) => jobs)) {
    const sum = sums.get(priority) ?? { jobs: 0, images: 0 };
    sum.jobs += 1;
    sum.images += image_count - finished_images;
    sums.set(priority, sum);
  }
  const priorities = [...sums].map(([priority, sum]) => ({ priority, ...sum }));
  return {
    priorities: priorities.sort((a, b) => b.priority - a.priority),
    isCut: lists.some(({ next_cursor }) => next_cursor !== null),
  };
}
