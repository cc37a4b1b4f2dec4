/** Cameras that the names of files tell: `{camera}_*.jpg` finds `gate` in `gate_20251126.jpg`. */

const CAMERA = '{camera}';

/** Why a text is no pattern; null: it is one. */
export function cameraPatternFault(text: string): string | null {
  if (text.includes('/'))
    return 'camera_pattern is of the name of a file, without its folder: it has no /.';
  if (text.split(CAMERA).length !== 2) {
    return `camera_pattern has ${CAMERA} once, for the part of the name that says the camera: ${CAMERA}_*.jpg.`;
  }
  return text.includes(`*${CAMERA}`) || text.includes(`${CAMERA}*`)
    ? `camera_pattern has a text between ${CAMERA} and *: ${CAMERA}_*.jpg.`
    : null;
}

/**
 * The part of a name that the pattern gives to the camera; null: the name does not fit. From left to right `*` takes as
 * few characters as it can, and the camera too, but at least one. A part that fits is not looked at again.
 */
export function cameraPattern(text: string): (name: string) => string | null {
  const [before = '', after = ''] = text.split(CAMERA);
  const camera = before.split('*').length;
  const literals = [...before.split('*'), ...after.split('*')];
  const first = literals[0] ?? '';
  const last = literals.at(-1) ?? '';
  return (name) => {
    const end = name.length - last.length;
    if (!name.startsWith(first) || !name.endsWith(last)) return null;
    let from = first.length;
    let found = '';
    for (const [at, literal] of literals.entries()) {
      if (at === 0) continue;
      const least = at === camera ? from + 1 : from;
      const to = at === literals.length - 1 ? end : name.indexOf(literal, least);
      if (to < least || to + literal.length > name.length) return null;
      if (at === camera) found = name.slice(from, to);
      from = to + literal.length;
    }
    return found;
  };
}
