/**
 * `npm run bench:peers`: the service against other ways to serve the same network, same photos, same client. All
 * servers are started; each is stopped (SIGSTOP) while another is measured. Short bursts in turn, in an order that
 * changes each time, and one ratio a round: a machine whose speed drifts is slow for both sides of a ratio.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PROJECT_ROOT } from '../test/support/service-process.js';
import { eightBitPath } from '../src/models/eight-bit-copy.js';
import { HttpClient } from './load/http-client.js';
import { agreement, boxesOf, detect, precisionOf, type BoxesByPhoto } from './peers/boxes.js';
import { aloneBurst, togetherBurst } from './peers/bursts.js';
import { PeerProcess } from './peers/peer-process.js';
import { photoSets, type PhotoSet } from './peers/photo-sets.js';
import { publish, show, type Outcome } from './peers/report.js';
import type { Round } from './peers/round-figures.js';
import {
  isInstalled,
  referenceOf,
  sidesOf,
  type Material,
  type Shape,
  type Side,
} from './peers/sides.js';
import { standings } from './peers/standing.js';
import { orderOf, partsOf } from './peers/turns.js';

const HELP = `npm run bench:peers -- [flags]

  --rounds N      instead of 8; fewer are not recorded
  --only TEXT     only servers whose name holds the text, beside our own; may be given several times
  --photos N      the first N of each set
  --model FILE    an ONNX export with open sides, instead of the bundled one; its 8-bit copy is used where it is beside it`;

const ROUNDS = 8;
/** Photos of a burst: about a second at one client, two or three at eight. */
const ALONE = 32;
const TOGETHER = 64;

interface Contender extends Side {
  server: PeerProcess;
  boxes: BoxesByPhoto;
  rounds: Record<PhotoSet['name'], Round[]>;
}

interface Flags {
  help: boolean;
  rounds: number;
  only: string[];
  photos: number;
  model: string;
}

function readFlags(): Flags {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      rounds: { type: 'string', default: String(ROUNDS) },
      only: { type: 'string', multiple: true, default: [''] },
      photos: { type: 'string', default: 'Infinity' },
      model: { type: 'string', default: join(PROJECT_ROOT, 'models/vehicles-v8n.onnx') },
    },
  });
  return {
    help: values.help,
    rounds: Number(values.rounds),
    only: values.only,
    photos: Number(values.photos),
    model: resolve(values.model),
  };
}

async function main(flags: Flags): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-peers-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));
  const modelsDir = join(folder, 'models');
  mkdirSync(modelsDir);
  const own = join(modelsDir, 'yolov8n.onnx');
  copyFileSync(flags.model, own);
  const copy = eightBitPath(flags.model);
  const eightBits = existsSync(copy) ? copy : null;
  if (eightBits !== null) copyFileSync(eightBits, eightBitPath(own));
  const { root, sets: all } = await photoSets(folder);
  const sets = all.map((set) => ({ ...set, photos: set.photos.slice(0, flags.photos) }));
  const material = { model: flags.model, eightBits, modelsDir, root, dataDir: folder };
  const sides = sidesOf(material).filter(
    ({ name, ours }) => ours || flags.only.some((text) => name.includes(text)),
  );
  for (const side of sides.filter((each) => !isInstalled(each))) {
    console.log(`${side.name}: left out: not installed (bench/peers/README.md).`);
  }
  const load = loadavg()[0] ?? NaN;
  const reference = {
    square: await boxesInF32('square', material, sets),
    rectangles: await boxesInF32('rectangles', material, sets),
  };
  const contenders = await startAll(sides.filter(isInstalled), sets);
  await runRounds(contenders, sets, flags.rounds);
  const outcome: Outcome = {
    model: basename(flags.model),
    rounds: flags.rounds,
    loadBefore: load,
    sets: sets.map((set) => ({ ...set, standings: standingsOf(contenders, reference, set) })),
    servers: contenders.map(({ name, server }) => ({
      name,
      residentMiB: server.residentBytes() / 2 ** 20,
      cpuMsInPauses: server.cpuMsInPauses(),
    })),
  };
  for (const { server } of contenders) server.kill();
  show(outcome);
  const whole = flags.rounds >= ROUNDS && flags.only.includes('') && flags.photos === Infinity;
  if (whole) await publish(outcome);
  else console.log('Not recorded: not all rounds, servers and photos.');
}

