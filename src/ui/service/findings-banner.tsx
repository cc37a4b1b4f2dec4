import { useComputed } from '@preact/signals';
import { models } from '../models/models.js';
import { Icon } from '../parts/icon.js';
import { findings } from './findings.js';
import { readings } from './history.js';
import { cluster, notReady } from './service-state.js';

/** One sentence, and what else is wrong beneath it. */
export function FindingsBanner() {
  const all = useComputed(() =>
    findings({
      notReady: notReady.value,
      status: cluster.value,
      models: models.value,
      readings: readings.value,
    }),
  ).value;
  const [first, ...others] = all;
  if (cluster.value === null && notReady.value === null) {
    return <p class="finding">Asking the service</p>;
  }
  return (
    <div class={`findings ${first?.level ?? 'good'}`} role="status">
      <p class="finding">
        <Icon name={first?.level === 'good' ? 'check' : 'warning'} />
        {first?.text}
      </p>
      {others.length > 0 && (
        <ul>
          {others.map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
