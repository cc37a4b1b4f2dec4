/** The service at this moment, and in the last quarter of an hour. */
import { useEffect } from 'preact/hooks';
import { FindingsBanner } from './findings-banner.js';
import { ModelList } from './model-list.js';
import { watchService } from './service-state.js';
import { SettingList } from './setting-list.js';
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
          <ModelList />
        </div>
      </div>
      <SettingList />
    </div>
  );
}
