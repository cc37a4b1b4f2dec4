/** `lattice places`: places in which vehicles stood, of a running service, over its HTTP API. */
import { serviceCommand } from './command-options.js';
import { addCsvFlags } from './csv-output.js';
import { refuseUnusedOutput } from './export-output.js';
import { addHourFlags } from './job/count-flags.js';
import { addCameraFlags, addQuestionFlags } from './job/question-flags.js';
import type { PlacesFlags } from './places/listing.js';
import type { RegisterCommand } from './terminal.js';

export const registerPlaces: RegisterCommand = (program, terminal) => {
  const places = serviceCommand(program, {
    name: 'places',
    description: 'places in which vehicles stood, over the jobs of a watch or a tag',
    json: 'print them as JSON',
    calls: [
      '--watch north-gate --from 2025-11-26 --occupied',
      "--watch north-gate --view gate-2 --region 'bay 3'",
      '--tag monday --format csv -o stays.csv',
    ],
  })
    .option('--watch <name>', 'jobs of this watch; it or --tag is needed')
    .option('--tag <name>', 'jobs with this tag')
    .option('--region <name>', 'only places in this region')
    .option('--occupied', 'only places in which a vehicle stands in the last image')
    .option('--no-occupied', 'only those in which none does')
    .action(async (flags: PlacesFlags) => {
      refuseUnusedOutput(flags);
      const { listPlaces } = await import('./places/listing.js');
      await listPlaces(flags, terminal);
    });
  addQuestionFlags(addCsvFlags(addHourFlags(addCameraFlags(places))));
};
