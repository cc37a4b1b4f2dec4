/** Keys of a picture with its boxes, in whatever view it stands. */
import type { Shortcut } from '../parts/shortcuts.js';
import type { BoxFilter } from './box-filter.js';
import type { PictureMarks } from './marks.js';

const STEP = 0.05;
const CLASS_KEYS = 9;

export function pictureKeys(filter: BoxFilter, marks: PictureMarks): Shortcut[] {
  const { boxes, counts, threshold, setThreshold, toggleClass } = filter;
  const step = (by: number): void => {
    const all = boxes.peek();
    const at = all.findIndex(({ id }) => id === marks.pinned.peek());
    const next = all[Math.max(0, Math.min(at + by, all.length - 1))];
    if (next !== undefined) marks.pinned.value = next.id;
  };
  const classes = counts.value.slice(0, CLASS_KEYS).map(({ name }, index) => ({
    keys: String(index + 1),
    title: `Show or hide class ${index + 1}`,
    run: () => toggleClass(name),
  }));
  return [
    { keys: 'j', title: 'Next box', run: () => step(1) },
    { keys: 'k', title: 'Box before', run: () => step(-1) },
    {
      keys: 'z',
      title: 'Zoom to the marked box',
      run: () => (marks.zoomTo.value = marks.pinned.peek() ?? 'whole'),
    },
    { keys: 'f', title: 'Show the whole picture', run: () => (marks.zoomTo.value = 'whole') },
    {
      keys: 'Escape',
      title: 'Mark no box, show the whole picture',
      isOn: () =>
        marks.tool.peek() === null &&
        (marks.pinned.peek() !== null || marks.viewWindow.peek().zoom > 1),
      run: () => {
        if (marks.pinned.peek() === null) marks.zoomTo.value = 'whole';
        marks.pinned.value = null;
      },
    },
    { keys: '[', title: 'Lower threshold', run: () => setThreshold(threshold.peek() - STEP) },
    { keys: ']', title: 'Higher threshold', run: () => setThreshold(threshold.peek() + STEP) },
    {
      keys: 'l',
      title: 'Labels on and off',
      run: () => (marks.labels.value = marks.labels.peek() === 'fit' ? 'one' : 'fit'),
    },
    {
      keys: 'h',
      title: 'Hide the boxes while held',
      run: () => (marks.boxesShown.value = false),
      release: () => (marks.boxesShown.value = true),
    },
    ...classes,
  ];
}
