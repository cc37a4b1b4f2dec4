/**
 * The exports of the addon, line for line with `native/addon/module.cc`. JavaScript validates first
 * (`src/native/core.ts`); the addon checks again and throws `TypeError` on misuse.
 */
import type { GpuReading } from '../api/schemas/gpu-reading.js';
import type { PictureLook } from '../api/schemas/image.js';
import type { Device, FloatPrecision } from '../api/schemas/model.js';
import type { DetectionParameters } from '../api/options.js';
import type { AddonStatistics } from '../api/schemas/statistics.js';

export interface NativeAddon {
  /** Versions and what was built in. Cheap, callable on any thread. */
  buildInfo(): NativeBuildInfo;
  /** The GPUs that a core can use now. Takes well under 2 s, and never fails. */
  gpus(): NativeGpus;
  /**
   * Why GPUs decode no JPEGs: a build without nvJPEG, or no such library here; null where they can. For gpu-check.sh.
   */
  jpegEnginesMissing(): string | null;
  /**
   * Class names and metadata of a model file, read off the JS thread without its network. Rejects as `loadModel` does.
   */
  describeModel(path: string): Promise<NativeModelDescription>;
  /**
   * A sentence for each thing that the model in this file could not do on a GPU, such as full batches; on a thread of
   * libuv, without a GPU. Rejects as `loadModel` does.
   */
  gpuLimits(path: string): Promise<string[]>;
  /** A model file with the weights that lie in files beside it, read off the JS thread. Rejects as `loadModel` does. */
  readModel(path: string): Promise<Buffer>;
  /**
   * The same as engines run it: an export of YOLOX, NanoDet, RT-DETR or D-FINE becomes a network with the outputs of
   * `HeadLayout`, in a file that says so; any other stays as it is. Rejects as `loadModel` does.
   */
  readInKnownLayout(path: string): Promise<Buffer>;
  /**
   * Reads a text that `keep` stored under this name in the folder of engines. Returns null if there is no text or it
   * was damaged. Runs on a libuv thread, like `keep`.
   */
  readKept(folder: string, name: string): Promise<string | null>;
  /**
   * Stores a text in place of an earlier one. Rejects with an Error with a `code` when the folder cannot be written.
   */
  keep(folder: string, name: string, text: string): Promise<void>;
  /** The pixels of an encoded image, upright; on a thread of libuv. Rejects with the codes of an image. */
  decodeImage(bytes: Uint8Array, maxPixels: number, maxSide: number): Promise<NativePixels>;
  /**
   * Starts the threads of one core. `onResults` is called on this environment's JS thread, in bulk. `onDeviceLost` is
   * called there once, before the results that say so: the device faulted. From then on every task is answered with
   * `gpu_lost`, also those in hand, and the process should end. A call into the driver that does not return ends the
   * process with exit code 69.
   */
  Core: new (
    options: NativeCoreOptions,
    onResults: OnNativeResults,
    onDeviceLost?: (error: Error) => void,
  ) => NativeCore;
}

export interface NativePixels {
  /** Red, green and blue of each pixel, row by row. */
  data: Buffer;
  width: number;
  height: number;
}

export interface NativeBuildInfo {
  version: string;
  openvino: string;
  cuda: string | null;
  libvips: string;
  jpeg: string;
}

/** `index` as CUDA counts in this process, `name` as the driver calls it, `memoryTotal` in bytes according to CUDA. */
export type NativeGpu = Pick<GpuReading, 'index' | 'name' | 'uuid' | 'busId' | 'numaNode'> & {
  memoryTotal: number;
};

export interface NativeGpus {
  /** Empty where none can be used. */
  gpus: NativeGpu[];
  /** The missing part of the system and its remedy; null where a GPU can be used. */
  missing: string | null;
}

