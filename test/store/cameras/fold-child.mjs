// Folds the queued pictures of cameras in the data folder, step by step, and prints a line before each thing that it
// does, until nothing is left or it is killed.
import { writeSync } from 'node:fs';
import { openStore } from '../../../dist/store/service-store.js';

const [dataDir, now, watch, since] = process.argv.slice(2);
const say = (line) => writeSync(1, `${line}\n`);
say('open');
const store = await openStore(dataDir);
const working = [{ watch: Number(watch), since: Number(since) }];
do say('step');
while (await store.checkCameras(Number(now), working));
say('done');
await store.close();
