import { visible } from '../text/format.js';

/** Text of others, such as a file name: nothing in it is hidden, and it turns no text around it. */
export function Foreign({ text }: { text: string }) {
  return <bdi class="foreign">{visible(text)}</bdi>;
}
