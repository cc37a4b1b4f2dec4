/** A refusal: title, detail, code, and the rules that were broken. */
import { problemOf } from './api.js';
import { element, foreign } from './elements.js';
import type { Problem } from './wire.js';

export function problemView(problem: Problem): HTMLElement {
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

/** Shows what was thrown in place of what stood there. */
export function showProblem(place: Element, thrown: unknown): void {
  place.replaceChildren(problemView(problemOf(thrown)));
}
