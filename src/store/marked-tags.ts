/** Tags as tables have them: each once, without letter case, between marks. */
import { foldText } from '../base/fold-text.js';

/** Stands around each tag, so that a search finds whole tags. */
const TAG_MARK = '\n';

/** The text that is searched for to find a tag. */
export const markedTag = (tag: string): string => `${TAG_MARK}${foldText(tag)}${TAG_MARK}`;

export function markedTags(tags: readonly string[]): string {
  const folded = new Set(tags.map(foldText));
  return folded.size === 0 ? '' : ['', ...folded, ''].join(TAG_MARK);
}
