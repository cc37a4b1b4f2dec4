import type { ClusterStatus } from '../../client/records.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { bytes, plural } from '../text/format.js';
import { cluster, clusterFault } from './service-state.js';

export function WorkerList() {
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

type Worker = ClusterStatus['workers'][number];
type Gpu = ClusterStatus['engine']['gpus'][number];

function WorkerCard({ worker }: { worker: Worker }) {
  const { worker_id: id, node_id: node, state, reason, device, precision } = worker;
  return (
    <li class="card worker">
      <header>
        <h3>
          <Foreign text={id} />
        </h3>
        <span class={`pill ${state}`}>{state}</span>
      </header>
      <p class="fine">
        {device !== 'none' && `${device.toUpperCase()} ${precision} `}on <Foreign text={node} />
      </p>
      <p>
        <b>{worker.in_hand}</b> in hand · {plural(worker.completed, 'image')} done
      </p>
      {reason !== null && (
        <p class="fault">
          <Foreign text={reason} />
        </p>
      )}
      {worker.model_faults.map((fault) => (
        <p key={fault} class="fault">
          <Foreign text={fault} />
        </p>
      ))}
      {worker.models.length > 0 && (
        <details class="why">
          <summary>{plural(worker.models.length, 'model file')}</summary>
          <ul class="fine">
            {worker.models.map(({ name, digest }) => (
              <li key={name}>
                <Foreign text={name} /> <code>{digest}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function GpuCard({ gpu }: { gpu: Gpu }) {
  const notes = [
    ...gpu.slowed_by.map((what) => `slowed by ${what.replaceAll('_', ' ')}`),
    gpu.reason,
  ];
  const { memory_used_bytes: used, memory_total_bytes: total } = gpu;
  const hasMemory = used !== null && total !== null;
  return (
    <li class="card worker">
      <header>
        <h3>
          GPU {gpu.index} <Foreign text={gpu.name} />
        </h3>
        <span class={`pill ${gpu.state}`}>{gpu.state.replace('_', ' ')}</span>
      </header>
      <p class="fine">
        <Foreign text={gpu.node_id} />
      </p>
      <Gauge
        name="Use"
        share={percentOf(gpu.utilisation_percent)}
        text={unitText(gpu.utilisation_percent, '%')}
      />
      <Gauge
        name="Memory"
        share={hasMemory ? used / total : null}
        text={hasMemory ? `${amount(used)} of ${amount(total)}` : '–'}
      />
      <p>
        {unitText(gpu.temperature_celsius, '°C')} · {unitText(gpu.power_watts, 'W')}
      </p>
      {notes.map(
        (note) =>
          note !== null && (
            <p key={note} class="fine">
              {note}
            </p>
          ),
      )}
    </li>
  );
}

/** A share of a whole; null where it is not known. */
export function Gauge({ name, share, text }: { name: string; share: number | null; text: string }) {
  return (
    <div class="gauge">
      <span class="fine">{name}</span>
      <span class="share" aria-hidden="true">
        <span style={{ width: `${Math.min(1, share ?? 0) * 100}%` }} />
      </span>
      <span>{text}</span>
    </div>
  );
}

const percentOf = (value: number | null): number | null => (value === null ? null : value / 100);

function unitText(value: number | null, unit: string): string {
  return value === null ? '–' : `${Math.round(value)} ${unit}`;
}

function amount(value: number): string {
  const { text, unit } = bytes(value);
  return `${text} ${unit}`;
}
