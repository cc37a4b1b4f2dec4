import { useSignal, useSignalEffect } from '@preact/signals';
import { ago } from '../text/format.js';
import { connection, lastLive } from './live.js';

/** Whether events arrive, and since when they do not. */
export function Connection() {
  const now = useSignal(Date.now());
  useSignalEffect(() => {
    if (connection.value.kind === 'live') return;
    const timer = setInterval(() => (now.value = Date.now()), 1_000);
    return () => clearInterval(timer);
  });
  const state = connection.value;
  const isStopped = state.kind === 'stopped';
  return (
    <p
      class={`connection ${isStopped ? 'lost' : state.kind}`}
      role="status"
      title={isStopped ? state.reason : 'Events of the service'}
    >
      <span class="dot" />
      <span class="connection-text">{text(now.value)}</span>
    </p>
  );
}

function text(now: number): string {
  const state = connection.value;
  const last = lastLive.value;
  const news = last === null ? '' : `, last news ${ago((now - last) / 1000)}`;
  switch (state.kind) {
    case 'live':
      return 'Live';
    case 'connecting':
      return last === null ? 'Connecting' : `The service is away${news}`;
    case 'waiting':
      return `The service is away${news}`;
    case 'stopped':
      return 'Not live';
  }
}
