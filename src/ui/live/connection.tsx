import { useSignal, useSignalEffect } from '@preact/signals';
import { ago } from '../text/format.js';
import { connection, presenceAt } from './live.js';
import type { Presence } from './presence.js';

/** Interval of the clock while no events come. */
const EVERY_MS = 1_000;

/** Whether the service is there, asked again each second while its events do not come. */
export function usePresence(): Presence {
  const now = useSignal(Date.now());
  useSignalEffect(() => {
    if (connection.value.kind === 'live') return;
    now.value = Date.now();
    const timer = setInterval(() => (now.value = Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  });
  return presenceAt(now.value);
}

const DOTS: Record<Presence['kind'], string> = {
  live: 'live',
  connecting: 'connecting',
  away: 'waiting',
  stopped: 'lost',
};

/** Whether events arrive, and since when nothing does. */
export function Connection() {
  const presence = usePresence();
  return (
    <p
      class={`connection ${DOTS[presence.kind]}`}
      role="status"
      title={presence.kind === 'stopped' ? presence.reason : 'Events of the service'}
    >
      <span class="dot" />
      <span class="connection-text">{text(presence)}</span>
    </p>
  );
}

function text(presence: Presence): string {
  switch (presence.kind) {
    case 'live':
      return 'Live';
    case 'connecting':
      return 'Connecting';
    case 'away': {
      const { silentFor } = presence;
      return `The service is away${silentFor === null ? '' : `, last news ${ago(silentFor)}`}`;
    }
    case 'stopped':
      return 'Not live';
  }
}
