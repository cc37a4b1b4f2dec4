/** The options of the shown detection that have no control of their own; the address has their texts. */
import { address } from '../address/location.js';
import { OptionFields } from '../options/option-fields.js';
import { WRITTEN_ROWS } from '../options/written-options.js';
import { choose } from './detection.js';

export const MORE_ROWS = WRITTEN_ROWS.filter(({ name }) => name !== 'tiles');

/** Empties these options in the address. */
export const noMore = Object.fromEntries(MORE_ROWS.map(({ wireName }) => [wireName, '']));

export function MoreOptions() {
  const { query } = address.value;
  const given = MORE_ROWS.filter(({ wireName }) => (query[wireName] ?? '') !== '').length;
  return (
    <details class="more-options">
      <summary>{given === 0 ? 'More options' : `More options: ${given} set`}</summary>
      <div class="option-fields">
        <OptionFields
          rows={MORE_ROWS}
          textOf={(name) => query[name] ?? ''}
          onChange={(name, text) => choose({ [name]: text.trim() })}
        />
      </div>
    </details>
  );
}
