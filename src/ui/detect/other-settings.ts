/** The other settings that a shown answer can be compared with: each is one field of its request. */
import { DEFAULT_PARAMETERS } from '../../api/options.js';
import { imagesOf, tilesOf, tilesText, type Tiles } from '../../api/tiles.js';
import type { DetectChoice } from './detect-request.js';

export interface Offer {
  group: string;
  /** The field and its value, as the address has them. */
  value: string;
  text: string;
}

const TILES: readonly Tiles[] = [
  'off',
  'auto',
  ...['2x2', '3x3'].flatMap((text) => tilesOf(text) ?? []),
];
const IOUS = [0.3, 0.5, 0.7, 0.9];

interface Setting {
  group: string;
  /** Null: the text is no such value. */
  read: (text: string) => Partial<DetectChoice> | null;
  /** Values that are offered, as texts. */
  values: (models: readonly string[]) => readonly string[];
  /** The value of the shown request; its model is known by the caller. */
  of: (shown: DetectChoice) => string;
  text: (value: string) => string;
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  model: {
    group: 'Model',
    read: (text) => (text === '' ? null : { model: text }),
    values: (models) => models,
    of: ({ model }) => model,
    text: (value) => value,
  },
  tiles: {
    group: 'Tiles',
    read: (text) => {
      const tiles = tilesOf(text);
      return tiles === null ? null : { tiles };
    },
    values: () => TILES.map(tilesText),
    of: ({ tiles = 'off' }) => tilesText(tiles),
    text: tilesName,
  },
  iou_threshold: {
    group: 'Boxes of one class',
    read: (text) => (/^(?:0?\.\d+|0|1)$/.test(text) ? { iou: Number(text) } : null),
    values: () => IOUS.map(String),
    of: ({ iou = DEFAULT_PARAMETERS.iou }) => String(iou),
    text: (value) => `merged above IoU ${value}`,
  },
  merge_classes: {
    group: 'Boxes of different classes',
    read: (text) =>
      text === 'true' || text === 'false' ? { mergeClasses: text === 'true' } : null,
    values: () => ['true', 'false'],
    // A request that names classes merges none by default, one without does.
    of: ({ mergeClasses, classes }) => String(mergeClasses ?? classes.length === 0),
    text: (value) => (value === 'true' ? 'merged: one vehicle, one box' : 'all kept'),
  },
};

/** All but those of the shown request, and the one that the address names. */
export function offersFor(shown: DetectChoice, models: readonly string[], chosen: string): Offer[] {
  return Object.entries(SETTINGS).flatMap(([field, { group, read, values, of, text }]) => {
    const [name, named = ''] = partsOf(chosen);
    const offered = values(models).filter((value) => value !== of(shown));
    const isOther = name === field && read(named) !== null && !offered.includes(named);
    return [...offered, ...(isOther ? [named] : [])].map((value) => ({
      group,
      value: `${field}=${value}`,
      text: text(value),
    }));
  });
}

/** The change of the request that a text of the address stands for; null where it names no setting. */
export function settingOf(text: string): Partial<DetectChoice> | null {
  const [field = '', value = ''] = partsOf(text);
  return Object.hasOwn(SETTINGS, field) ? (SETTINGS[field]?.read(value) ?? null) : null;
}

function partsOf(text: string): string[] {
  const at = text.indexOf('=');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function tilesName(text: string): string {
  if (text === 'off') return 'none';
  if (text === 'auto') return 'by the size of the picture';
  const images = imagesOf(tilesOf(text) ?? 'off');
  return `${text.replace('x', ' × ')}: as ${images ?? 'several'} pictures`;
}
