/** A report of where the boxes of two models on the same pictures agree, and where they do not. */
import { useSignal } from '@preact/signals';
import type { Agreement } from '../../client/records.js';
import { Facts, type Fact } from '../parts/facts.js';
import { Foreign } from '../parts/foreign.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { exactPercent, fileName, grouped, milliseconds } from '../text/format.js';
import { AgreedPicture, type ReadCompared } from './agreed-picture.js';

type Row = Agreement['all'];
type Least = Omit<Agreement['least'][number], 'image' | 'boxes'>;

export interface Report<L extends Least> extends Pick<
  Agreement,
  'share' | 'all' | 'by_class' | 'by_size'
> {
  least: readonly L[];
}

interface ReportProps<L extends Least> {
  report: Report<L>;
  /** Names of the model that answers, or of the first job, and of the other one. */
  names: readonly [string, string];
  /** Mean times of the network in milliseconds. */
  times: readonly [number | null, number | null];
  /** Images that were compared, and those that were not. */
  images: readonly Fact[];
  read: ReadCompared<L>;
}

export function AgreementReport<L extends Least>({
  report,
  names,
  times,
  ...rest
}: ReportProps<L>) {
  const opened = useSignal<L | null>(null);
  const { share, all, by_class, by_size, least } = report;
  const facts: Fact[] = [
    [
      'Boxes that agree',
      all.first + all.second === 0 ? 'no box' : exactPercent(share),
      'Of the boxes of both models: in one place, of one class',
    ],
    ['Score shift', shiftText(all), 'Of the second model against the first, on boxes of both'],
    ...names.map((name, at): Fact => [
      `Time of the ${at === 0 ? 'first' : 'second'}`,
      timeText(times[at] ?? null),
      `Mean of the network of ${name}`,
    ]),
    ...rest.images,
  ];
  return (
    <div class="agreement">
      <Facts facts={facts} />
      <Rows names={names} all={all} rows={[...by_class, ...by_size]} />
      {least.length > 0 && (
        <>
          <p class="panel-title">Pictures that agree least</p>
          <ul class="tiles" aria-label="Pictures that agree least">
            {least.map((each, at) => (
              <li key={`${at} ${each.image_path}`}>
                <button
                  type="button"
                  class="tile"
                  title={each.image_path}
                  onClick={() => (opened.value = each)}
                >
                  <Thumbnail path={each.image_path} alt="" />
                  <span class="tile-name">
                    <Foreign text={fileName(each.image_path)} />
                  </span>
                  <span class="fine">{leastText(each)}</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {opened.value !== null && (
        <AgreedPicture
          picture={opened.value}
          names={names}
          read={rest.read}
          onClose={() => (opened.value = null)}
        />
      )}
    </div>
  );
}

interface RowsProps {
  names: readonly [string, string];
  all: Row;
  rows: Agreement['by_class'];
}

function Rows({ names: [first, second], all, rows }: RowsProps) {
  const shown = [{ ...all, of: 'all' }, ...rows].filter((row) => row.first + row.second > 0);
  if (shown.length === 0) return null;
  return (
    <div
      class="change-figures agreement-rows"
      role="region"
      aria-label="Boxes by class and size"
      tabIndex={0}
    >
      <table>
        <caption class="fine">
          Boxes of <Foreign text={first} /> (first) and <Foreign text={second} /> (second), by class
          and size
        </caption>
        <thead>
          <tr>
            {HEADS.map(([name, title]) => (
              <th key={name} scope="col" title={title}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(
            ({ of, first: one, second: other, matched, flipped, lost, gained, ...row }) => (
              <tr key={of}>
                <th scope="row">
                  <Foreign text={of} />
                </th>
                {[one, other, matched, flipped, lost, gained].map((count, at) => (
                  <td key={at}>{grouped(count)}</td>
                ))}
                <td>{shiftText(row)}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

const HEADS: readonly (readonly [name: string, title: string])[] = [
  ['Boxes', 'A class, or a range of sizes'],
  ['First', 'Boxes of the first model'],
  ['Second', 'Boxes of the second model, by its own classes and sizes'],
  ['Matched', 'Of the first model: in one place with one of the second, whatever their class'],
  ['Flipped', 'Of the matched boxes: of another class'],
  ['Lost', 'Of the first model only'],
  ['Gained', 'Of the second model only'],
  ['Score', 'Mean confidence of the second model less that of the first, of the matched boxes'],
];

function shiftText({ score_shift: shift }: Pick<Row, 'score_shift'>): string {
  if (shift === null) return '';
  const size = Math.abs(shift).toFixed(3);
  if (Number(size) === 0) return '0';
  return `${shift < 0 ? '−' : '+'}${size}`;
}

const timeText = (ms: number | null): string => (ms === null ? 'unknown' : milliseconds(ms));

function leastText({ share, lost, gained, flipped }: Least): string {
  const counts = [
    [lost, 'lost'],
    [gained, 'gained'],
    [flipped, 'flipped'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
  return `${exactPercent(share)}: ${parts.join(', ')}`;
}
