/** Writes what a command makes to the place that the user names. */
import { outputPlace, writeToPlace, type OutputPlace } from '../base/output-place.js';
import { isPathError } from '../base/path-fault.js';
import { userPathError, type Terminal } from './terminal.js';

export const OUTPUT_FLAG = '-o, --output <file>';

type Pieces = Parameters<typeof writeToPlace>[1];

/**
 * Writes to the named file, or without a name to standard output. Rejects with the error of `onUserPath` where it
 * cannot be written, before it takes the first piece.
 */
export async function writeOutput(
  pieces: Pieces,
  output: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const place = await placeOf(output ?? '-');
  if (place.kind === 'standard output') {
    for await (const piece of pieces) await terminal.write(piece);
  } else await writeFileTo(place, pieces, output ?? '');
}

/** Rejects as `onUserPath`. */
export async function placeOf(output: string): Promise<OutputPlace> {
  return outputPlace(output).catch((error: unknown) => {
    throw userPathError(error, output, 'write');
  });
}

/** `named`: as the user has written it. Rejects as `onUserPath`, or with the error of a piece. */
export async function writeFileTo(
  place: Parameters<typeof writeToPlace>[0],
  pieces: Pieces,
  named = place.path,
): Promise<void> {
  await writeToPlace(place, pieces).catch((error: unknown) => {
    throw isSystemError(error) ? userPathError(error, named, 'write') : error;
  });
}

/** Writing to a file that is open names no path. */
function isSystemError(error: unknown): boolean {
  if (isPathError(error)) return true;
  return error instanceof Error && 'syscall' in error && error.syscall === 'write';
}
