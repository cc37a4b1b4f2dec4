/** `lattice places`: where vehicles stood, as a table, JSON or a CSV file. */
import type { Places, PlacesQuery } from '../../client/lattice-client.js';
import { printAnswer, type CsvFlags } from '../csv-output.js';
import { leftOutLines } from '../job/left-out-lines.js';
import { openClient, type AccessFlags } from '../job/open-client.js';
import { questionOf, type QuestionFlags } from '../job/question-flags.js';
import { renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';

export interface PlacesFlags
  extends AccessFlags, QuestionFlags, CsvFlags, Omit<PlacesQuery, 'camera_pattern'> {
  cameraPattern?: string;
}

export async function listPlaces(flags: PlacesFlags, terminal: Terminal): Promise<void> {
  const client = openClient(flags);
  const { watch, tag, from, to, camera, cameraPattern, region, occupied } = flags;
  const hours = { watch, tag, from, to };
  const scope = { ...hours, camera, camera_pattern: cameraPattern, region, occupied };
  const asked = { question: questionOf(flags) };
  const calls = {
    file: () => client.placesCsv(scope, asked),
    answer: () => client.places(scope, asked),
  };
  await printAnswer(calls, placeLines, flags, terminal);
}

const HEAD = [
  ...['CAMERA', 'PLACE', 'REGIONS', 'CLASS', 'STAYS', 'SINCE', 'LAST SEEN', 'OCCUPIED'],
  ...['DISMISSED', 'BEST IMAGE'],
];

function placeLines({ places, ...figures }: Places): string[] {
  return [
    ...(places.length === 0 ? ['No places.'] : renderTable([HEAD, ...places.map(rowOf)])),
    ...leftOutLines(figures, 'no place is found in them'),
  ];
}

/** Times are those of the last stay. */
function rowOf(place: Places['places'][number]): string[] {
  const { stays, older_stays: older, regions, best_image: best } = place;
  const last = stays.at(-1);
  return [
    place.camera ?? '-',
    String(place.place),
    regions.length === 0 ? '-' : regions.join(', '),
    place.class,
    String(stays.length + older),
    last?.since ?? '-',
    last?.last_seen ?? '-',
    place.occupied ? 'yes' : 'no',
    place.dismissal === null ? 'no' : 'yes',
    best?.image_path ?? '-',
  ];
}
