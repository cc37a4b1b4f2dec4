/** `lattice bench`: a load test of a running service. */
import { InvalidArgumentError, Option } from 'commander';
import type { BenchFlags, Range } from './bench/benching.js';
import { examples, numberThat, wholeNumber } from './command-options.js';
import type { RegisterCommand } from './terminal.js';

const MORE = `
Closed loop (--concurrency-range): so many clients, each waits for its answer. Open loop (--request-rate-range): requests
are sent when they are due, and the latency counts from that moment. A level is measured in windows until throughput and
latency of the last three agree. The options are named as in perf_analyzer. QUEUE, DECODE and INFERENCE are means of the
service's own times. For a service on the CPU of this machine the network alone is measured at the end, in this process:
reading, decoding and HTTP take what the best level lacks of it. Exit code: 0 done, 3 a level was not stable, 1 the
service refuses or is not there, 2 the command line is wrong, 130 Ctrl-C; the files have the levels measured before.
`;

export const registerBench: RegisterCommand = (program, terminal) => {
  program
    .command('bench')
    .description('measure throughput and latency of a running service')
    .argument('[url]', 'of the service (default: LATTICE_CORE_API_URL, else http://127.0.0.1:8000)')
    .option('--api-key-file <file>', 'file with the API key (default: LATTICE_API_KEY)')
    .option('--image <path>', 'image as the service sees it; several are sent in turn', more)
    .option('--upload <file>', 'image of this machine, sent with each request; also several', more)
    .option('-m, --model <name>', 'name of a model that the service has, with or without .pt')
    .addOption(
      new Option(
        '--concurrency-range <start:end:step>',
        'numbers of clients; end 0: until the threshold',
      )
        .argParser(range(true))
        .conflicts('requestRateRange'),
    )
    .option('--request-rate-range <start:end:step>', 'requests per second', range(false))
    .addOption(
      new Option('--request-distribution <kind>', 'gaps between the requests of the open loop')
        .choices(['constant', 'poisson'])
        .default('constant'),
    )
    .option('-l, --latency-threshold <ms>', 'stop at a level above it; 0: none', ms(0), 0)
    .option('-p, --measurement-interval <ms>', 'length of a window', ms(100), 5000)
    .option('-s, --stability-percentage <number>', 'how far windows may differ', ms(0.1), 10)
    .option(
      '--percentile <number>',
      'percentile used for stability and threshold, 1 to 99',
      wholeNumber(1, 99),
      95,
    )
    .option(
      '-r, --max-trials <number>',
      'maximum number of windows per level',
      wholeNumber(3, 1000),
      10,
    )
    .option(
      '--warmup-request-count <number>',
      'requests before the measurement',
      wholeNumber(1, 100_000),
      10,
    )
    .option(
      '-f, --csv <file>',
      'also write the levels as CSV; -: to standard output, and the table to standard error',
    )
    .option('--json <file>', 'also write the levels as JSON; the same')
    .addHelpText(
      'after',
      MORE +
        examples(
          'bench http://127.0.0.1:8000 --image street.jpg --concurrency-range 1:16:5',
          'bench --upload photo.jpg --concurrency-range 1:0:4 --latency-threshold 100',
          'bench --image a.jpg --image b.jpg --request-rate-range 10:60:10 --request-distribution poisson --csv rates.csv',
        ),
    )
    .action(async (url: string | undefined, flags: BenchFlags) => {
      const { benchService } = await import('./bench/benching.js');
      await benchService(url === undefined ? flags : { ...flags, url }, terminal);
    });
};

function more(value: string, before: string[] = []): string[] {
  return [...before, value];
}

const ms = (least: number) =>
  numberThat(`a number of at least ${least}`, (value) => value >= least);

/** `start`, `start:end` or `start:end:step`. */
function range(whole: boolean): (text: string) => Range {
  return (text) => {
    const parts = text.split(':').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
    const [start = Number.NaN, end = start, step = 1] = parts;
    const isRange = start > 0 && step > 0 && (end === 0 || end >= start) && parts.length <= 3;
    const isWhole = [start, end, step].every(Number.isInteger);
    if (isRange && Number.isFinite(end + step) && (isWhole || !whole)) return { start, end, step };
    const kind = whole ? 'whole numbers' : 'numbers';
    throw new InvalidArgumentError(`It must be start:end:step, ${kind} above 0; end may be 0.`);
  };
}
