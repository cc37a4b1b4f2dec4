/** Layers of src/: imports go downwards only. */
const forbid = (name, from, to, comment) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid('no-cycles', {}, { circular: true }, 'A cycle means two files are one.'),
    forbid(
      'contract-imports-nothing',
      { path: '^src/contract/' },
      { path: '^src/', pathNot: '^src/contract/' },
      'Shapes that every layer embeds.',
    ),
    forbid(
      'native-is-below-models',
      { path: '^src/', pathNot: '^src/(native|models|execution|cli|ray)/' },
      { path: '^src/native/' },
      'Only models and execution call the addon.',
    ),
    forbid(
      'native-imports-nothing-above',
      { path: '^src/native/' },
      { path: '^src/', pathNot: '^src/(native/|contract/|errors|config)' },
    ),
    forbid(
      'models-below-execution',
      { path: '^src/models/' },
      {
        path: '^src/(execution|annotate|jobs|ray|http|stream|webhooks|cli|observability)/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'execution-below-jobs',
      { path: '^src/execution/' },
      {
        path: '^src/(annotate|jobs|ray|http|stream|webhooks|cli|observability)/',
      },
    ),
    forbid(
      'ray-below-edges',
      { path: '^src/ray/' },
      {
        path: '^src/(jobs|http|stream|webhooks|cli|observability|native)/',
        pathNot: '^src/native/core[.]ts',
      },
      'Ray places workers; images and jobs do not pass through it.',
    ),
    forbid(
      'jobs-below-edges',
      { path: '^src/jobs/' },
      { path: '^src/(ray|http|stream|webhooks|cli|observability|native)/' },
    ),
    forbid(
      'browse-below-edges',
      { path: '^src/browse/' },
      { path: '^src/(ray|http|stream|webhooks|cli|observability|native)/' },
    ),
    forbid(
      'export-knows-shapes-only',
      { path: '^src/export/' },
      { path: '^src/(?!export/|contract/)' },
      'HTTP and CLI write the same files.',
    ),
    forbid('http-below-cli', { path: '^src/(http|stream|webhooks|ray)/' }, { path: '^src/cli/' }),
    forbid(
      'ends-meet-in-the-wire',
      { path: '^src/execution/(remote|wire|worker)/' },
      { path: '^src/execution/(local|worker|remote)/', pathNot: '^src/execution/$1/' },
      'The two ends of a socket know frames, not each other.',
    ),
    forbid(
      'ui-stands-alone',
      { path: '^src/ui/' },
      {
        path: '^src/',
        pathNot:
          '^src/(ui/|overlay/|client/(follow-events|page-socket|service-error|records)[.]ts)',
      },
      'It runs in a browser: it takes the event stream and the shapes of answers from the client.',
    ),
    forbid(
      'overlay-stands-alone',
      { path: '^src/overlay/' },
      { path: '^(?!src/overlay/)' },
      'The look of boxes, for the page in a browser and for drawn copies.',
    ),
    forbid('ui-for-browsers-only', { path: '^src/', pathNot: '^src/ui/' }, { path: '^src/ui/' }),
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
    forbid('webhooks-not-http', { path: '^src/webhooks/' }, { path: '^src/(http|stream)/' }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: 'node_modules',
  },
};
