/** How well two models agree, as lines of a terminal. */
import type { AgreementRow, PictureAgreement } from '../../boxes/agreement.js';
import { renderTable } from '../output-text.js';

const COLUMNS = ['FIRST', 'SECOND', 'MATCHED', 'FLIPPED', 'LOST', 'GAINED', 'SCORE'];

interface ShownAgreement {
  all: AgreementRow;
  byClass: readonly AgreementRow[];
  bySize: readonly AgreementRow[];
  least: readonly PictureAgreement[];
}

/** The boxes by class and size, then the pictures that agree least. */
export function agreementLines({ all, byClass, bySize, least }: ShownAgreement): string[] {
  return [
    ...renderTable([
      ['BOXES', ...COLUMNS],
      cellsOf('all', all),
      ...byClass.map((row) => cellsOf(row.of ?? '', row)),
      ...bySize.map((row) => cellsOf(row.of ?? '', row)),
    ]),
    ...(least.length === 0 ? [] : ['', 'Pictures that agree least:']),
    ...renderTable(
      least.map(({ picture, share: agreed, lost, gained, flipped }) => [
        picture,
        sharePercent(agreed),
        `${lost} lost, ${gained} gained, ${flipped} flipped`,
      ]),
    ),
  ];
}

function cellsOf(name: string, row: AgreementRow): string[] {
  const { first, second, matched, flipped, lost, gained, scoreShift } = row;
  const shift = scoreShift === null ? '' : `${scoreShift < 0 ? '' : '+'}${scoreShift.toFixed(3)}`;
  return [name, ...[first, second, matched, flipped, lost, gained].map(String), shift];
}

export const sharePercent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** The text of the share, without a full stop. `kind`: the boxes that count, as words after the number. */
export function shareText(
  pictures: number,
  share: number,
  { first, second }: Pick<AgreementRow, 'first' | 'second'>,
  kind = '',
): string {
  if (first + second === 0) return `On ${pictures} pictures neither has a box`;
  return `On ${pictures} pictures ${sharePercent(share)} of the boxes${kind} agree`;
}
