/** Keys of the views: one table serves the keyboard and the help, see `shortcut-help.tsx`. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export interface Shortcut {
  /** Names of keys from `KeyboardEvent.key`; a space separates two keys that are pressed one after the other. */
  keys: string;
  title: string;
  run: () => void;
  /** When the key is released: `run` was for as long as it is held. */
  release?: () => void;
  /** False: the key is left to the tables after this one. */
  isOn?: () => boolean;
}

interface Table {
  name: string;
  shortcuts: readonly Shortcut[];
}

export const tables = signal<readonly Table[]>([]);
export const isHelpOpen = signal(false);
/** Two keys follow each other within this time. */
const SEQUENCE_MS = 1_000;

/** Registers the shortcuts for as long as the component is mounted. */
export function useShortcuts(name: string, shortcuts: readonly Shortcut[]): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    const table: Table = {
      name,
      get shortcuts() {
        return current.current;
      },
    };
    tables.value = [...tables.peek(), table];
    return () => {
      tables.value = tables.peek().filter((each) => each !== table);
    };
  }, [name]);
}

let before = { key: '', at: 0 };

function find(key: string): Shortcut | undefined {
  const sequence = `${before.key} ${key}`;
  const all = tables
    .peek()
    .flatMap(({ shortcuts }) => shortcuts)
    .filter(({ isOn }) => isOn?.() ?? true);
  const isRecent = performance.now() - before.at < SEQUENCE_MS;
  return (
    (isRecent ? all.find(({ keys }) => keys === sequence) : undefined) ??
    all.find(({ keys }) => keys === key)
  );
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
  if (event.key === '?') {
    isHelpOpen.value = true;
    return;
  }
  const found = find(event.key);
  before = { key: event.key, at: performance.now() };
  if (found === undefined) return;
  event.preventDefault();
  if (!event.repeat || found.release === undefined) found.run();
});

document.addEventListener('keyup', (event) => {
  for (const { shortcuts } of tables.peek()) {
    shortcuts.find(({ keys, release }) => keys === event.key && release !== undefined)?.release?.();
  }
});

/** Sliders and check boxes take arrows and the space bar only. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !['range', 'checkbox', 'radio'].includes(target.type);
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName);
}
