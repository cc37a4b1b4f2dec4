import { visible } from '../text/format.js';
import { viewNamed, views } from './views.js';

interface ViewSelectProps {
  /** Label of the select, where no label stands beside it. */
  label?: string;
  /** Name of the field in a form. */
  name?: string;
  /** The chosen view. Absent in a form, which keeps it itself. */
  value?: string;
  /** The shown regions were drawn, and are in no view. */
  isDrawn?: boolean;
  /** The choice of no view. */
  none?: string;
  onPick?: (name: string) => void;
}

const DRAWN = '*';

/** The stored views; nothing where there are none. */
export function ViewSelect(props: ViewSelectProps) {
  const { label, name, value, isDrawn = false, none = 'View by the path', onPick } = props;
  const names = (views.value ?? []).map((each) => each.name);
  const isUnknown = value !== undefined && value !== '' && viewNamed(value) === undefined;
  if (names.length === 0 && !isUnknown && !isDrawn) return null;
  return (
    <select
      aria-label={label}
      name={name}
      {...(value !== undefined && { value: isDrawn ? DRAWN : value })}
      title="A view is a list of regions that the service has stored: they are counted by themselves"
      onChange={({ currentTarget }) => onPick?.(currentTarget.value)}
    >
      {isDrawn && <option value={DRAWN}>Regions as drawn</option>}
      <option value="">{none}</option>
      {isUnknown && <option>{value}</option>}
      {names.map((each) => (
        <option key={each} value={each}>
          {`View ${visible(each)}`}
        </option>
      ))}
    </select>
  );
}
