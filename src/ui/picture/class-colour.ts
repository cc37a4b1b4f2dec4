/** The colour of a class: fixed by its name, so that it is the same in every picture and in the list beside it. */

export interface ClassColour {
  /** `#rrggbb` */
  colour: string;
  /** Text on it. */
  text: string;
  /** Lines of these classes are dashed: colour alone must not tell. */
  dashed: boolean;
}

/** Okabe and Ito's colours, which people with any colour vision tell apart. */
const VEHICLES = new Map([
  ['car', '#56b4e9'],
  ['truck', '#e69f00'],
  ['bus', '#12b886'],
  ['motorcycle', '#f0673a'],
]);
const OTHERS = ['#f0e442', '#cc79a7', '#7aa5ff'];
const DARK = '#111111';
const LIGHT = '#ffffff';
const GOLDEN = 0.618_033_988_75;

const known = new Map<string, ClassColour>();

export function classColour(name: string): ClassColour {
  const found = known.get(name) ?? make(name.toLowerCase());
  known.set(name, found);
  return found;
}

function make(name: string): ClassColour {
  const fixed = VEHICLES.get(name);
  if (fixed !== undefined) return { colour: fixed, text: textOn(fixed), dashed: false };
  const hash = hashOf(name);
  const colour = OTHERS[hash % 8] ?? spread(hash);
  return { colour, text: textOn(colour), dashed: hash % 2 === 1 };
}

/** Light enough for dark text, whatever the hue. */
function spread(hash: number): string {
  const hue = ((hash % 1000) * GOLDEN) % 1;
  const channel = (offset: number): string => {
    const k = (offset + hue * 12) % 12;
    const value = 0.72 - 0.196 * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

function textOn(colour: string): string {
  return contrast(colour, DARK) >= contrast(colour, LIGHT) ? DARK : LIGHT;
}

/** WCAG 2: 1 to 21. */
export function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** FNV-1a */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}
