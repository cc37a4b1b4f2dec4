/**
 * Kinds of values that options have: which text stands for a value, in a query, a form, a flag and a field of the page,
 * and how the page shows it. The schemas of `option-schemas.ts` bound the values. Plain data, safe for browsers.
 */
import { jsonList, jsonObject, namedNumbers } from '../base/text-list.js';
import type { Region } from './region-rules.js';
import { tilesOf, tilesText, type Tiles } from './tiles.js';

export interface KindValues {
  fraction: number;
  count: number;
  switch: boolean | null;
  size: number;
  fractions: Readonly<Record<string, number>>;
  tiles: Tiles;
  regions: readonly Region[] | null;
  view: string | null;
}

/** The part of a row that depends on its kind. */
export type ParameterKind =
  /** A number from 0 to 1. */
  | { kind: 'fraction'; default: number }
  /** A whole number from 1. */
  | { kind: 'count'; most: number; default: number }
  /** Null: other options decide. */
  | { kind: 'switch'; default: null }
  /**
   * Length of the longer side of boxes: above 1 in pixels, up to 1 as a fraction of the longer side of the image. 0: no
   * limit.
   */
  | { kind: 'size'; default: 0 }
  /** Numbers from 0 to 1 by the names of classes of the model. */
  | { kind: 'fractions'; default: Readonly<Record<string, number>> }
  | { kind: 'tiles'; default: 'off' }
  /** Null: the regions of the view count. */
  | { kind: 'regions'; default: null }
  /** Name of a view. Null: the path of the image decides. Workers get the regions of the view and not its name. */
  | { kind: 'view'; default: null };

interface OptionKind<Value> {
  /** Reads the value of a text. Null: the text stands for no value. */
  read: (text: string) => unknown;
  /** The text of a value on the page. */
  shown(value: Value): string;
  /** Text after the flag in the help of the CLI. Absent: the flag has no value, and has an opposite. */
  placeholder?: string;
  /** The CLI also takes the name of a file with the text. */
  inFile?: true;
  /** The end of the CLI's refusal of another text, after its name and the accepted values. */
  rule?: { text: (most?: number) => string; holds(value: Value, most?: number): boolean };
  /** Text that an empty field of the page shows. */
  example?: string;
  /** Choices that the page offers in place of a field. */
  choices?: readonly (readonly [text: string, name: string])[];
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

export function numberOf(text: string): number | null {
  return NUMBER.test(text.trim()) ? Number(text) : null;
}

/** The words for a switch that is written as text, in options and in settings. */
export const TRUE_WORDS = ['true', '1', 'yes', 'on', 'y', 'enabled'];
export const FALSE_WORDS = ['false', '0', 'no', 'off', 'n', 'disabled'];

export function truthOf(text: string): boolean | null {
  const word = text.trim().toLowerCase();
  if (TRUE_WORDS.includes(word)) return true;
  return FALSE_WORDS.includes(word) ? false : null;
}

const isFraction = (value: number): boolean => value >= 0 && value <= 1;
/** Two digits: a small share is not 0. */
const percent = (share: number): string => `${Number((share * 100).toPrecision(2))} %`;

export const OPTION_KINDS: { readonly [Kind in keyof KindValues]: OptionKind<KindValues[Kind]> } = {
  fraction: {
    read: numberOf,
    shown: percent,
    placeholder: '<number>',
    rule: { text: () => 'must be a number from 0 to 1', holds: isFraction },
  },
  count: {
    read: numberOf,
    shown: String,
    placeholder: '<number>',
    rule: {
      text: (most) => `must be a whole number from 1 to ${most}`,
      holds: (value, most = Infinity) => Number.isInteger(value) && value >= 1 && value <= most,
    },
  },
  switch: {
    read: truthOf,
    shown: (value) => (value === null ? 'where no classes are named' : value ? 'yes' : 'no'),
    choices: [
      ['', 'where no classes are named'],
      ['true', 'yes'],
      ['false', 'no'],
    ],
  },
  size: {
    read: numberOf,
    shown: (size) => {
      if (size === 0) return 'any size';
      return size <= 1 ? `${percent(size)} of the longer side` : `${size} pixels`;
    },
    placeholder: '<number>',
    rule: { text: () => 'must be 0 or a larger number', holds: (value) => value >= 0 },
    example: 'pixels, or a share up to 1',
  },
  fractions: {
    read: namedNumbers,
    shown: (shares) =>
      Object.entries(shares)
        .map(([name, share]) => `${name} ${percent(share)}`)
        .join(', ') || 'none',
    placeholder: '<class:number,...>',
    rule: {
      text: () => 'takes a list such as car:0.4,truck:0.6, with numbers from 0 to 1',
      holds: (shares) => Object.values(shares).every(isFraction),
    },
    example: 'truck:0.6, car:0.25',
  },
  tiles: {
    read: (text) => tilesOf(text) ?? jsonObject(text),
    shown: tilesText,
    placeholder: '<auto|3x2|640>',
    rule: {
      text: () => 'takes off, auto, a grid such as 3x2, or a size such as 640',
      holds: (tiles) => tiles === 'off' || tiles === 'auto' || typeof tiles === 'object',
    },
  },
  regions: {
    read: (text) => jsonList(text.trim()),
    shown: (regions) => {
      if (regions === null) return 'those of the view';
      return regions.map(({ name }) => name).join(', ') || 'none';
    },
    placeholder: '<file or JSON>',
    inFile: true,
    // The code that uses the regions checks them.
    rule: { text: () => 'is no JSON list of regions', holds: () => true },
  },
  view: {
    read: (text) => text,
    shown: (name) => name ?? 'by the path of the image',
    placeholder: '<name>',
  },
};

/** The value of a text for an option of this kind, or the text: who checks the request says what is wrong with it. */
export const readOption = (kind: keyof KindValues, text: string): unknown =>
  OPTION_KINDS[kind].read(text) ?? text;

/** A kind whose values are not told apart. */
export type AnyKind = OptionKind<unknown>;

/** A value of an option as the page shows it. */
export const shownOption = (kind: keyof KindValues, value: unknown): string =>
  (OPTION_KINDS[kind] as AnyKind).shown(value);
