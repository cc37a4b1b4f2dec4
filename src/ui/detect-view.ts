/** One image, detected at once: the drawn copy, its boxes, its times. */
import type { Api } from './api.js';
import { drawing, element, foreign, named, setText, table } from './elements.js';
import { score } from './format.js';
import { detectionRows, imageSummary, timings } from './image-facts.js';
import { ModelChoice } from './model-choice.js';
import { showProblem } from './problem-view.js';
import { detectRequest } from './requests.js';
import type { DetectResponse, Model } from '../client/records.js';

type Box = DetectResponse['detections'][number];

export class DetectView {
  readonly #api: Api;
  readonly #path = named('detect-path', HTMLInputElement);
  readonly #choice = new ModelChoice('detect');
  readonly #threshold = named('detect-threshold', HTMLInputElement);
  readonly #button = named('detect-button', HTMLButtonElement);
  readonly #status = named('detect-status', HTMLElement);
  readonly #problem = named('detect-problem', HTMLElement);
  readonly #answer = named('detect-answer', HTMLElement);
  #picture: string | null = null;

  constructor(api: Api) {
    this.#api = api;
    named('detect-form', HTMLFormElement).addEventListener('submit', (submitted) => {
      submitted.preventDefault();
      void this.#detect();
    });
  }

  get hasModels(): boolean {
    return this.#choice.hasModels;
  }

  offer(models: readonly Model[]): void {
    this.#choice.offer(models);
  }

  async #detect(): Promise<void> {
    this.#button.disabled = true;
    setText(this.#status, 'Detecting');
    this.#problem.replaceChildren();
    try {
      const answer = await this.#api.post<DetectResponse>('/v1/inference/detect', this.#request());
      const picture = await this.#fetchPicture(answer.annotated_url);
      setText(this.#status, imageSummary(answer));
      this.#show(answer, picture);
    } catch (error) {
      setText(this.#status, '');
      this.#answer.replaceChildren();
      showProblem(this.#problem, error);
    } finally {
      this.#button.disabled = false;
    }
  }

  #request(): object {
    const { model, classes } = this.#choice;
    const path = this.#path.value;
    return detectRequest({ path, model, classes, threshold: this.#threshold.valueAsNumber });
  }

  /** Null where there is no drawn copy: the boxes are shown without it. */
  async #fetchPicture(path: string | undefined): Promise<string | null> {
    if (path === undefined) return null;
    const blob = await this.#api.picture(path).catch(() => null);
    return blob === null ? null : URL.createObjectURL(blob);
  }

  #show(answer: DetectResponse, picture: string | null): void {
    if (this.#picture !== null) URL.revokeObjectURL(this.#picture);
    this.#picture = picture;
    const boxes = answer.detections.map(boxOf);
    const marks = boxes.map((box, index) => markButton(box, index + 1));
    const found = detectionRows(answer.detections).map((row, index) => [
      marks[index] ?? '',
      ...row.map(foreign),
    ]);
    this.#answer.replaceChildren(
      element('h3', {}, foreign(answer.image_path)),
      element(
        'div',
        { class: 'answer' },
        pictureOf(answer, picture, boxes),
        element(
          'div',
          {},
          table('Detections', ['Box', 'Class', 'Confidence', 'Left, top', 'Size'], found),
          timingTable(answer),
          element('p', { class: 'fine' }, foreign(`${answer.model} on ${answer.worker_id}`)),
        ),
      ),
    );
  }
}

/** The drawn copy has its boxes in it; those above it show only when they are marked. */
function pictureOf(
  answer: DetectResponse,
  url: string | null,
  boxes: SVGRectElement[],
): HTMLElement {
  const { width, height } = answer.image;
  const overlay = drawing(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    ...boxes,
  );
  const alt = `The image with a box around each of ${answer.total_count} detections`;
  const size = { width: String(width), height: String(height) };
  const photo = url === null ? [] : [element('img', { src: url, alt, ...size })];
  return element('div', { class: 'picture' }, ...photo, overlay);
}

function boxOf({ box: [x1, y1, x2, y2], class: name, confidence }: Box): SVGRectElement {
  const place = { x: String(x1), y: String(y1), width: String(x2 - x1), height: String(y2 - y1) };
  return drawing('rect', place, drawing('title', {}, `${name} ${score(confidence)}`));
}

function markButton(box: SVGRectElement, number: number): HTMLElement {
  const label = `Mark box ${number}`;
  const button = element('button', { class: 'plain', type: 'button', 'aria-label': label });
  button.append(String(number));
  button.setAttribute('aria-pressed', 'false');
  button.addEventListener('click', () => {
    button.setAttribute('aria-pressed', String(box.classList.toggle('marked')));
  });
  return button;
}

function timingTable(answer: DetectResponse): HTMLElement {
  const all = Math.max(answer.processing_time_ms, 0.001);
  const rows = timings(answer).map(({ step, ms, text }) => [
    step,
    text,
    element('meter', { max: String(all), value: String(Math.min(ms, all)), 'aria-label': step }),
  ]);
  return table('Time', ['Step', 'Time', 'Share'], rows);
}