export interface NativeCoreOptions {
  /** Absolute folders; a request path is opened beneath one of them only. */
  roots: string[];
  device: Exclude<Device, 'auto'>;
  /** Batch sizes that a GPU has engines for, ascending, 1 to 32; 1, 2, 4, 8, 16 and 32 when left out. */
  gpuBatches?: number[];
  precision: FloatPrecision;
  /** CPU threads for inference and for decoding, each. */
  threads: number;
  /** Batches of async tasks compute only where no other thread of the machine wants the core. */
  asyncYields: boolean;
  /**
   * Inputs of the network beside the model's own, smaller and with sides that its stride divides: an image takes the
   * smallest that holds it as large as the model's own does. On the CPU; when left out, all of them where the export
   * leaves its sides open.
   */
  rectangles?: NativeInputSize[];
  /** Whether the JPEG engines of the GPU decode too; true when left out. */
  hardwareDecode?: boolean;
  /** Absolute folder for built engines and compiled networks; '' builds anew at each start. */
  engineCache: string;
  /** Bytes that compiled networks may take there; those in use may be more. 2 GiB when left out, 0 keeps none. */
  keptBytes?: number;
  maxFileBytes: number;
  maxPixels: number;
  maxSide: number;
  /**
   * Bytes of pixels that async images may hold while they wait for the network, half as many for sync images, and a
   * quarter as many of async files that wait to be decoded; 1 GiB when left out.
   */
  lookAheadBytes?: number;
  /**
   * Absolute file, emptied at the start, that receives the task ids in hand, one per line, when a crash signal kills
   * the process; '' for none. First comes the id that the crashing thread had in hand (0 when it had none or
   * several), then every id in hand.
   */
  crashMarkerPath: string;
  /** Test only: the process aborts when it decodes a file whose path ends so. */
  abortOnPathSuffix?: string;
}

export interface NativeInputSize {
  width: number;
  height: number;
}

/**
 * How the outputs of a network hold its boxes, as `native/model/head.h` has it. `scales`: the network was cut at its
 * head, which is proven to give the same boxes. `rows`: a row per side of the boxes and per class. `final`: a row per
 * box, of corners, score and class; the network leaves out boxes itself, those below a score of its own as well, so
 * that an image may have none.
 */
export type HeadLayout = 'scales' | 'rows' | 'final';

/** A model that the addon has loaded. */
export interface NativeModel {
  modelId: number;
  task: string;
  /** Class name by class id. */
  names: string[];
  inputWidth: number;
  inputHeight: number;
  /** 0 = any batch size, else the export's fixed batch. */
  fixedBatch: number;
  /** Smaller inputs that the model also runs at, the smallest first. */
  rectangles: NativeInputSize[];
  /** A sentence for each thing asked for that it cannot do: a rectangle, batches on a GPU. */
  without: string[];
  layout: HeadLayout;
  /** SHA-256 of the file that is loaded and of its weights that lie beside it, in hex. */
  sha256: string;
  device: string;
  precision: string;
  /** About what it takes of its device's memory, of each GPU's where there are several. */
  memoryBytes: number;
  /**
   * Engines of a GPU, by batch size, ascending; empty on the CPU. `loadModel` loads the first one, `addBatches` others.
   */
  engines: NativeEngine[];
  /** Name of the compiled network of the CPU in `engineCache`; null if it is not kept, and on a GPU. */
  keptFile: string | null;
  /** True: the network was read from `keptFile` and not compiled. */
  wasKept: boolean;
  /** A sentence for each file of `engineCache` that was not as it was stored: it was made anew. */
  replaced: string[];
  stride: number;
  /** Free metadata of the export (licence, description, version ...), as text. */
  metadata: Record<string, string>;
}

/** How the CPU loads a model; every field may be left out. */
export interface HowToLoad {
  /**
   * File of the same model in 8 bits, which is loaded instead on a CPU that computes it at least 1.15 times as fast.
   */
  eightBitPath?: string;
  /** Replaces the precision of the options. */
  precision?: FloatPrecision;
  /** Compiles although there is a network in `engineCache`, which is replaced. */
  anew?: boolean;
}

