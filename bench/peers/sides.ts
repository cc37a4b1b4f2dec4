/** The servers that are compared: this service, and others on the same network and photos. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../test/support/service-process.js';
import type { Command } from './peer-process.js';

const HERE = join(PROJECT_ROOT, 'bench/peers');
export const PYTHON = join(PROJECT_ROOT, '.deps/peers/bin/python');

/** The network's input: always the square, or the smallest rectangle that the photo fits in. */
export type Shape = 'square' | 'rectangles';

/** The file of the network that a server is given. Ours picks between both by itself. */
export type NetworkFile = 'export' | 'our 8-bit copy';

export interface Side {
  name: string;
  ours: boolean;
  shape: Shape;
  file: NetworkFile;
  command: Command;
  /** The packages that its boxes and speed depend on; the side is left out unless all of them are installed. */
  needs: string;
}

export interface Material {
  /** An ONNX export. */
  model: string;
  /** Its copy in 8 bits; null where there is none. */
  eightBits: string | null;
  /** Folder of the model for the service, under its default name. */
  modelsDir: string;
  /** Folder of the photos. */
  root: string;
  /** Empty folder for data of the service. */
  dataDir: string;
}

export const OURS = 'lattice-core';
export const OURS_SQUARE = 'lattice-core, square';

export function sidesOf(material: Material): Side[] {
  return [
    ours(OURS, 'rectangles', {}, material),
    ours(OURS_SQUARE, 'square', {}, material),
    ...openvinoSides('export', material.model, material),
    ...openvinoSides('our 8-bit copy', material.eightBits, material),
    litserve(material),
    onnxruntimeNode(material),
  ];
}

/** Whose boxes are compared with: of our service in f32. */
export const referenceOf = (shape: Shape, material: Material) =>
  ours(`reference ${shape}`, shape, { LATTICE_PRECISION: 'f32' }, material);

export const isInstalled = ({ needs }: Side) => existsSync(needs);

function ours(
  name: string,
  shape: Shape,
  env: Record<string, string>,
  { modelsDir, root, dataDir }: Material,
): Side {
  const program = join(PROJECT_ROOT, 'dist/cli/lattice.js');
  const settings = {
    LATTICE_MODELS_DIR: modelsDir,
    LATTICE_IMAGE_ROOTS: root,
    LATTICE_DATA_DIR: join(dataDir, name.replace(/\W+/g, '-')),
    LATTICE_LOG_LEVEL: 'warn',
    LATTICE_DEVICE: 'cpu',
    LATTICE_RECTANGLES: shape === 'square' ? 'off' : 'auto',
    ...env,
  };
  const args = (port: number) => [program, 'serve', '--port', String(port)];
  const command = { program: process.execPath, args, cwd: PROJECT_ROOT, env: settings };
  return { name, ours: true, shape, file: 'export', command, needs: program };
}

function openvinoSides(file: NetworkFile, model: string | null, { root }: Material): Side[] {
  if (model === null) return [];
  return (['square', 'rectangles'] as const).flatMap((shape) =>
    (['LATENCY', 'THROUGHPUT'] as const).map((hint) =>
      openvino({ file, model, root, hint, shape }),
    ),
  );
}

interface OpenvinoSetting {
  file: NetworkFile;
  model: string;
  root: string;
  hint: 'LATENCY' | 'THROUGHPUT';
  shape: Shape;
}

function openvino({ file, model, root, hint, shape }: OpenvinoSetting): Side {
  const what = file === 'export' ? 'FastAPI + OpenVINO' : `FastAPI + OpenVINO, ${file}`;
  const args = (port: number) =>
    `-m uvicorn app:app --log-level error --no-access-log --port ${port}`.split(' ');
  return {
    name: `${what}, ${hint.toLowerCase()} hint, ${shape}`,
    ours: false,
    shape,
    file,
    command: {
      program: PYTHON,
      args,
      cwd: join(HERE, 'openvino-fastapi'),
      env: { MODEL: model, ROOT: root, HINT: hint, SHAPE: shape },
    },
    needs: join(PYTHON, '../uvicorn'),
  };
}

function litserve({ model, root }: Material): Side {
  return {
    name: 'LitServe + ONNX Runtime, square',
    ours: false,
    shape: 'square',
    file: 'export',
    command: {
      program: PYTHON,
      args: () => ['app.py'],
      cwd: join(HERE, 'litserve-onnxruntime'),
      env: { MODEL: model, ROOT: root },
    },
    needs: join(PYTHON, '../litserve'),
  };
}

function onnxruntimeNode({ model, root }: Material): Side {
  const cwd = join(HERE, 'onnxruntime-node');
  return {
    name: 'Hono + sharp + onnxruntime-node, square',
    ours: false,
    shape: 'square',
    file: 'export',
    command: {
      program: process.execPath,
      args: () => ['server.mjs'],
      cwd,
      env: { MODEL: model, ROOT: root },
    },
    needs: join(cwd, 'node_modules/onnxruntime-node'),
  };
}
