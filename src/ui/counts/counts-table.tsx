/** The numbers of the chart as a table, with their sums. */
import { Foreign } from '../parts/foreign.js';
import { grouped } from '../text/format.js';
import { GROUPINGS, type CountsGrouping } from './counts-choice.js';
import {
  boxesOf,
  classesOf,
  pairsOf,
  rowBoxes,
  type CountRow,
  type ShownRows,
} from './count-rows.js';

const TITLES = Object.fromEntries(GROUPINGS) as Record<CountsGrouping, string>;

const hasTimes = (by: ShownRows['rows']['by']): by is 'hour' | 'day' =>
  by === 'hour' || by === 'day';

export function CountsTable(props: ShownRows) {
  const { rows, others } = props;
  if (rows.rows.length + (others?.rows.length ?? 0) === 0 && rows.untimed === null) return null;
  const isTime = hasTimes(rows.by);
  return (
    <section class="card">
      <h2>Numbers</h2>
      {isTime && <p class="fine">{TITLES[rows.by]}s without images have no row.</p>}
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of the numbers">
        {others === null ? <OneTable {...props} /> : <PairTable {...props} others={others} />}
      </div>
    </section>
  );
}

function OneTable({ shown, rows: { by, rows, untimed }, hidden }: ShownRows) {
  const { total } = shown.counts;
  const hasImages = by !== 'class' && by !== 'region';
  const names = by === 'class' ? [] : classesOf(shown).filter(({ name }) => !hidden.has(name));
  const listed = [...rows, ...(untimed === null ? [] : [untimed])].filter(
    ({ classes }) => classes !== null,
  );
  return (
    <table class={hasTimes(by) ? 'counts-table timed' : 'counts-table'}>
      <thead>
        <tr>
          <th scope="col">{TITLES[by]}</th>
          {hasImages && ['Images', 'Without boxes', 'Failed'].map(column)}
          {column('Boxes')}
          {names.map(({ name }) => (
            <th key={name} scope="col">
              <Foreign text={name} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {listed.map(({ name, images, classes }) => (
          <tr key={name}>
            <RowHead name={name} />
            {images &&
              [images.images, images.empty_images, images.failed_images].map((count, at) => (
                <td key={at}>{grouped(count)}</td>
              ))}
            <td>{grouped(boxesOf(classes ?? {}, hidden))}</td>
            {names.map((each) => (
              <td key={each.name}>{grouped(classes?.[each.name] ?? 0)}</td>
            ))}
          </tr>
        ))}
      </tbody>
      {by !== 'region' && (
        <tfoot>
          <tr>
            <RowHead name="All" />
            {hasImages &&
              [total.images, total.empty_images, total.failed_images].map((count, at) => (
                <td key={at}>{grouped(count)}</td>
              ))}
            <td>{grouped(boxesOf(total.class_counts, hidden))}</td>
            {names.map(({ name }) => (
              <td key={name}>{grouped(total.class_counts[name] ?? 0)}</td>
            ))}
          </tr>
        </tfoot>
      )}
    </table>
  );
}

const column = (title: string) => (
  <th key={title} scope="col">
    {title}
  </th>
);

const RowHead = ({ name }: { name: string }) => (
  <th scope="row">
    <Foreign text={name} />
  </th>
);

type PairTableProps = ShownRows & { others: NonNullable<ShownRows['others']> };

function PairTable({ shown: { counts, other }, rows, others, hidden }: PairTableProps) {
  const isTime = hasTimes(rows.by);
  const untimed = { row: rows.untimed, other: others.untimed };
  const pairs = [...pairsOf(rows.rows, others.rows), untimed].filter(
    ({ row, other: second }) => row?.classes ?? second?.classes,
  );
  const [count, before] = [counts, other].map((each) =>
    each === null ? null : boxesOf(each.total.class_counts, hidden),
  );
  return (
    <table class={isTime ? 'counts-table timed' : 'counts-table'}>
      <thead>
        <tr>
          <th scope="col">{TITLES[rows.by]}</th>
          {column('Boxes')}
          {isTime && <th scope="col">{TITLES[rows.by]} of the other range</th>}
          {column('Boxes of the other range')}
          {column('Difference')}
        </tr>
      </thead>
      <tbody>
        {pairs.map(({ row, other: second }) => (
          <tr key={`${row?.name ?? ''} ${second?.name ?? ''}`}>
            <RowHead name={(isTime ? row?.name : (row?.name ?? second?.name)) ?? ''} />
            <td>{numberText(row, hidden)}</td>
            {isTime && <td class="time">{second?.name}</td>}
            <td>{numberText(second, hidden)}</td>
            <td>{changeText(rowBoxes(row, hidden), rowBoxes(second, hidden))}</td>
          </tr>
        ))}
      </tbody>
      {rows.by !== 'region' && (
        <tfoot>
          <tr>
            <RowHead name="All" />
            <td>{grouped(count ?? 0)}</td>
            {isTime && <td />}
            <td>{grouped(before ?? 0)}</td>
            <td>{changeText(count ?? null, before ?? null)}</td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function numberText(row: CountRow | null, hidden: ReadonlySet<string>): string {
  const count = rowBoxes(row, hidden);
  return count === null ? 'no images' : grouped(count);
}

/** Nothing where one of them is not known. */
function changeText(count: number | null, before: number | null): string {
  if (count === null || before === null) return '';
  const change = count - before;
  return `${change > 0 ? '+' : change < 0 ? '−' : ''}${grouped(Math.abs(change))}`;
}