/** The engine of a GPU for batches of one size; smaller batches are filled up to it. */
export interface NativeEngine {
  batch: number;
  isLoaded: boolean;
  /** Name of the engine in `engineCache`, whether it exists or not; null if the loaded engine is not kept. */
  file: string | null;
}

/** Class names and metadata of a model file. */
export interface NativeModelDescription {
  /** Class name by class id. */
  names: string[];
  /** Free metadata of the export (licence, description, version ...), as text. */
  metadata: Record<string, string>;
}

export interface NativeCore {
  /**
   * Reads, checks and compiles an ONNX file off the JS thread, or takes its compiled network from `engineCache`.
   * Rejects with an Error carrying `code`.
   */
  loadModel(path: string, how?: HowToLoad): Promise<NativeModel>;
  /**
   * Loads engines for more batch sizes of a model, built where none is kept, all or none of them. Batches go on
   * meanwhile, and are larger from then on. For a GPU. Resolves with the model as it is then, rejects as `loadModel`.
   */
  addBatches(modelId: number, batches: number[]): Promise<NativeModel>;
  /** Frees a model once its last task has ended, on the thread that loads models. */
  unloadModel(modelId: number): void;
  /** Queues tasks; never blocks. Every task id gets exactly one result. */
  submit(tasks: NativeTask[]): void;
  /** Answers tasks with code `cancelled`; work in hand is dropped. Returns how many had not started. */
  cancel(ids: number[]): number;
  /** Opens beneath the roots with the same rules as a task and returns the file's bytes. */
  readFile(path: string): Promise<Buffer>;
  stats(): NativeStats;
  decodeStats(): NativeDecodeStats;
  /** Answers what waits with `shutting_down`, finishes what is in hand, joins all threads. Idempotent. */
  close(): Promise<void>;
}

/** `tiles` is `off` when left out. */
export interface NativeTask
  extends
    Pick<DetectionParameters, 'confidence' | 'iou' | 'maxDetections'>,
    Partial<Pick<DetectionParameters, 'tiles'>> {
  /** Unique among live tasks, 1 to 2^53-1. */
  id: number;
  modelId: number;
  /** Path as the caller gave it, absolute or relative to a root; or null with `bytes` or `pixels`. */
  path: string | null;
  /** The encoded image itself. Not copied: it must not change any more, since a cancelled task may still read it. */
  bytes?: Uint8Array | undefined;
  /** RGB, 8 bit, rows without padding; copied by the addon. */
  pixels?: { data: Uint8Array; width: number; height: number };
  /** Whether the result says the SHA-256 of the file; false when left out. */
  digest?: boolean | undefined;
  /**
   * Whether the result has the look of the picture; false when left out. Such a picture is decoded on the CPU, also for
   * a GPU.
   */
  look?: boolean | undefined;
  /** The best boxes above this confidence have descriptors; none when left out. The picture is decoded likewise. */
  descriptorsAbove?: number | undefined;
  /** `sync` goes in front of every `async` task. */
  kind: 'sync' | 'async';
  /** Effective priority, higher first; ties in submission order. */
  priority: number;
  /**
   * Milliseconds from now after which the task is neither decoded nor run: when its turn comes it is answered with
   * `deadline_exceeded`; 0 = none. So is a sync task with less time left than a batch of its model takes. What is in
   * the network is finished: the executor answers its caller in time.
   */
  deadlineMs: number;
  /** Class ids to keep, applied before suppression; null = all. */
  classIds: number[] | null;
  /**
   * True: for the layouts `rows` and `final` the result has every row of the output instead of boxes, in its order, in
   * pixels of the input, whatever the numbers are.
   */
  everyRow?: boolean;
}

