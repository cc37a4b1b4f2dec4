/** The classes of a job in figures: each is asked for or not, and a press finds the images that have it. */
import { classColour } from '../../overlay/class-colour.js';
import { setQuery } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Foreign } from '../parts/foreign.js';
import { Swatch } from '../picture/class-chips.js';
import { grouped, plural, visible } from '../text/format.js';
import { withClass, type ImageFilter } from './image-filter.js';
import type { ClassChoice } from './question.js';
import type { QuestionChoice } from './question-choice.js';

/** More classes than this are behind a button: a model may have hundreds. */
const CLASSES_SHOWN = 8;

type Listed = ClassChoice['listed'];

interface ClassListProps {
  filter: ImageFilter;
  choice: QuestionChoice;
}

export function ClassList({ filter, choice }: ClassListProps) {
  const { listed, others } = choice.classes.value ?? { listed: [], others: [] };
  const most = Math.max(1, ...listed.map(({ boxes }) => boxes));
  const rows = (classes: Listed) => (
    <ul class="class-bars">
      {classes.map((row) => (
        <ClassRow key={row.name} row={row} most={most} filter={filter} choice={choice} />
      ))}
    </ul>
  );
  const rest = listed.slice(CLASSES_SHOWN);
  return (
    <>
      {listed.length === 0 ? (
        <p class="fine">No boxes so far.</p>
      ) : (
        rows(listed.slice(0, CLASSES_SHOWN))
      )}
      {rest.length > 0 && (
        <details>
          <summary>{plural(rest.length, 'more class', 'more classes')}</summary>
          {rows(rest)}
        </details>
      )}
      <AddClass names={others} choice={choice} />
    </>
  );
}

interface ClassRowProps extends ClassListProps {
  row: Listed[number];
  /** Boxes of the class that has most. */
  most: number;
}

function ClassRow({ row: { name, boxes, isAsked, isFixed }, most, filter, choice }: ClassRowProps) {
  return (
    <li class="class-row">
      <label class="check" title="Count boxes of this class">
        <input
          type="checkbox"
          aria-label={`Count boxes of ${visible(name)}`}
          checked={isAsked}
          disabled={isFixed}
          onChange={() => choice.toggleClass(name)}
        />
      </label>
      <Button
        class="class-bar"
        title="Show the images with this class"
        aria-pressed={filter.classes.includes(name)}
        onClick={() => setQuery(withClass(filter, name))}
      >
        <Swatch name={name} />
        <span class="class-name">
          <Foreign text={name} />
        </span>
        <b>{grouped(boxes)}</b>
        <svg class="bar-line" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect width={(100 * boxes) / most} height="4" fill={classColour(name).colour} />
        </svg>
      </Button>
    </li>
  );
}

/** Classes of the model that the job did not ask for. */
export function AddClass({
  names,
  choice,
}: {
  names: readonly string[];
  choice: Pick<QuestionChoice, 'toggleClass'>;
}) {
  if (names.length === 0) return null;
  return (
    <select
      class="add-class"
      aria-label="Add a class"
      value=""
      onChange={({ currentTarget }) => {
        choice.toggleClass(currentTarget.value);
        currentTarget.value = '';
      }}
    >
      <option value="">Add a class</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {visible(name)}
        </option>
      ))}
    </select>
  );
}
