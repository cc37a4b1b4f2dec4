/** The service at this moment, and in the last quarter of an hour. */
import { useEffect } from 'preact/hooks';
import { AliasList } from '../aliases/alias-list.js';
import { usePresence } from '../live/connection.js';
import { models } from '../models/models.js';
import { Icon } from '../parts/icon.js';
import { findings } from './findings.js';
import { readings } from './history.js';
import { ModelList } from './model-list.js';
import { cluster, notReady, settings, watchService } from './service-state.js';
import { StatCards } from './stat-cards.js';
import { WorkCards } from './work-cards.js';
import { WorkerList } from './worker-list.js';

export function ServiceView() {
  useEffect(watchService, []);
  return (
    <div class="service">
      <h1 class="hidden-heading">Service</h1>
      <FindingsBanner />
      <StatCards />
      <div class="service-columns">
        <div class="service-column">
          <WorkerList />
          <WorkCards />
        </div>
        <div class="service-column">
          <AliasList />
          <ModelList />
        </div>
      </div>
      <SettingList />
    </div>
  );
}

/** One sentence, with the other faults beneath it. */
function FindingsBanner() {
  const presence = usePresence();
  const all = findings({
    silentFor: presence.kind === 'away' ? (presence.silentFor ?? 0) : null,
    notReady: notReady.value,
    status: cluster.value,
    models: models.value,
    readings: readings.value,
  });
  const [first, ...others] = all;
  if (cluster.value === null && notReady.value === null && presence.kind !== 'away') {
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

/** Settings in force, those that were changed marked. */
function SettingList() {
  const all = settings.value;
  if (all === null) return null;
  const changed = all.filter((setting) => !setting.is_default).length;
  return (
    <details class="card settings">
      <summary>
        <h2>Settings in force</h2>
        <span class="fine">
          {changed === 0 ? 'these at their defaults' : `${changed} of ${all.length} changed`};
          folders, addresses and secrets are not shown
        </span>
      </summary>
      <dl>
        {all.map(({ name, value, is_default: isDefault, description }) => (
          <div key={name} class={isDefault ? '' : 'changed'}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              <code>{value}</code>
              {!isDefault && <span class="badge">changed</span>}
              <p class="fine">{description}</p>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
