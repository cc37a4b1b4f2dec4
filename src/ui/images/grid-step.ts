/** Moves the focus through a grid of buttons by arrow keys. True when the key moved it. */
export function gridStep(grid: HTMLElement, key: string): boolean {
  const buttons = [...grid.querySelectorAll<HTMLElement>('li > button, li > a')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  const top = buttons[0]?.offsetTop;
  const columns = Math.max(
    1,
    buttons.findIndex(({ offsetTop }) => offsetTop !== top),
  );
  const row = buttons.every(({ offsetTop }) => offsetTop === top) ? buttons.length : columns;
  const to = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at + row,
    ArrowUp: at - row,
    Home: 0,
    End: buttons.length - 1,
  }[key];
  if (at === -1 || to === undefined) return false;
  buttons[to]?.focus();
  return true;
}
