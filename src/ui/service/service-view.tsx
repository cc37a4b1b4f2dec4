/** The service at this moment, and in the last quarter of an hour. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { models, modelsFault } from '../models/models.js';
import { Icon } from '../parts/icon.js';
import { Problem } from '../parts/problem.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { Skeleton } from '../parts/skeleton.js';
import {
  bytes,
  duration,
  grouped,
  milliseconds,
  plural,
  seconds,
  significant,
} from '../text/format.js';
import { findings } from './findings.js';
import { HISTORY_S, readings } from './history.js';
import { ModelCard } from './model-card.js';
import { failuresOf, newFailures, seriesOf, stepMeans } from './series.js';
import {
  cluster,
  clusterFault,
  notReady,
  settings,
  waiting,
  watchService,
} from './service-state.js';
import { StatCard } from './stat-card.js';
import { Gauge, GpuCard, WorkerCard } from './worker-cards.js';

const perSecond = (value: number) => ({ text: significant(value), unit: '/s' });
const images = (value: number) => ({
  text: grouped(value),
  unit: value === 1 ? 'image' : 'images',
});

export function ServiceView() {
  useEffect(watchService, []);
  return (
    <div class="service">
      <h1 class="hidden-heading">Service</h1>
      <Findings />
      <Stats />
      <div class="service-columns">
        <div class="service-column">
          <Workers />
          <Work />
        </div>
        <div class="service-column">
          <Models />
        </div>
      </div>
      <Settings />
    </div>
  );
}

/** One sentence, and what else is wrong beneath it. */
function Findings() {
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

function Stats() {
  const series = useComputed(() => seriesOf(readings.value)).value;
  const { at } = series;
  const since = at[0] === undefined ? 0 : Date.now() / 1000 - at[0];
  return (
    <section aria-label="The last 15 minutes">
      <div class="stats">
        <StatCard
          title="Images"
          at={at}
          least={1}
          lines={[
            {
              label: 'images',
              values: series.imagesPerSecond,
              colour: '--accent',
              show: perSecond,
            },
          ]}
        />
        <StatCard
          title="Latency"
          at={at}
          least={0.1}
          lines={[
            { label: 'p95', values: series.p95, colour: '--accent', show: seconds },
            { label: 'p50', values: series.p50, colour: '--good', show: seconds },
          ]}
        />
        <StatCard
          title="Queue"
          at={at}
          least={4}
          lines={[
            { label: 'of jobs', values: series.queueJobs, colour: '--accent', show: images },
            { label: 'at once', values: series.queueSync, colour: '--good', show: images },
          ]}
        />
        <StatCard
          title="Failures"
          at={at}
          least={0.2}
          lines={[
            {
              label: 'failures',
              values: series.failuresPerSecond,
              colour: '--bad',
              show: perSecond,
            },
          ]}
        />
        <StatCard
          title="Memory"
          at={at}
          least={2 ** 28}
          lines={[{ label: 'memory', values: series.memoryBytes, colour: '--accent', show: bytes }]}
        />
      </div>
      {since < HISTORY_S - 30 && (
        <p class="fine collecting">
          Collecting since this page was opened, {duration(since)} ago; it keeps 15 minutes. For
          longer there is <a href="/metrics">/metrics</a>.
        </p>
      )}
    </section>
  );
}

function Workers() {
  const status = cluster.value;
  if (status === null) {
    if (clusterFault.value !== null) return <Problem error={clusterFault.value} />;
    return <Skeleton label="Reading the workers" />;
  }
  const { engine, workers } = status;
  return (
    <section>
      <h2>
        Workers <span class="fine">{plural(workers.length, 'worker')}</span>
      </h2>
      <ul class="cards">
        {workers.map((worker) => (
          <WorkerCard key={worker.worker_id} worker={worker} />
        ))}
        {engine.gpus.map((gpu) => (
          <GpuCard key={gpu.uuid} gpu={gpu} />
        ))}
      </ul>
      <details class="why">
        <summary>
          {engine.device.toUpperCase()} in {engine.precision}, {status.available_cpus} of{' '}
          {plural(status.total_cpus, 'CPU')} free
        </summary>
        <p class="fine">{engine.reason}</p>
      </details>
    </section>
  );
}

/** What waits by priority, where the time goes, and what failed. */
function Work() {
  const now = readings.value.at(-1);
  const first = readings.value[0];
  const steps = now === undefined || first === undefined ? [] : stepMeans(first, now);
  const failed = now === undefined || first === undefined ? [] : newFailures(first, now);
  const all = steps.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <>
      <section class="card work">
        <h2>Jobs that wait or run</h2>
        <WaitingRows />
      </section>
      {steps.length > 0 && (
        <section class="card work time-bar">
          <p class="panel-title">
            Time of an image on average <b>{milliseconds(all)}</b>
          </p>
          <div class="stack" aria-hidden="true">
            {steps.map(({ step, ms }) => (
              <span
                key={step}
                class={`step ${step.replace(' ', '-')}`}
                style={{ flexGrow: String(ms) }}
              />
            ))}
          </div>
          <ul class="legend">
            {steps.map(({ step, ms }) => (
              <li key={step}>
                <span class={`step ${step.replace(' ', '-')}`} aria-hidden="true" /> {step}{' '}
                <b>{milliseconds(ms)}</b>
              </li>
            ))}
          </ul>
        </section>
      )}
      {failed.length > 0 && now !== undefined && (
        <section class="card work">
          <h2>Failures of the last 15 minutes</h2>
          {failed.map(([code, count]) => (
            <Gauge
              key={code}
              name={code}
              share={count / Math.max(1, failuresOf(now))}
              text={grouped(count)}
            />
          ))}
        </section>
      )}
    </>
  );
}

