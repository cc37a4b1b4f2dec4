/** What the view asks for while it is shown. */
import { signal } from '@preact/signals';
import type { ClusterStatus, SettingList } from '../../client/records.js';
import { ServiceError } from '../../client/service-error.js';
import { loadModels } from '../models/models.js';
import { service, show } from '../session/session.js';
import { waitingByPriority, type Waiting } from './waiting.js';

const EVERY_MS = 5_000;
const MOST_JOBS = 100;

export const notReady = signal<string | null>(null);
export const cluster = signal<ClusterStatus | null>(null);
export const clusterFault = signal<unknown>(null);
export const waiting = signal<Waiting | null>(null);
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
  return () => {
    clearInterval(timer);
  };
}

async function askReady(): Promise<void> {
  try {
    await service.ready();
    notReady.value = null;
  } catch (error) {
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
