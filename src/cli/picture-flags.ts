/** Flags of commands that make pictures of images and their boxes. */
import { Option, type Command } from 'commander';
import { COVER_MARGIN, COVER_WAYS, CROP_MARGIN, type CoverWay } from '../api/job-values.js';
import { fraction, nameList } from './command-options.js';
import { UsageError } from './terminal.js';

export interface CoverFlags {
  cover?: string[];
  coverWith?: CoverWay;
  margin?: number;
}

export interface PictureFlags extends CoverFlags {
  drawn?: boolean;
  crops?: boolean;
}

/** `what`: what the command does with boxes of the classes. */
export function addCoverFlags(command: Command, what: string): Command {
  return command
    .option('--cover <classes>', `${what}, comma-separated; '*' for all`, nameList)
    .addOption(
      new Option('--cover-with <way>', `how they are covered (${COVER_WAYS[0]})`).choices(
        COVER_WAYS,
      ),
    );
}

export function addMarginFlag(command: Command): Command {
  return command.option(
    '--margin <share>',
    `share of a box's width and height that is covered (${COVER_MARGIN}) or cut out (${CROP_MARGIN}) around it on each side`,
    fraction,
  );
}

/** Folders of pictures beside other files. */
export function addPictureFlags(command: Command): Command {
  command
    .option('--drawn', 'also a folder of the pictures with their boxes drawn')
    .option('--crops', 'also a folder with a picture of each box, by class');
  return addMarginFlag(
    addCoverFlags(
      command,
      'also a folder of the pictures, in which boxes of these classes are covered',
    ),
  );
}

export function makesPictures({ drawn, crops, cover }: PictureFlags): boolean {
  return drawn === true || crops === true || cover !== undefined;
}

/** Throws `UsageError` for options that no picture is made with. */
export function checkPictureFlags({ cover, coverWith, margin, crops }: PictureFlags): void {
  if (cover === undefined && coverWith !== undefined) {
    throw new UsageError(
      '--cover-with says how boxes are covered: name their classes with --cover.',
    );
  }
  if (margin !== undefined && cover === undefined && crops !== true) {
    throw new UsageError('--margin is for boxes that are covered or cut out.');
  }
}
