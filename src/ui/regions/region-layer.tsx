/** Regions over a picture, and the tool that opens their editor. */
import { Button } from '../parts/button.js';
import { lazy } from '../parts/lazy.js';
import { useShortcuts } from '../parts/shortcuts.js';
import type { PictureMarks } from '../picture/marks.js';
import { draftCorners, isEditing } from './region-choice.js';
import { RegionShapes, type ShownCounts } from './region-shapes.js';

/** Most visits draw no regions. */
const RegionEditor = lazy('Opening the editor of regions', async () => {
  const { RegionEditor: loaded } = await import('./region-editor.js');
  return loaded;
});
const RegionHandles = lazy('Opening the corners of regions', async () => {
  const { RegionHandles: loaded } = await import('./region-handles.js');
  return loaded;
});

function toggleEditor(): void {
  draftCorners.value = null;
  isEditing.value = !isEditing.peek();
}

/** Parts of a detected picture; `instead` is null while no regions are drawn. */
export function useRegionLayer(
  marks: PictureMarks,
  counts: ShownCounts,
  classes: readonly string[],
) {
  useShortcuts('Regions', [{ keys: 'r', title: 'Draw regions', run: toggleEditor }]);
  return {
    over: (
      <>
        <RegionShapes marks={marks} counts={counts} />
        {isEditing.value && <RegionHandles marks={marks} />}
      </>
    ),
    tools: (
      <Button
        class="tool"
        icon="polygon"
        name="Regions"
        aria-pressed={isEditing.value}
        onClick={toggleEditor}
      />
    ),
    instead: isEditing.value ? <RegionEditor counts={counts} classes={classes} /> : null,
  };
}
