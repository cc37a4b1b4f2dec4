/** An error answer: title, detail, code, and the rules that were broken. */
import { ServiceError } from '../client/service-error.js';
import { element, foreign } from './elements.js';

interface ShownProblem {
  title: string;
  detail: string;
  code: string;
  request_id?: string | undefined;
  errors?: readonly { detail: string; pointer?: string | undefined }[] | undefined;
}

export function problemView(problem: ShownProblem): HTMLElement {
  const rules = (problem.errors ?? []).filter(({ detail }) => detail !== problem.detail);
  const request = problem.request_id === undefined ? '' : `, request ${problem.request_id}`;
  return element(
    'div',
    { class: 'problem' },
    element('p', {}, element('strong', {}, problem.title)),
    element('p', {}, foreign(problem.detail)),
    ...(rules.length === 0 ? [] : [element('ul', {}, ...rules.map(brokenRule))]),
    element('p', { class: 'fine' }, `Code ${problem.code}${request}`),
  );
}

function brokenRule({ detail, pointer }: { detail: string; pointer?: string | undefined }) {
  const where = pointer === undefined ? '' : `${pointer}: `;
  return element('li', {}, foreign(`${where}${detail}`));
}

/** Any thrown value. */
export function thrownView(thrown: unknown): HTMLElement {
  if (thrown instanceof ServiceError) return problemView(thrown);
  return problemView({ title: 'Error in this page', code: 'page', detail: String(thrown) });
}

/** Replaces the content of `place`. */
export function showProblem(place: Element, thrown: unknown): void {
  place.replaceChildren(thrownView(thrown));
}
