/** Flags for the kinds of options: the text after each flag, and the values that it takes. */
import type { KindValues } from '../api/option-kinds.js';

export interface FlagKind<Value> {
  /** Text after the flag in the help. Absent: the flag has no value, and has an opposite. */
  placeholder?: string;
  /** The flag also takes the name of a file with the text. */
  inFile?: true;
  /**
   * `holds`: the values that are accepted. `text`: the end of the error message for any other one, after 'It', 'The
   * text' or the name of the file.
   */
  rule?: { text: (most?: number) => string; holds(value: Value, most?: number): boolean };
}

const isFraction = (value: number): boolean => value >= 0 && value <= 1;

export const FLAG_KINDS: { readonly [Kind in keyof KindValues]: FlagKind<KindValues[Kind]> } = {
  fraction: {
    placeholder: '<number>',
    rule: { text: () => 'must be a number from 0 to 1', holds: isFraction },
  },
  count: {
    placeholder: '<number>',
    rule: {
      text: (most) => `must be a whole number from 1 to ${most}`,
      holds: (value, most = Infinity) => Number.isInteger(value) && value >= 1 && value <= most,
    },
  },
  switch: {},
  size: {
    placeholder: '<number>',
    rule: { text: () => 'must be 0 or a larger number', holds: (value) => value >= 0 },
  },
  fractions: {
    placeholder: '<class:number,...>',
    rule: {
      text: () => 'takes a list such as car:0.4,truck:0.6, with numbers from 0 to 1',
      holds: (shares) => Object.values(shares).every(isFraction),
    },
  },
  tiles: {
    placeholder: '<auto|3x2|640>',
    rule: {
      text: () => 'takes off, auto, a grid such as 3x2, or a size such as 640',
      holds: (tiles) => tiles === 'off' || tiles === 'auto' || typeof tiles === 'object',
    },
  },
  regions: {
    placeholder: '<file or JSON>',
    inFile: true,
    // The code that uses the regions checks them.
    rule: { text: () => 'is no JSON list of regions', holds: () => true },
  },
  view: { placeholder: '<name>' },
};
