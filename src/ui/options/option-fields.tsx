/** A field per option, made of its row. */
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
  const onText = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    onChange(currentTarget.value);
  if (kind === 'tiles') {
    return (
      <select name={wireName} value={text} onChange={onText}>
        <TileChoices chosen={text ?? ''} />
      </select>
    );
  }
  if (kind === 'switch') {
    return (
      <select name={wireName} value={text} onChange={onText}>
        <option value="">where no classes are named</option>
        <option value="true">yes</option>
        <option value="false">no</option>
      </select>
    );
  }
  return (
    <input
      name={wireName}
      value={text}
      spellcheck={false}
      autocomplete="off"
      placeholder={placeholderOf(row)}
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

function placeholderOf(row: ParameterRow): string {
  if (row.kind === 'fractions') return 'truck:0.6, car:0.25';
  if (row.kind === 'size') return 'pixels, or a share up to 1';
  return String(row.default ?? '');
}