/** Once it answers the first photo. */
function started({ command }: Side, photos: readonly string[]): Promise<PeerProcess> {
  return PeerProcess.start(command, async (url) => {
    using client = new HttpClient(url, 1);
    await detect(client, photos[0] ?? '');
  });
}

async function boxesInF32(
  shape: Shape,
  material: Material,
  sets: readonly PhotoSet[],
): Promise<BoxesByPhoto> {
  const photos = sets.flatMap((set) => set.photos);
  const server = await started(referenceOf(shape, material), photos);
  try {
    using client = new HttpClient(server.url, 1);
    return await boxesOf(client, photos, await classNamesOf(client));
  } finally {
    server.kill();
  }
}

/** One after the other, each paused once it has answered every photo, so that it has met every shape. */
async function startAll(sides: readonly Side[], sets: readonly PhotoSet[]): Promise<Contender[]> {
  const photos = sets.flatMap((set) => set.photos);
  let classNames: string[] = [];
  const contenders: Contender[] = [];
  for (const side of sides) {
    console.log(`starting ${side.name}`);
    const server = await started(side, photos);
    using client = new HttpClient(server.url, 1);
    if (side.ours) classNames = await classNamesOf(client);
    const boxes = await boxesOf(client, photos, classNames);
    await server.pause();
    const rounds = { small: [], mix: [] };
    contenders.push({ ...side, server, boxes, rounds });
  }
  return contenders;
}

async function classNamesOf(client: HttpClient): Promise<string[]> {
  const { body } = await client.send('GET', '/v1/models');
  const { models } = JSON.parse(body) as { models: { is_default: boolean; classes: string[] }[] };
  return models.find(({ is_default: isDefault }) => isDefault)?.classes ?? [];
}

async function runRounds(
  contenders: readonly Contender[],
  sets: readonly PhotoSet[],
  count: number,
): Promise<void> {
  let turn = 0;
  const inTurn = async (work: (side: Contender) => Promise<void>) => {
    for (const side of orderOf(contenders, turn)) await work(side);
    turn += 1;
  };
  for (let round = 0; round < count; round += 1) {
    const start = Date.now();
    for (const { name, photos } of sets) {
      const figures = new Map(
        contenders.map((side) => [
          side,
          { latencies: new Map<string, number>(), seconds: 0, refused: 0 },
        ]),
      );
      for (const part of partsOf(photos, ALONE)) {
        await inTurn((side) => aloneBurst(side.server, part, figures.get(side)!.latencies));
      }
      const requests = repeated(photos, TOGETHER);
      for (const part of partsOf(requests, TOGETHER)) {
        await inTurn(async (side) => {
          const { seconds, refused } = await togetherBurst(side.server, part);
          figures.get(side)!.seconds += seconds;
          figures.get(side)!.refused += refused;
        });
      }
      for (const [side, { latencies, seconds, refused }] of figures) {
        side.rounds[name].push({ latencies, perSecond: requests.length / seconds, refused });
      }
    }
    const took = ((Date.now() - start) / 1_000).toFixed(0);
    console.log(`round ${round + 1} of ${count}: ${took} s`);
  }
}

/** All of them the same number of times, at least `least` in sum. */
function repeated(photos: readonly string[], least: number): string[] {
  return Array.from({ length: Math.ceil(least / photos.length) }, () => photos).flat();
}

function standingsOf(
  contenders: readonly Contender[],
  reference: Record<Shape, BoxesByPhoto>,
  { name: set, photos, labels }: PhotoSet,
) {
  const part = (boxes: BoxesByPhoto) =>
    new Map(photos.map((photo) => [photo, boxes.get(photo) ?? []]));
  /** A server with our 8-bit copy is compared with our service, which computes the same file. */
  const sameNetwork = ({ file, shape }: Side) => {
    const ours = contenders.find((each) => each.ours && each.shape === shape);
    return file === 'export' || ours === undefined ? reference[shape] : ours.boxes;
  };
  return standings(
    contenders.map(({ boxes, rounds, ...side }) => ({
      ...side,
      rounds: rounds[set],
      agreement: {
        sameShape: agreement(part(sameNetwork(side)), part(boxes)),
        square: agreement(part(reference.square), part(boxes)),
      },
      precisionOnLabels: labels === null ? null : precisionOf(part(boxes), labels),
    })),
  );
}

const flags = readFlags();
if (flags.help) console.log(HELP);
else await main(flags);
