/** A field per option, made of its row. */
import { OPTION_KINDS } from '../../api/option-kinds.js';
import type { ParameterRow } from '../../api/options.js';
import { imagesOf, tilesOf } from '../../api/tiles.js';

const GRIDS = ['2x2', '3x3', '4x4'];

interface OptionFieldsProps {
  rows: readonly ParameterRow[];
  /** Absent: the fields begin empty and keep what is written. */
  textOf?: (name: string) => string;
  onChange?: (name: string, text: string) => void;
}

export function OptionFields({ rows, textOf, onChange }: OptionFieldsProps) {
  return (
    <>
      {rows.map((row) => (
        <label key={row.name} class="field" title={row.text}>
          <span>{row.label}</span>
          <OptionField
            row={row}
            text={textOf?.(row.wireName)}
            onChange={(text) => onChange?.(row.wireName, text)}
          />
        </label>
      ))}
    </>
  );
}

interface OptionFieldProps {
  row: ParameterRow;
  text: string | undefined;
  onChange: (text: string) => void;
}

function OptionField({ row, text, onChange }: OptionFieldProps) {
  const { wireName, kind } = row;
  const { choices, example } = OPTION_KINDS[kind];
  const onText = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    onChange(currentTarget.value);
  if (kind === 'tiles') {
    return (
      <select name={wireName} value={text} onChange={onText}>
        <TileChoices chosen={text ?? ''} />
      </select>
    );
  }
  if (choices !== undefined) {
    return (
      <select name={wireName} value={text} onChange={onText}>
        {choices.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      name={wireName}
      value={text}
      spellcheck={false}
      autocomplete="off"
      placeholder={example ?? (typeof row.default === 'number' ? String(row.default) : '')}
      onChange={onText}
    />
  );
}

/** The empty text stands for none; `chosen` may be one that is not offered. */
export function TileChoices({ chosen }: { chosen: string }) {
  const isOffered = ['', 'off', 'auto', ...GRIDS].includes(chosen);
  return (
    <>
      <option value="">No tiles</option>
      <option value="auto">Tiles by size</option>
      {(isOffered ? GRIDS : [...GRIDS, chosen]).map((text) => (
        <option key={text} value={text}>
          {`${text.replace('x', ' × ')} tiles: as ${imagesOf(tilesOf(text) ?? 'off') ?? 'several'} pictures`}
        </option>
      ))}
    </>
  );
}
