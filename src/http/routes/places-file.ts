/** The CSV file of `GET /v1/places`: a line for each stay in a place. */
import type { HideFolders } from '../../answers/shown-problem.js';
import { namesText } from '../../export/box-columns.js';
import { cell } from '../../export/csv.js';
import { textOf } from '../../store/cameras/camera-pictures.js';
import type { PlaceRow } from '../../store/cameras/place-rows.js';
import type { CsvFile } from '../answer/csv.js';

const COLUMNS =
  'camera,place,regions,class,since,last_seen,duration_s,goes_on,images,job_id,index,best_image';
const LINES_PER_PIECE = 500;

/** `scope`: the name of the watch, or what else the places are of. */
export const placesFile = (
  places: readonly PlaceRow[],
  scope: string,
  hide: HideFolders,
): CsvFile => ({ name: `${scope}.places.csv`, lines: linesOf(places, hide) });

// eslint-disable-next-line @typescript-eslint/require-await -- as the files that are read while they are sent
async function* linesOf(
  places: readonly PlaceRow[],
  hide: HideFolders,
): AsyncGenerator<string, void> {
  const lines = places.flatMap((place) => stayLines(place, hide));
  yield `${COLUMNS}\r\n`;
  for (let at = 0; at < lines.length; at += LINES_PER_PIECE) {
    yield lines.slice(at, at + LINES_PER_PIECE).join('');
  }
}

/** The best image is that of the place: a stay has none of its own. */
function stayLines(
  { camera, place, regions, best, stays, isOccupied, image }: PlaceRow,
  hide: HideFolders,
): string[] {
  const named = [
    camera === null ? '' : hide(camera),
    String(place),
    namesText(regions),
    best.class,
  ];
  const { jobId = '', index = '', path } = image ?? {};
  return stays.map(({ since, lastSeen, seen }, at) => {
    const cells = [
      ...named.map(cell),
      ...[textOf(since), textOf(lastSeen), lastSeen - since],
      ...[isOccupied && at === stays.length - 1, seen],
      ...[jobId, index, cell(path === undefined ? '' : hide(path))],
    ];
    return `${cells.join(',')}\r\n`;
  });
}
