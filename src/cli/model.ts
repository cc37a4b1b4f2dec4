/** `lattice model`: the models folder, from outside a running service, and the call that makes one look at it. */
import type { Command } from 'commander';
import { registerAlias } from './model/alias-commands.js';
import { examples, fraction, serviceCommand, wholeNumber } from './command-options.js';
import type { AccessFlags } from './job/open-client.js';
import type { CheckFlags } from './model/checking.js';
import type { CompareFlags } from './model/comparing.js';
import { inputSides } from './model/described-copy.js';
import type { AddFlags } from './model/models-folder.js';
import type { QuantizeFlags } from './model/quantizing.js';
import { addSettingFlags, configOf } from './setting-flags.js';
import type { RegisterCommand, Terminal } from './terminal.js';

const EXAMPLES = `
A model is an ONNX file of a detector. NAME.onnx in the models folder answers to the model_name NAME.pt.

Examples:
  $ lattice model list
  $ lattice model check best.onnx
  $ lattice model add best.onnx --name depot --images photos/
  $ lattice model add best.onnx --threshold 0.35   # of requests that name none
  $ lattice model add yolov8n.onnx                 # becomes the default model
  $ lattice model add old.onnx --names classes.txt --input 640
  $ lattice model remove depot
  $ lattice model reload                           # a running service
  $ lattice model alias set depot depot-v1 --shadow depot-v2
  $ lattice model quantize yolov8n --images /srv/photos
  $ lattice model compare depot best.onnx --images /srv/photos`;

const IMAGES = 'image, folder or glob to run it on, of many 48 (default: the demo pictures)';

export const registerModel: RegisterCommand = (program, terminal) => {
  const model = program
    .command('model')
    .description(
      'list, check, add, remove, reload, quantize and compare models; aliases of a running service',
    )
    .addHelpText('after', EXAMPLES);
  registerList(model, terminal);
  registerCheck(model, terminal);
  registerAdd(model, terminal);
  registerRemove(model, terminal);
  registerReload(model, terminal);
  registerAlias(model, terminal);
  registerQuantize(model, terminal);
  registerCompare(model, terminal);
};

function registerList(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('list')
    .description('models that requests can name, the default first')
    .addHelpText('after', examples('model list'))
    .option('--json', 'print one JSON array')
    .action(async (flags: { json?: boolean }) => {
      const { listModels } = await import('./model/models-folder.js');
      await listModels(configOf(flags), flags.json === true, terminal);
    });
  addSettingFlags(command, ['modelsDir', 'modelFamily']);
}

function registerCheck(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('check')
    .description('load a model, compare its precisions and time them on pictures')
    .argument('<model>', 'ONNX file, or a name that `lattice model list` shows')
    .option('--images <path>', IMAGES)
    .option(
      '--save <file>',
      'write the model as it is run: YOLOX, NanoDet and DETR with boxes as output',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', examples('model check depot', 'model check best.onnx --images photos/'))
    .action(async (model: string, flags: CheckFlags) => {
      const { checkModel } = await import('./model/checking.js');
      await checkModel(model, flags, configOf(flags), terminal);
    });
  addDescriptionFlags(command);
  addSettingFlags(command, ['modelsDir', 'modelFamily', 'threads']);
}

function registerAdd(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('add')
    .description('check an ONNX file and put it into the models folder')
    .argument('<file>', 'ONNX file; for a checkpoint, says how to export it')
    .option('--name <name>', 'what requests will call it (default: the name of the file)')
    .option(
      '--threshold <number>',
      "confidence threshold of requests that name none, in place of the file's own",
      fraction,
    )
    .option('--force', 'replace a model of that name')
    .option('--images <path>', IMAGES)
    .addHelpText(
      'after',
      examples('model add best.onnx --name depot', 'model add best.onnx --images photos/ --force'),
    )
    .action(async (file: string, flags: AddFlags) => {
      const { addModel } = await import('./model/models-folder.js');
      await addModel(file, flags, configOf(flags), terminal);
    });
  addDescriptionFlags(command);
  addSettingFlags(command, ['modelsDir', 'modelFamily', 'threads']);
}

function addDescriptionFlags(command: Command): void {
  command
    .option(
      '--names <list>',
      "classes, if the file names none: 'a,b,c', or a .txt with one per line",
    )
    .option('--input <size>', 'WIDTHxHEIGHT of its input, if the file leaves it open', inputSides);
}

function registerRemove(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('remove')
    .description('delete a model from the models folder; bundled ones stay')
    .addHelpText('after', examples('model remove depot'))
    .argument('<name>', 'name as `lattice model list` shows it')
    .action(async (name: string, flags: object) => {
      const { removeModel } = await import('./model/models-folder.js');
      await removeModel(name, configOf(flags), terminal);
    });
  addSettingFlags(command, ['modelsDir', 'modelFamily']);
}

function registerReload(parent: Command, terminal: Terminal): void {
  const about = 'let a running service take changed model files at once, and say which it runs';
  serviceCommand(parent, {
    name: 'reload',
    description: about,
    json: 'print one JSON array',
    calls: [''],
  }).action(async (flags: AccessFlags) => {
    const { reloadModels } = await import('./model/reloading.js');
    await reloadModels(flags, terminal);
  });
}

function registerCompare(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('compare')
    .description(
      'run two models on the same photos: which boxes agree, are flipped (of another class), lost or gained',
    )
    .argument('<first>', 'ONNX file, or a name that `lattice model list` shows')
    .argument('<second>', 'the same, of the model that is to take its place')
    .requiredOption(
      '--images <path>',
      'photos: image, folder or glob, of many 48 (128 with --labels)',
    )
    .option(
      '--labels <folder>',
      "YOLO label files of the photos with the first model's class numbers: shows the mAP50-95 of both",
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', examples('model compare depot new.onnx --images photos/'))
    .action(async (first: string, second: string, flags: CompareFlags) => {
      const { compareTwoModels } = await import('./model/comparing.js');
      await compareTwoModels(first, second, flags, configOf(flags), terminal);
    });
  addSettingFlags(command, ['modelsDir', 'modelFamily', 'threads']);
}

function registerQuantize(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('quantize')
    .description('make a copy of a model in 8 bits and compare it with the original')
    .addHelpText(
      'after',
      examples('model quantize depot --images photos/ --compare more/ --labels more/labels/'),
    )
    .argument('<name>', 'name as `lattice model list` shows it')
    .requiredOption('--images <folder>', 'photos like those to be detected, to calibrate on')
    .option('--compare <folder>', 'other photos to compare on (default: those of --images)')
    .option(
      '--labels <folder>',
      'YOLO label files of the photos to compare on: precision auto takes the copy if its mAP50-95 is as good',
    )
    .option('--count <number>', 'photos to calibrate on', wholeNumber(1, 1_000_000), 128)
    .action(async (name: string, flags: QuantizeFlags) => {
      const { quantizeModel } = await import('./model/quantizing.js');
      await quantizeModel(name, flags, configOf(flags), terminal);
    });
  addSettingFlags(command, ['modelsDir', 'modelFamily', 'threads']);
}
