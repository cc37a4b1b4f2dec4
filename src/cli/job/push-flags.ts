/** Flags of `lattice job push`. */
import type { Command } from 'commander';
import { LOCAL_FILES } from '../../export/labelstudio.js';
import { numberThat, wholeNumber } from '../command-options.js';
import type { AccessFlags } from './open-client.js';

/** The longest job that is pushed at once. */
const MOST_TASKS = 10_000;
/** Larger requests run into the time limits of gateways before Label Studio. */
const MOST_BATCH = 250;
const MOST_RATE = 100;

export interface PushFlags extends AccessFlags {
  to: string;
  project: number;
  imageUrl: string;
  imageRoot?: string;
  empty: boolean;
  limit: number;
  batch: number;
  rate: number;
  deadline: number;
  settle: number;
  tries: number;
}

const seconds = numberThat('a number of seconds above 0', (value) => value > 0);

export function addPushFlags(command: Command): Command {
  return command
    .requiredOption('--to <address>', 'of Label Studio, http://HOST:8080')
    .requiredOption('--project <number>', 'its project', wholeNumber(1, 2 ** 31 - 1))
    .option(
      '--image-url <start>',
      'what Label Studio gets pictures by, before their paths: https://images.example/',
      LOCAL_FILES,
    )
    .option('--image-root <folder>', 'left out where the job names its pictures with it')
    .option('--no-empty', 'without the pictures that have no box; else they come last')
    .option('-n, --limit <number>', 'most tasks to send', wholeNumber(1, MOST_TASKS), MOST_TASKS)
    .option('--batch <number>', 'tasks of one request', wholeNumber(1, MOST_BATCH), 100)
    .option(
      '--rate <number>',
      'most requests a second',
      numberThat(`above 0 and at most ${MOST_RATE}`, (value) => value > 0 && value <= MOST_RATE),
      5,
    )
    .option('--deadline <seconds>', 'longest time of one request', seconds, 60)
    .option(
      '--settle <seconds>',
      'how long a request without an answer may still add its tasks, before they are sent again',
      numberThat('a number of seconds from 0', (value) => value >= 0),
      60,
    )
    .option('--tries <number>', 'failures in a row after which it ends', wholeNumber(1, 100), 10);
}
