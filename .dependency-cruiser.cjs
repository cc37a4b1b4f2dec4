/** Layers of src/: imports go downwards only. */
const forbid = (name, from, to, comment) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid('no-cycles', {}, { circular: true }, 'A cycle means two files are one.'),
    forbid(
      'native-is-below-inference',
      { path: '^src/', pathNot: '^src/(native|inference|cli)/' },
      { path: '^src/native/' },
      'Only the inference port talks to the addon.',
    ),
    forbid(
      'native-imports-nothing-above',
      { path: '^src/native/' },
      { path: '^src/', pathNot: '^src/(native/|errors|config)' },
    ),
    forbid(
      'inference-below-jobs',
      { path: '^src/inference/' },
      { path: '^src/(jobs|http|stream|webhooks|cluster|cli|observability)/' },
    ),
    forbid(
      'jobs-below-edges',
      { path: '^src/jobs/' },
      { path: '^src/(http|stream|webhooks|cli|observability|native)/' },
    ),
    forbid(
      'http-below-cli',
      { path: '^src/(http|stream|webhooks|cluster)/' },
      { path: '^src/cli/' },
    ),
    forbid(
      'cluster-below-edges',
      { path: '^src/cluster/' },
      { path: '^src/(http|stream|webhooks|cli|observability)/' },
    ),
    forbid(
      'ends-meet-in-the-wire',
      { path: '^src/cluster/(remote|wire|worker)/' },
      { path: '^src/(cluster/(local|ray|worker|remote)|jobs)/', pathNot: '^src/cluster/$1/' },
      'The two ends of a socket know frames, not each other.',
    ),
    forbid(
      'ui-stands-alone',
      { path: '^src/ui/' },
      { pathNot: '^src/ui/' },
      'It runs in a browser, and knows the service by its routes.',
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
      { path: '^src/', pathNot: '^src/(client|cli)/' },
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
