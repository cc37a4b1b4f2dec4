/** How near do many images come to the network alone, from pixels and from JPEGs? The sides take turns. */
import type { NativeModel } from '../../../src/native/contract.js';
import { median } from '../../load/percentiles.js';
import { against, type Answer, type Figure } from '../answer.js';
import type { Pixels } from '../photos.js';
import { mainModel, type Plan, type PlannedModel } from '../plan.js';
import {
  imagesPerSecond,
  loadWhole,
  noise,
  openRig,
  photoTask,
  pixelTask,
  runImages,
  stretchOf,
  type Rig,
} from '../rig.js';
import { bestNetworkRate, openBatchTimer, timeBatches } from '../batch-times.js';

const SIZES = ['0.3 MP', '2 MP'];
const SMALL = noise(320, 240);
const LARGE = noise(640, 480);
const JPEG_GOAL = { atLeast: 0.9 };

export default async function throughput(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const rows: { name: string; rate: number; limits: Limit[]; figure: Figure }[] = [];
  for (const planned of plan.models) rows.push(await fromPixels(plan, rig, planned, SMALL, true));
  rows.push(await fromPixels(plan, rig, mainModel(plan), LARGE, false));
  rows.push(...(await fromJpegs(plan, rig)));
  const limitNames = ['network only', 'decode only'];
  return {
    title: 'Many asynchronous images, in process',
    figures: rows.flatMap(({ figure, limits, name }) => [
      figure,
      ...limits.map((limit) => ({
        what: `${name}: ${limit.name}`,
        value: limit.rate,
        unit: 'images/s',
      })),
    ]),
    notes: [
      'Decode only: the same photos through the bundled test-pattern network, which takes next to no time on a GPU.',
      'From pixels: the caller copies each image once on the JavaScript thread, which requests by path do not; at ' +
        '640 x 480 (0.9 MB) that binds before a fast network does, so 320 x 240 is judged. Both fill the same input.',
    ],
    charts: [
      {
        name: 'throughput',
        title: 'Async throughput against its limits',
        unit: 'images/s',
        kind: 'bars',
        categories: rows.map(({ name }) => name),
        series: [
          { name: 'service core', values: rows.map(({ rate }) => rate) },
          ...limitNames.map((name) => ({
            name,
            values: rows.map(
              ({ limits }) => limits.find((limit) => limit.name === name)?.rate ?? null,
            ),
          })),
        ],
      },
    ],
  };
}

interface Limit {
  name: string;
  rate: number;
}

const batchRounds = (plan: Plan) => Math.min(plan.effort.samples, 20);

async function fromPixels(
  plan: Plan,
  rig: Rig,
  planned: PlannedModel,
  pixels: Pixels,
  isJudged: boolean,
) {
  const model = await loadWhole(rig.core, planned.file);
  await using timer = openBatchTimer(plan, rig.core, model, planned.file);
  const task = () => pixelTask(model, 'async', pixels);
  const rates: number[] = [];
  const networks: number[] = [];
  await runImages(rig.core, Math.ceil(plan.effort.images / 4), task);
  for (let round = 0; round < plan.effort.rounds; round += 1) {
    const all = await timeBatches(timer.time, batchRounds(plan));
    networks.push(bestNetworkRate(plan, rig.core, all));
    rates.push(await imagesPerSecond(rig.core, stretchOf(plan.effort), task));
  }
  rig.core.unloadModel(model.modelId);
  const [rate, network] = [median(rates), median(networks)];
  const small = planned.size === 'n' || planned.size === 's';
  const size = `${pixels.width} x ${pixels.height}`;
  return {
    name: `${planned.name}, pixels ${size}`,
    rate,
    limits: [{ name: 'network only', rate: network }],
    figure: against(
      { what: `${planned.name}, async images from pixels ${size}`, value: rate, unit: 'images/s' },
      { what: 'network only', value: network },
      isJudged ? { atLeast: small ? 0.88 : 0.95 } : undefined,
    ),
  };
}

async function fromJpegs(plan: Plan, rig: Rig) {
  const planned = mainModel(plan);
  const model = await loadWhole(rig.core, planned.file);
  await using timer = openBatchTimer(plan, rig.core, model, planned.file);
  const tiny = await loadWhole(rig.core, plan.tinyModel);
  const rows = [];
  for (const size of plan.photos.filter(({ name }) => SIZES.includes(name))) {
    const through = (native: NativeModel) => (turn: number) =>
      photoTask(native, 'async', size.files[turn % size.files.length]!);
    const sides = { core: [] as number[], decode: [] as number[], network: [] as number[] };
    await runImages(rig.core, Math.ceil(plan.effort.images / 4), through(model));
    for (let round = 0; round < plan.effort.rounds; round += 1) {
      const all = await timeBatches(timer.time, batchRounds(plan));
      sides.network.push(bestNetworkRate(plan, rig.core, all));
      sides.decode.push(await imagesPerSecond(rig.core, stretchOf(plan.effort), through(tiny)));
      sides.core.push(await imagesPerSecond(rig.core, stretchOf(plan.effort), through(model)));
    }
    const rate = median(sides.core);
    const limits = [
      { name: 'network only', rate: median(sides.network) },
      { name: 'decode only', rate: median(sides.decode) },
    ];
    const least = limits.reduce((a, b) => (b.rate < a.rate ? b : a));
    const what = `${planned.name}, async images from JPEG ${size.name}`;
    rows.push({
      name: `${planned.name}, JPEG ${size.name}`,
      rate,
      limits,
      figure: against(
        { what, value: rate, unit: 'images/s' },
        { what: least.name, value: least.rate },
        JPEG_GOAL,
      ),
    });
  }
  return rows;
}
