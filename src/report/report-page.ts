/** A report as one page of HTML that loads nothing: pictures are data URLs, and there is no script. */
import { html, raw } from 'hono/html';
import { TIME_SOURCES, type TimeSource } from '../files/wall-time.js';
import type { CountSum } from '../store/count-sum.js';
import type { Report, ReportPicture, ReportRows, ReportSum } from './read-report.js';
import { REPORT_STYLE } from './report-style.js';
import { ALMOST } from './shown-pictures.js';
import { counted, grouped, networkText, percent, timeSpan, universalTime } from './words.js';

/** The page may show what is in it, and nothing else. */
export const REPORT_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Classes that have a column of their own in tables by folder and hour. */
const MOST_CLASS_COLUMNS = 5;

type Html = ReturnType<typeof html>;

/** `version`: that of the service. */
export async function reportPage(report: Report, version: string): Promise<string> {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${REPORT_POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Report: ${report.title}</title>
        <style>
          ${raw(REPORT_STYLE)}
        </style>
      </head>
      <body>
        ${headOf(report)}
        <main>${sectionsOf(report)}</main>
        <footer>
          <p>
            Made by lattice-core ${version}. Times of the ${report.of} are universal time; times of
            images are those of the clock at the camera.
          </p>
        </footer>
      </body>
    </html> `;
  return String(await page);
}

function headOf(report: Report): Html {
  const { of, title, jobId, status, error, images, boxes, imagesPerSecond: rate } = report;
  const figures: [string, string][] = [
    ['Images', grouped(images.all)],
    ['With a result', grouped(images.ok)],
    ['Failed', grouped(images.failed)],
    ['Not run', grouped(images.notRun)],
    ['Boxes', grouped(boxes)],
    ['Images per second', rate === null ? 'not known' : rate.toPrecision(3)],
  ];
  return html`<header>
    <p class="quiet">
      ${of === 'job' ? html`Report of the job <code>${jobId}</code>` : 'Report of a run'}
    </p>
    <h1><bdi>${title}</bdi></h1>
    <p>${whenOf(report)}</p>
    ${report.network === null ? '' : html`<p>${networkText(report.network)}</p>`}
    ${status === 'failed' ? html`<p class="bad">The ${of} failed: ${error ?? ''}</p>` : ''}
    <dl class="figures">
      ${figures.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </header>`;
}

function whenOf({ submittedAt, startedAt, completedAt }: Report): string {
  const submitted = `Submitted ${universalTime(submittedAt)}`;
  if (completedAt === null) return `${submitted}.`;
  const end = `ended ${universalTime(completedAt)}`;
  if (startedAt === null) return `${submitted}, ${end} without a start.`;
  const ran = timeSpan(completedAt - startedAt);
  return `${submitted}, started ${universalTime(startedAt)}, ${end}. It ran for ${ran}.`;
}

function sectionsOf(report: Report): Html[] {
  const { regions, failures, leftOut } = report;
  const classes = report.classes.rows.slice(0, MOST_CLASS_COLUMNS).map(({ name }) => name);
  const note =
    report.dismissed === 0
      ? ''
      : html`<p class="quiet">
          ${counted(report.dismissed, 'box', 'boxes')} over dismissed places
          ${report.dismissed === 1 ? 'is' : 'are'} not counted.
        </p>`;
  return [
    section('Boxes by class', html`${note}${classTable(report)}`),
    ...(regions.rows.length === 0 ? [] : [section('Boxes by region', regionTable(regions))]),
    section('By folder', sumTable(report.folders, { one: 'folder', classes })),
    section(
      'By hour in which the image was taken',
      html`<p class="quiet">${timesText(report.timeSources)}</p>
        ${sumTable(report.hours, { one: 'hour', classes })}`,
    ),
    ...(failures.length === 0 ? [] : [section('Failed images', failureList(failures))]),
    ...(leftOut === '' ? [] : [section(`Not in the ${report.of}`, html`<p>${leftOut}.</p>`)]),
    ...pictureSections(report),
    section('Settings', facts(report.settings)),
    section('Model', modelTable(report.models)),
  ];
}

/** How the time of each source is known. */
const KNOWN_BY: Readonly<Record<TimeSource, string>> = {
  exif: 'the time that the camera wrote into the file',
  name: 'the time in the name',
  file: 'the time of the last change of the file, which may be that of a copy',
};

function timesText(sources: Report['timeSources']): string {
  const known = TIME_SOURCES.flatMap((source) => {
    const images = sources[source] ?? 0;
    return images === 0 ? [] : [`${counted(images, 'image')}: ${KNOWN_BY[source]}`];
  });
  return known.length === 0 ? '' : `${known.join('; ')}.`;
}

function section(title: string, content: Html): Html {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${content}
  </section>`;
}

function facts(rows: readonly [string, string][]): Html {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd><bdi>${value}</bdi></dd>`,
    )}
  </dl>`;
}

interface Cells {
  /** Names of columns; those after the first have numbers. */
  header: readonly string[];
  rows: readonly (readonly [string, ...number[]])[];
  /** The last row: the sum of the others that are not shown. */
  rest?: readonly [string, ...number[]] | null;
}

const NONE = html`<p class="quiet">None.</p>`;

/** A table that scrolls by itself where it is wider than the page. */
function table(label: string, { header, rows, rest = null }: Cells): Html {
  if (rows.length === 0) return NONE;
  const line = ([name, ...numbers]: readonly [string, ...number[]]) =>
    html`<tr>
      <th scope="row"><bdi>${name}</bdi></th>
      ${numbers.map((number) => html`<td class="number">${grouped(number)}</td>`)}
    </tr>`;
  return html`<div class="rows" role="region" aria-label="${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${header.map(
            (name, at) =>
              html`<th scope="col" class="${at === 0 ? '' : 'number'}"><bdi>${name}</bdi></th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(line)}
      </tbody>
      ${
        rest === null
          ? ''
          : html`<tfoot>
              ${line(rest)}
            </tfoot>`
      }
    </table>
  </div>`;
}

function classTable({ classes: { rows, rest }, boxes: all }: Report): Html {
  if (rows.length === 0) return html`<p class="quiet">No box was found.</p>`;
  const most = Math.max(...rows.map(({ boxes }) => boxes));
  const bar = (boxes: number) => `width:${((100 * boxes) / most).toFixed(1)}%`;
  const lines = rows.map(
    ({ name, boxes }) =>
      html`<tr>
        <th scope="row"><bdi>${name}</bdi></th>
        <td class="number">${grouped(boxes)}</td>
        <td class="number">${percent(boxes / all)}</td>
        <td class="bar" aria-hidden="true"><span style="${bar(boxes)}"></span></td>
      </tr>`,
  );
  const others =
    rest === null
      ? ''
      : html`<tr>
          <th scope="row">${counted(rest.count, 'more class', 'more classes')}</th>
          <td class="number">${grouped(rest.sum)}</td>
          <td class="number">${percent(rest.sum / all)}</td>
          <td></td>
        </tr>`;
  return html`<div class="rows" role="region" aria-label="Table of classes" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Class</th>
          <th scope="col" class="number">Boxes</th>
          <th scope="col" class="number">Share</th>
          <td></td>
        </tr>
      </thead>
      <tbody>
        ${lines}${others}
      </tbody>
    </table>
  </div>`;
}

function regionTable({ rows, rest }: Report['regions']): Html {
  return table('Table of regions', {
    header: ['Region and class', 'Boxes'],
    rows: rows.map(({ region, name, boxes }) => [`${region}: ${name}`, boxes]),
    rest: rest && [`${rest.count} more`, rest.sum],
  });
}

function sumTable(
  { rows, rest }: ReportRows<ReportSum, CountSum>,
  { one, classes }: { one: 'folder' | 'hour'; classes: readonly string[] },
): Html {
  const line = (name: string, sum: CountSum): [string, ...number[]] => [
    name,
    ...[sum.detections, sum.images, sum.failed, sum.empty],
    ...classes.map((each) => sum.classes.get(each) ?? 0),
  ];
  const folderName = (name: string) => (/^\.?$/.test(name) ? 'The image folder itself' : name);
  const hourName = (name: string | null) => name?.replace('T', ' ') ?? 'Not known';
  const named = (name: string | null) =>
    one === 'folder' ? folderName(name ?? '') : hourName(name);
  return table(`Table of ${one}s`, {
    header: [capital(one), 'Boxes', 'Images', 'Failed', 'Empty', ...classes],
    rows: rows.map(({ name, sum }) => line(named(name), sum)),
    rest: rest && line(counted(rest.count, `more ${one}`), rest.sum),
  });
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function failureList(failures: Report['failures']): Html {
  return html`${failures.map(
    ({ code, title, images, examples }) =>
      html`<h3>${title}: ${counted(images, 'image')} <code>${code}</code></h3>
        <ul class="examples">
          ${examples.map(
            ({ path, detail }) =>
              html`<li><bdi>${path}</bdi>: <span class="quiet">${detail}</span></li>`,
          )}
          ${
            images > examples.length
              ? html`<li class="quiet">and ${counted(images - examples.length, 'more image')}</li>`
              : ''
          }
        </ul>`,
  )}`;
}

function modelTable(models: Report['models']): Html {
  if (models.length === 0) return html`<p class="quiet">No image has a result.</p>`;
  return html`${models.map(({ name, digest, precision, images, licence }) =>
    facts([
      ['Name', name],
      ['Digest', digest],
      ['Precision', precision],
      ['Licence', licence ?? 'not known'],
      ['Images', grouped(images)],
    ]),
  )}`;
}

function pictureSections({ of, surest, leastSure, almost, scoreFloor }: Report): Html[] {
  const kinds: [title: string, text: string, pictures: readonly ReportPicture[]][] = [
    ['The surest boxes', 'Pictures with the boxes of the highest confidence.', surest],
    [
      'The least sure boxes',
      'Pictures with the boxes that are nearest to their threshold, and above it.',
      leastSure,
    ],
    [
      'Almost detections',
      `Boxes at most ${ALMOST * 100} percentage points below their threshold, which are not counted. ` +
        `The ${of} keeps boxes from ${percent(scoreFloor)} on.`,
      almost,
    ],
  ];
  return kinds.flatMap(([title, text, pictures]) =>
    pictures.length === 0
      ? []
      : [
          section(
            title,
            html`<p class="quiet">${text}</p>
              <ul class="pictures">
                ${pictures.map((each) => html`<li>${figure(each)}</li>`)}
              </ul>`,
          ),
        ],
  );
}

function figure({ path, chosen, threshold, boxes, picture }: ReportPicture): Html {
  const said = `${chosen.class} ${percent(chosen.confidence)}, threshold ${percent(threshold)}`;
  const cut = path.lastIndexOf('/') + 1;
  const alt = `${path} with ${counted(boxes, 'box', 'boxes')} drawn: ${said}`;
  return html`<figure>
    ${
      'jpeg' in picture
        ? html`<img src="${dataUrl(picture.jpeg)}" alt="${alt}" />`
        : html`<div class="gone">No picture. ${picture.leftOut}</div>`
    }
    <figcaption>
      <b><bdi>${path.slice(cut)}</bdi></b>
      ${cut === 0 ? '' : html`<span class="quiet"><bdi>${path.slice(0, cut)}</bdi></span>`} ${said};
      ${counted(boxes, 'box', 'boxes')} drawn
    </figcaption>
  </figure>`;
}

const dataUrl = (jpeg: Uint8Array): string =>
  `data:image/jpeg;base64,${Buffer.from(jpeg).toString('base64')}`;
