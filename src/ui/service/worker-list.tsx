import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { plural } from '../text/format.js';
import { cluster, clusterFault } from './service-state.js';
import { GpuCard, WorkerCard } from './worker-cards.js';

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
