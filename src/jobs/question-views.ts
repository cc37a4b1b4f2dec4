/** A question with the regions of the views that it and the stored results name. */
import type { Question } from '../api/question.js';
import type { Region } from '../api/region-rules.js';
import type { ProcessedImage } from '../api/schemas/image.js';
import type { Asked } from '../store/asked-boxes.js';
import type { ViewNeeded } from '../store/count-reads.js';
import type { Views } from '../views/views.js';

export type ReadViews = Pick<Views, 'get'>;

export class QuestionViews {
  readonly #views: ReadViews;
  readonly #storedViews: Record<string, readonly Region[]> = {};
  /** The view of the question; undefined: it has none. */
  readonly #view: ProcessedImage['view'];
  readonly asked: Asked;

  private constructor(
    views: ReadViews,
    asked: Omit<Asked, 'storedViews'>,
    view: ProcessedImage['view'],
  ) {
    this.#views = views;
    this.#view = view;
    this.asked = { ...asked, storedViews: this.#storedViews };
  }

  /** Rejects with `view_not_found` for a view of the question that this owner does not have. */
  static async open(
    views: ReadViews,
    question: Question,
    keyId: string | null,
  ): Promise<QuestionViews> {
    const name = question.view ?? null;
    if (name === null) return new QuestionViews(views, { question, viewRegions: null }, undefined);
    const { version, regions } = await views.get(name, keyId);
    return new QuestionViews(views, { question, viewRegions: regions }, { name, version });
  }

  /** Asks the store, as often as it needs the regions of another view. */
  async answer<T extends object>(
    ask: (asked: Asked) => Promise<T | { viewNeeded: ViewNeeded }>,
  ): Promise<T> {
    for (;;) {
      const answer = await ask(this.asked);
      if (!('viewNeeded' in answer)) return answer;
      await this.read(answer.viewNeeded);
    }
  }

  /** Reads the regions of a view that results were stored with, as `missingView` names it. */
  async read({ view, keyId }: ViewNeeded): Promise<void> {
    const { name, version } = JSON.parse(view) as NonNullable<ProcessedImage['view']>;
    const { regions } = await this.#views.get(name, keyId, version);
    this.#storedViews[view] = regions;
  }

  /** The view whose regions an answer has. */
  used(storedView: string | null): Pick<ProcessedImage, 'view'> {
    if (this.#view !== undefined) return { view: this.#view };
    if (storedView === null || this.#storedViews[storedView] === undefined) return {};
    return { view: JSON.parse(storedView) as ProcessedImage['view'] };
  }
}
