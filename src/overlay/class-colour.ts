/** The colour of a class: the live page and drawn copies show the same one. */

export interface ClassColour {
  /** `#rrggbb`, for lines and for the ground of labels. */
  colour: string;
  /** Text on that ground, at a contrast of at least 4.5. */
  text: string;
  /** Second mark beside the colour, for classes whose colour is not one of Okabe and Ito's eight. */
  dashed: boolean;
}

/** Drawn beneath a line, so that it stands out on any photo. */
export const CASING = '#111111';

const DARK = '#111111';
const LIGHT = '#ffffff';

/** Okabe and Ito's colours, which people with any colour vision tell apart. */
const FIXED: Readonly<Record<string, string>> = {
  car: '#56B4E9',
  motorcycle: '#D55E00',
  bus: '#009E73',
  truck: '#E69F00',
};
const OTHERS = ['#CC79A7', '#F0E442', '#0072B2'];
const HUES = 13;
/** Neighbours in this order of hues lie far apart. */
const GOLDEN_ANGLE = 137.508;

/**
 * The colour follows from the name in any letter case, so that a class has one colour in every picture and with every
 * model.
 */
export function classColour(className: string): ClassColour {
  const name = className.toLowerCase();
  const hash = hashOf(name) % (OTHERS.length + HUES);
  const fixed = FIXED[name] ?? OTHERS[hash];
  if (fixed !== undefined) return { colour: fixed, text: textOn(fixed), dashed: false };
  const colour = hexOfHue((hash * GOLDEN_ANGLE) % 360);
  return { colour, text: textOn(colour), dashed: true };
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** HSL of that hue, 70 % saturated and 68 % light. */
function hexOfHue(hue: number): string {
  const [saturation, lightness] = [0.7, 0.68];
  const range = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): string => {
    const step = (offset + hue / 30) % 12;
    const value = lightness - range * Math.max(-1, Math.min(step - 3, 9 - step, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

function textOn(ground: string): string {
  return contrast(ground, DARK) >= contrast(ground, LIGHT) ? DARK : LIGHT;
}

/** Ratio of WCAG 2, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
