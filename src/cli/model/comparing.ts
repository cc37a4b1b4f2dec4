/** `lattice model compare`: two models on the same photos, before one takes the place of the other. */
import { toWireAgreementFigures } from '../../answers/agreement-figures.js';
import { agreementOf, type Agreement } from '../../boxes/agreement.js';
import { pairBoxes } from '../../boxes/pairing.js';
import {
  COMPARED_CONFIDENCE,
  runModel,
  type PrecisionRun,
} from '../../models/model-examination.js';
import { describeModel } from '../../native/core.js';
import type { Config } from '../../settings/config.js';
import { renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';
import { agreementLines, shareText } from './agreement-lines.js';
import { modelPath } from './checking.js';
import { labelledPictures, ownPictures } from './pictures.js';

export interface CompareFlags {
  images: string;
  /** Folder of label files in YOLO form, with the class numbers of the first model. */
  labels?: string;
  json?: boolean;
}

export async function compareTwoModels(
  first: string,
  second: string,
  { images, labels, json }: CompareFlags,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const paths = [await modelPath(first, config), await modelPath(second, config)] as const;
  const shown = await picturesOf(images, labels, paths[0]);
  const onStep = (step: string) => {
    terminal.err(`${step} ...`);
  };
  const options = { ...shown, threads: config.threads, onStep };
  const runs = [await runModel(paths[0], options), await runModel(paths[1], options)] as const;
  const agreement = agreementOf(
    shown.names.map((picture, at) => ({
      picture,
      boxes: pairBoxes(runs[0].partners[at] ?? [], runs[1].partners[at] ?? []),
    })),
    COMPARED_CONFIDENCE,
  );
  if (json === true) {
    const summaries = runs.map(({ precision, inferenceMs, meanPrecision }, at) => ({
      model: at === 0 ? first : second,
      precision,
      inference_ms: inferenceMs,
      map50_95: meanPrecision,
    }));
    terminal.out(JSON.stringify({ models: summaries, ...asJson(agreement) }, null, 2));
    return;
  }
  for (const line of report([first, second], runs, agreement)) terminal.out(line);
}

async function picturesOf(images: string, labels: string | undefined, model: string) {
  if (labels === undefined) return ownPictures(images);
  const { names: classes } = await describeModel(model);
  return labelledPictures(images, labels, classes);
}

function report(
  models: readonly [string, string],
  runs: readonly PrecisionRun[],
  agreement: Agreement,
): string[] {
  const isLabelled = runs.some(({ meanPrecision }) => meanPrecision !== null);
  const title = ['MODEL', 'PRECISION', 'TIME', 'BOXES'];
  return [
    ...renderTable([
      isLabelled ? [...title, 'MAP50-95'] : title,
      ...runs.map(({ precision, inferenceMs, meanPrecision }, at) => [
        `${at === 0 ? 'first' : 'second'}: ${models[at] ?? ''}`,
        precision,
        `${inferenceMs.toFixed(1)} ms`,
        // The numbers of boxes that the rows below are about.
        String(at === 0 ? agreement.all.first : agreement.all.second),
        ...(isLabelled ? [meanPrecision?.toFixed(3) ?? '-'] : []),
      ]),
    ]),
    '',
    `${shareText(agreement.pictures, agreement.share, agreement.all, ' above 30 % and of their partners')}.`,
    '',
    ...agreementLines(agreement),
  ];
}

/** Named as in the agreement of an alias and of two jobs. */
function asJson({ pictures, least, ...figures }: Agreement) {
  return {
    images: pictures,
    ...toWireAgreementFigures(figures),
    least: least.map(({ picture, ...counts }) => ({ image_path: picture, ...counts })),
  };
}
