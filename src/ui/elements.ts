/** Elements made of names and text. Nothing here, nor anywhere on the page, reads text as markup. */

import { visible } from './format.js';

type Attributes = Record<string, string>;
type Child = Node | string;

const SVG = 'http://www.w3.org/2000/svg';

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  return filled(document.createElement(name), attributes, children);
}

export function drawing<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Name] {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled<Made extends Element>(made: Made, attributes: Attributes, children: Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Text of others, such as a file name: nothing in it is hidden, and it turns no text around it. */
export function foreign(text: string): HTMLElement {
  return element('bdi', { class: 'foreign' }, visible(text));
}

/** An element of the page's own markup. */
export function named<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} named ${id}.`);
  return found;
}

/** Sets text only where it differs: what is selected or read aloud stays. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** A table with its caption; wide ones scroll by themselves, by keyboard too. */
export function table(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const head = element(
    'tr',
    {},
    ...headings.map((heading) => element('th', { scope: 'col' }, heading)),
  );
  const body = rows.map((cells) =>
    element('tr', {}, ...cells.map((cell) => element('td', {}, cell))),
  );
  return element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    element(
      'table',
      {},
      element('caption', {}, caption),
      element('thead', {}, head),
      element('tbody', {}, ...body),
    ),
  );
}

/** A value longer than this has a line to itself. */
const LONG = 40;

/** Names and values. */
export function facts(pairs: readonly (readonly [string, Child])[]): HTMLElement {
  const parts = pairs.map(([name, value]) => {
    const text = typeof value === 'string' ? value : (value.textContent ?? '');
    const kind = text.length > LONG ? 'long' : 'short';
    return element('div', { class: kind }, element('dt', {}, name), element('dd', {}, value));
  });
  return element('dl', { class: 'facts' }, ...parts);
}