function WaitingRows() {
  const { priorities = [], isCut = false } = waiting.value ?? {};
  if (priorities.length === 0) return <p class="fine">No job waits.</p>;
  const most = Math.max(1, ...priorities.map((each) => each.images));
  return (
    <>
      {priorities.map(({ priority, jobs, images: count }) => (
        <Gauge
          key={priority}
          name={`Priority ${priority}`}
          share={count / most}
          text={`${plural(jobs, 'job')}, ${plural(count, 'image')}`}
        />
      ))}
      {isCut && <p class="fine">Of the newest jobs; there are more.</p>}
    </>
  );
}

function Models() {
  const search = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const now = readings.value.at(-1);
  const first = readings.value[0];
  useShortcuts('Service', [
    { keys: '/', title: 'Search in the models', run: () => field.current?.focus() },
  ]);
  const all = models.value;
  if (all === null) {
    if (modelsFault.value !== null) return <Problem error={modelsFault.value} />;
    return <Skeleton label="Reading the models" />;
  }
  const grown = (name: string) => (now?.models[name] ?? 0) - (first?.models[name] ?? 0);
  const total = all.reduce((sum, { name }) => sum + grown(name), 0);
  const wanted = search.value.trim().toLowerCase();
  const shown = all.filter(({ name, classes }) =>
    [name, ...classes].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <section>
      <header class="models-head">
        <h2>
          Models <span class="fine">{plural(all.length, 'model')}</span>
        </h2>
        {all.length > 3 && (
          <label class="search">
            <Icon name="search" />
            <input
              ref={field}
              type="search"
              placeholder="Model or class"
              aria-label="Search for a model or a class"
              value={search.value}
              onInput={({ currentTarget }) => (search.value = currentTarget.value)}
            />
          </label>
        )}
      </header>
      <ul class="cards models">
        {shown.map((model) => (
          <ModelCard
            key={model.name}
            model={model}
            images={now?.models[model.name] ?? 0}
            share={total > 0 ? grown(model.name) / total : null}
          />
        ))}
      </ul>
    </section>
  );
}

function Settings() {
  const all = settings.value;
  if (all === null) return null;
  const changed = all.filter((setting) => !setting.is_default).length;
  return (
    <details class="card settings">
      <summary>
        <h2>Settings in force</h2>
        <span class="fine">
          {changed === 0 ? 'all at their defaults' : `${changed} of ${all.length} changed`}
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