/** The index of each number in a result record of `meta`. */
export const ResultField = {
  id: 0,
  /** Index into `NATIVE_CODES`; 0 = ok. */
  code: 1,
  width: 2,
  height: 3,
  queueMs: 4,
  decodeMs: 5,
  preprocessMs: 6,
  inferenceMs: 7,
  postprocessMs: 8,
  /** Images of its batch. */
  batch: 9,
  /** 1 when `maxDetections` or the candidate cap cut the list. */
  truncated: 10,
  /** Wall time from submit to completion. */
  totalMs: 11,
  /** Columns of the grid that ran; 1 x 1 for a picture that was not cut. */
  tileColumns: 12,
  tileRows: 13,
  /** Width of a tile, in source pixels. */
  tileWidth: 14,
  tileHeight: 15,
  /** Degrees, north and east positive; NaN where the picture does not say where it was taken. */
  latitude: 16,
  longitude: 17,
} as const;

/**
 * The file that was read, behind those numbers and as integers of 64 bits: a double would round them. All are 0 where
 * none was read whole; a failed image may have been read.
 */
export const FileField = {
  size: 18,
  /** Nanoseconds since 1970. */
  modified: 19,
  changed: 20,
  device: 21,
  inode: 22,
  /** When the reading began, in nanoseconds since 1970 by the clock of this machine; 0: no file was read. */
  read: 23,
  /** SHA-256 of the bytes, where the task asked for it: the first quarter. */
  digest: 24,
} as const;
/** Numbers of 64 bits in a digest. */
export const DIGEST_FIELDS = 4;
export const RESULT_STRIDE = FileField.digest + DIGEST_FIELDS;

/** Status codes of `native/base/status.h`, in its order; each but `ok` is a key of `src/api/errors.ts`. */
export const NATIVE_CODES = [
  'ok',
  'cancelled',
  'deadline_exceeded',
  'image_not_found',
  'path_not_allowed',
  'not_a_regular_file',
  'image_unreadable',
  'image_too_large',
  'unsupported_image_format',
  'invalid_image',
  'input_changed',
  'volume_unavailable',
  'invalid_model',
  'unknown_model',
  'detection_failed',
  'gpu_unavailable',
  'gpu_lost',
  'overloaded',
  'shutting_down',
  'internal_error',
] as const;

/**
 * `boxes[i]` holds n x 6 floats (x1, y1, x2, y2, confidence, class id), source pixels after EXIF orientation,
 * sorted by confidence. `messages[i]` is null for ok. `meta` may be longer than needed, and is valid during the call
 * only, because the addon reuses it. Images without boxes share one empty array. `looks` is null where none has one.
 * `descriptors[i]` holds 64 bytes for each of the first boxes; it and the whole are null where there are none.
 */
export type OnNativeResults = (
  meta: Float64Array,
  boxes: Float32Array[],
  messages: (string | null)[],
  looks: (PictureLook | null)[] | null,
  descriptors: (Uint8Array | null)[] | null,
) => void;

/** Decoded images, counted by the decoder. */
export interface NativeDecodeStats {
  cpu: number;
  /** The JPEG engines of the GPU. */
  hardware: number;
  /** Images of `cpu` that the JPEG engines had tried and failed. */
  retries: number;
  /**
   * Why the GPU's JPEG engines do not decode; null where they do, on a core without a GPU, and until the first
   * `loadModel` has ended.
   */
  hardwareMissing: string | null;
}

export interface NativeStats extends AddonStatistics {
  decoding: number;
  inferring: number;
  /** Wide batches of sync tasks that compute at the same time. */
  syncBatches: number;
  /** Async images that are decoded ahead of the network, at most. */
  lookAhead: number;
  /** Async images whose files are read ahead of decoding, at most. */
  readAhead: number;
  /** Positions in `roots` of folders whose volume does not answer. */
  hangingRoots: number[];
  /** Share 0 to 1 of the TensorRT engine that is being built; -1 while none is. */
  buildShare: number;
}
