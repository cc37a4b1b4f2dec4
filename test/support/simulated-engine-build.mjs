// `lattice engine build` with a simulated core: each line of its output is a step of the build, which goes
// on until it is cancelled. Arguments: the folder of engines, and `deaf` for a step that never ends.
import { loadConfig } from '../../dist/settings/config.js';
import { LatticeError } from '../../dist/api/errors.js';
import { buildEngine } from '../../dist/cli/engine/building.js';

const [engineCacheDir, mode] = process.argv.slice(2);

function simulatedCore() {
  let closing = null;
  let share = 0;
  return {
    loadModel: () =>
      new Promise((_resolve, reject) => {
        const step = () => {
          share = Math.min(0.9, share + 0.1);
          console.log('step');
          if (closing === null || mode === 'deaf') setTimeout(step, 20);
          else {
            reject(new LatticeError('cancelled', 'The build was given up.'));
            closing.done();
          }
        };
        step();
      }),
    stats: () => {
      if (closing !== null) throw new LatticeError('shutting_down', 'The native core is closed.');
      return { buildShare: share };
    },
    close: () => {
      if (closing === null) {
        closing = {};
        closing.promise = new Promise((resolve) => {
          closing.done = resolve;
        });
      }
      return closing.promise;
    },
  };
}

await buildEngine(
  'tiny-v8',
  loadConfig({ engineCacheDir }, {}),
  {
    out: (line) => console.log(line),
    err: (line) => console.error(line),
    setExitCode: (code) => {
      process.exitCode = code;
    },
  },
  simulatedCore,
);
