// Loaded with `node --import` before a worker. SIGUSR2: it leaves as one whose GPU is lost. BROKEN_WORKER: the id of a
// worker that fails at its start.
process.on('SIGUSR2', () => process.exit(69));
if (
  process.env.BROKEN_WORKER !== undefined &&
  process.env.LATTICE_WORKER_ID === process.env.BROKEN_WORKER
) {
  console.error('It is broken.');
  process.exit(3);
}
