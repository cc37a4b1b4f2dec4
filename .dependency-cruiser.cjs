/** Layers of src/: a folder imports itself and the layers before it. */
const LAYERS = [
  ['base', 'overlay'],
  ['api'],
  ['boxes'],
  ['cameras'],
  ['settings', 'metrics'],
  ['native', 'files', 'export'],
  ['models', 'store', 'labelling'],
  ['execution', 'views', 'uploads', 'answers'],
  ['clusters', 'annotate', 'aliases'],
  ['jobs', 'backup'],
  ['webhooks', 'watches', 'report'],
  ['http'],
  ['stream', 'adapters'],
  ['service'],
];

const forbid = (name, from, to, comment) => ({ name, comment, severity: 'error', from, to });

const layerRules = LAYERS.flatMap((layer, level) => {
  const below = LAYERS.slice(0, level).flat();
  return layer.map((folder) =>
    forbid(
      `${folder}-imports-downwards`,
      { path: `^src/${folder}/` },
      { path: '^src/', pathNot: `^src/(${[folder, ...below].join('|')})/` },
    ),
  );
});

module.exports = {
  forbidden: [
    ...layerRules,
    forbid('no-cycles', {}, { circular: true }, 'A cycle means two files are one.'),
    forbid(
      'addon-behind-models-and-execution',
      { path: '^src/', pathNot: '^src/(native|models|execution|clusters|cli)/' },
      { path: '^src/native/' },
      'Only models and execution call the addon.',
    ),
    forbid(
      'ends-meet-in-the-wire',
      { path: '^src/execution/(near|far)/' },
      { path: '^src/execution/(here|far|near)/', pathNot: '^src/execution/$1/' },
      'The two ends of a socket know frames, not each other.',
    ),
    forbid(
      'export-knows-shapes-only',
      { path: '^src/export/' },
      { path: '^src/(?!export/|api/|base/)' },
      'HTTP and CLI write the same files.',
    ),
    forbid(
      'overlay-stands-alone',
      { path: '^src/overlay/' },
      { path: '^(?!src/overlay/)' },
      'The look of boxes, for the page in a browser and for drawn copies.',
    ),
    forbid(
      'client-takes-shapes-only',
      { path: '^src/client/' },
      { path: '^src/(?!client/)', dependencyTypesNot: ['type-only'] },
      'A program that calls the service loads nothing of it.',
    ),
    forbid(
      'client-below-cli',
      { path: '^src/', pathNot: '^src/(client|cli|ui)/' },
      { path: '^src/client/' },
      'The service does not call itself.',
    ),
    forbid(
      'ui-stands-alone',
      { path: '^src/ui/' },
      {
        path: '^src/',
        pathNot:
          '^src/((ui|overlay|client|boxes)/|api/[^/]+[.]ts|base/text-list[.]ts|export/csv[.]ts)',
      },
      'It runs in a browser: it takes calls, events and shapes of answers from the client, rows and rules from api, the comparing of boxes, the writing of lists and of CSV files.',
    ),
    forbid(
      'boxes-for-browsers-too',
      { path: '^src/boxes/' },
      {
        path: '^',
        pathNot: '^src/(boxes/|api/[^/]+[.]ts|base/(polygon|rounded)[.]ts)',
        dependencyTypesNot: ['type-only'],
      },
      'The page pairs and counts boxes as the service does: no schema and no module of Node comes with it.',
    ),
    forbid(
      'api-for-browsers',
      { path: '^src/api/[^/]+[.]ts$' },
      {
        path: '^',
        pathNot: '^src/(api/[^/]+|base/(polygon|text-list))[.]ts$',
        dependencyTypesNot: ['type-only'],
      },
      'The page takes rows and rules of it; what needs zod or Node is in api/schemas.',
    ),
    forbid('ui-for-browsers-only', { path: '^src/', pathNot: '^src/ui/' }, { path: '^src/ui/' }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: 'node_modules',
  },
};
