/** A field of the form of jobs, made of its row. */
import type { FieldRow } from '../../api/submission-fields.js';

export function RowField({ row }: { row: FieldRow }) {
  const { kind, wireName: name, label } = row;
  if (kind === 'switch') {
    return (
      <label class="check">
        <input name={name} type="checkbox" /> {label}
      </label>
    );
  }
  return (
    <label class="field">
      <span>{label}</span>
      {kind === 'number' && (
        <input
          name={name}
          type="number"
          min="0"
          max={row.most}
          step="1"
          value={row.default}
          required
        />
      )}
      {kind === 'address' && <input name={name} type="url" placeholder={row.example} />}
      {kind === 'choice' && (
        <select name={name}>
          {row.values.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
    </label>
  );
}
