/** What a labelling configuration of Label Studio says of boxes on pictures. */
import { classKey } from '../api/class-key.js';
import type { Detection } from '../api/image.js';

export interface LabelStudioConfig {
  /** Names of the tag of boxes and of the picture that it is on. */
  from: string;
  to: string;
  /** The field of a task's data that has the picture. */
  field: string;
  /** The label of the configuration for a class of a model; undefined: it has none. */
  labelOf: (detection: Pick<Detection, 'class'>) => string | undefined;
}

const TAG = /<(RectangleLabels|Image)\b([^>]*?)(?:\/>|>([^]*?)<\/\1>)/g;
const LABEL = /<Label\b([^>]*?)\/?>/g;
const ATTRIBUTE = /([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/**
 * Null where the configuration has no `RectangleLabels` on an `Image`. A label stands for the class of its name, and for
 * those of its `predicted_values`, which are separated by commas.
 */
export function readLabelStudioConfig(xml: string): LabelStudioConfig | null {
  const tags = [...xml.replace(/<!--[^]*?-->/g, '').matchAll(TAG)].map(
    ([, tag, attributes = '', content = '']) => ({ tag, content, ...attributesOf(attributes) }),
  );
  const boxes = tags.find(({ tag }) => tag === 'RectangleLabels');
  const picture = tags.find(
    ({ tag, values }) => tag === 'Image' && values.name === boxes?.values.toName,
  );
  const { name: from } = boxes?.values ?? {};
  const { name: to, value } = picture?.values ?? {};
  if (boxes === undefined || from === undefined || to === undefined) return null;
  if (!value?.startsWith('$')) return null;
  const labels = labelsOf(boxes.content);
  return { from, to, field: value.slice(1), labelOf: (box) => labels.get(classKey(box.class)) };
}

function labelsOf(content: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [, attributes = ''] of content.matchAll(LABEL)) {
    const { value, predicted_values: predicted = '' } = attributesOf(attributes).values;
    if (value === undefined) continue;
    for (const name of [...predicted.split(','), value]) {
      if (name.trim() !== '') labels.set(classKey(name), value);
    }
  }
  return labels;
}

function attributesOf(text: string): { values: Partial<Record<string, string>> } {
  const pairs = [...text.matchAll(ATTRIBUTE)].map(([, name = '', double, single]) => [
    name,
    (double ?? single ?? '').replace(
      /&(\w+);/g,
      (whole, entity: string) => ENTITIES[entity] ?? whole,
    ),
  ]);
  return { values: Object.fromEntries(pairs) as Partial<Record<string, string>> };
}

const LOCAL_FILE = /^(?:https?:\/\/[^/]+)?(?:\/[^?]*)?\/data\/local-files\/?\?(.*)$/;

/** The path beneath Label Studio's document root; null: the picture is kept by Label Studio, or is elsewhere. */
export function localFileOf(address: string): string | null {
  const [, query] = LOCAL_FILE.exec(address) ?? [];
  if (query !== undefined) return new URLSearchParams(query).get('d');
  return /^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(address) ? null : address;
}
