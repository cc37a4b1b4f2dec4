/**
 * Kinds of values that options have: which text stands for a value, in a query, a form, a flag and a field of the page,
 * and how the page shows it. The schemas of `option-schemas.ts` bound the values, `cli/flag-kinds.ts` has what only
 * flags need. Plain data, safe for browsers.
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

/** Two digits: a small share is not 0. */
const percent = (share: number): string => `${Number((share * 100).toPrecision(2))} %`;

export const OPTION_KINDS: { readonly [Kind in keyof KindValues]: OptionKind<KindValues[Kind]> } = {
  fraction: {
    read: numberOf,
    shown: percent,
  },
  count: {
    read: numberOf,
    shown: String,
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
    example: 'pixels, or a share up to 1',
  },
  fractions: {
    read: namedNumbers,
    shown: (shares) =>
      Object.entries(shares)
        .map(([name, share]) => `${name} ${percent(share)}`)
        .join(', ') || 'none',
    example: 'truck:0.6, car:0.25',
  },
  tiles: {
    read: (text) => tilesOf(text) ?? jsonObject(text),
    shown: tilesText,
  },
  regions: {
    read: (text) => jsonList(text.trim()),
    shown: (regions) => {
      if (regions === null) return 'those of the view';
      return regions.map(({ name }) => name).join(', ') || 'none';
    },
  },
  view: {
    read: (text) => text,
    shown: (name) => name ?? 'by the path of the image',
  },
};

/** The value of a text for an option of this kind, or the text: who checks the request says what is wrong with it. */
export const readOption = (kind: keyof KindValues, text: string): unknown =>
  OPTION_KINDS[kind].read(text) ?? text;

/** For code that learns the kind only at run time: the type of the value is unknown. */
export type AnyKind = OptionKind<unknown>;

/** A value of an option as the page shows it. */
export const shownOption = (kind: keyof KindValues, value: unknown): string =>
  (OPTION_KINDS[kind] as AnyKind).shown(value);
