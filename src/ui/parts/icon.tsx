/** Line drawings of 24 x 24 in the colour of the text around them. */

const PATHS = {
  detect:
    'M4 8V5a1 1 0 0 1 1-1h3M16 4h3a1 1 0 0 1 1 1v3M20 16v3a1 1 0 0 1-1 1h-3M8 20H5a1 1 0 0 1-1-1v-3M9 9h6v6H9z',
  jobs: 'M4 6h16M4 12h16M4 18h10',
  service: 'M4 19V9M10 19V5M16 19v-7M21 19H3',
  counts: 'M4 4v16h16M9 16v-4M14 16V8M19 16v-6',
  book: 'M5 4h10a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  folder: 'M3 7a1 1 0 0 1 1-1h5l2 2h8a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01',
  upload: 'M12 16V4M7 9l5-5 5 5M4 17v2a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-2',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14M16 16l4.5 4.5',
  plus: 'M12 5v14M5 12h14',
  pause: 'M9 5v14M15 5v14',
  minus: 'M5 12h14',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  zoom: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M15.5 15.5 20 20M10.5 8v5M8 10.5h5',
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7M12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6',
  polygon: 'M5 7l9-3 6 8-7 8-9-4z',
  tag: 'M4 4h8l8 8-8 8-8-8zM8 8h.01',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 13l4 4L19 7',
  close: 'M6 6l12 12M18 6L6 18',
  left: 'M15 5l-7 7 7 7',
  right: 'M9 5l7 7-7 7',
  down: 'M5 9l7 7 7-7',
  warning: 'M12 4 2.5 20h19zM12 10v5M12 17.5h.01',
  edit: 'M4 20l1-4L16.5 4.5l3 3L8 19zM14 7l3 3',
  clock: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18M12 7v5l3 3',
  key: 'M15 4a5 5 0 1 1-4.6 7L3 18.4V21h3v-2h2v-2h2l2.2-2.2M16 8h.01',
  download: 'M12 4v12M7 11l5 5 5-5M4 20h16',
  retry: 'M20 11a8 8 0 1 0-2.3 6M20 4v7h-7',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
