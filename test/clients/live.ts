/**
 * The installed Node client against a running service, which is killed and restarted while it waits. Arguments: the
 * address of the service and of a proxy, and a folder of stills of a parked lot. Prints one JSON object per line:
 * `submitted`, `running`, `done`.
 */
import {
  LatticeClient,
  ServiceError,
  type JobEvent,
  type JobStatus,
} from '../../src/client/lattice-client.js';

declare const process: { argv: string[] };
const [, , url, proxy, lot = ''] = process.argv;
const say = (fields: Record<string, unknown>) => {
  console.log(JSON.stringify(fields));
};
const images = [...Array<string>(14).fill('large.png'), 'absent.png'];

const client = new LatticeClient(url === undefined ? {} : { url });
const broken = new LatticeClient({ url: proxy });
const own = await client.detect({
  image_path: 'shapes.png',
  model_name: 'own.pt',
  classes: ['car_ahead', 'STOP_SIGN'],
});
const { job_id } = await broken.submit({ job_type: 'batch_detect', image_paths: images });

const events: JobEvent['event'][] = [];
// `events` rejects where the service is not there at first, so the kill comes once it is subscribed.
let subscribe: () => void = () => undefined;
const subscribed = new Promise<void>((resolve) => (subscribe = resolve));
const onConnection = (lost: unknown) => {
  if (lost === null) subscribe();
};
const watching = (async () => {
  for await (const event of client.events({ job_ids: [job_id], after_seq: 0, onConnection })) {
    if (event.event !== 'job_progress' && event.event !== 'gap') events.push(event.event);
    if (event.event === 'job_completed') return;
  }
})();

await subscribed;
say({ event: 'submitted', job_id });
const states: (string | null)[] = [];
let running = false;
const ended: JobStatus = await client.waitFor(job_id, {
  deadlineMs: 60_000,
  onProgress: ({ finished_images }) => {
    if (finished_images > 0 && !running) say({ event: 'running' });
    running ||= finished_images > 0;
  },
  onConnection: (lost) => states.push(lost === null ? null : lost.code),
});
await watching;
const { result } = await client.result(job_id);
if (result === null || !('images' in result)) throw new Error('The result has no images.');
const { total } = await client.counts(job_id, 'day');
let csv = '';
for await (const chunk of client.countsCsv(job_id, 'folder'))
  csv += new TextDecoder().decode(chunk);
let page = '';
for await (const chunk of client.report(job_id)) page += new TextDecoder().decode(chunk);
const archives: boolean[] = [];
for (const kind of ['drawn', 'covered', 'crops'] as const) {
  let bytes = 0;
  for await (const chunk of client.pictures(job_id, kind, { class: ['car'] }))
    bytes += chunk.length;
  archives.push(bytes > 100);
}
const jobs: string[] = [];
for await (const job of client.list()) jobs.push(job.job_id);

const report = await client.agreement(job_id, job_id);

// The two scripts of one test share the service: the name is this one's own.
await client.addWatch({ name: job_id, paths: ['gate'], job_type: 'detect_cars', paused: true });
const changed = await client.changeWatch(job_id, { settle_ms: 2_000 });
const listed = (await client.watches()).some(({ name }) => name === job_id);
const { state } = await client.watch(job_id);
await client.deleteWatch(job_id);
const gone = await client
  .watch(job_id)
  .catch((error: unknown) => (error instanceof ServiceError ? error.code : error));

const stills = await client.submit({
  job_type: 'detect_vehicles',
  image_paths: [lot],
  tags: [lot],
});
await client.waitFor(stills.job_id);
let run = '';
for await (const chunk of client.reportOf(lot)) run += new TextDecoder().decode(chunk);
const { places } = await client.places({ tag: lot, occupied: true });
const none = await client.places({ tag: lot, region: 'none' });
let stays = '';
for await (const chunk of client.placesCsv({ tag: lot })) stays += new TextDecoder().decode(chunk);
const [place] = places;
const best = place?.best_image;
if (place === undefined || !best) throw new Error('There is no place.');
const counted = async () => (await client.countsOf({ tag: lot })).total.detections;
const before = await counted();
const dismissal = await client.dismissPlace({
  job_id: best.job_id,
  index: best.index,
  class: place.class,
  box: place.box,
});
const dismissed = (await client.dismissals()).some(({ id }) => id === dismissal.id);
const after = await counted();
await client.deleteDismissal(dismissal.id);

const [usage] = (await client.usage()).keys;
say({
  event: 'done',
  own: own.class_counts,
  status: ended.status,
  counts: [ended.finished_images, ended.failed_images],
  paths: result.images.map((image) => image.image_path),
  errors: result.images.flatMap((image) => (image.status === 'error' ? [image.error.code] : [])),
  total: result.total_count,
  counted: [total.images, total.failed_images, total.detections, csv.split('\r\n')[1]],
  archives,
  page: [
    page.startsWith('<!doctype html>'),
    page.includes(job_id),
    run.includes('Report of a run'),
  ],
  states,
  events,
  jobs,
  agreed: [report.share, report.image_counts.compared],
  watched: [changed.settle_ms, listed, state, gone],
  places: [places.length, none.places.length, stays.trim().split('\r\n').length - 1],
  dismissed: [dismissed, before - after, (await counted()) - after],
  usage: usage?.quotas.map(({ quota }) => quota),
});
