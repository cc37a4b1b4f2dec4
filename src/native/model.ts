/** A model that the addon has loaded, or only looked at. */
export interface NativeInputSize {
  width: number;
  height: number;
}

export interface NativeModel {
  modelId: number;
  task: string;
  /** Class name by class id. */
  names: string[];
  inputWidth: number;
  inputHeight: number;
  /** 0 = any batch size, else the export's fixed batch. */
  fixedBatch: number;
  /** Whether it also runs at every smaller input whose sides its stride divides. */
  anyRectangle: boolean;
  /** Else: smaller inputs that it also runs at, and a sentence for each that was asked for and cannot be had. */
  rectangles: NativeInputSize[];
  withoutRectangles: string[];
  /** The file leaves out boxes itself, those below a score of its own as well: an image may have none. */
  suppresses: boolean;
  device: string;
  precision: string;
  /** About what it takes of its device's memory, of each GPU's where there are several. */
  memoryBytes: number;
  stride: number;
  /** Free metadata of the export (licence, description, version ...), as text. */
  metadata: Record<string, string>;
}

/** What a model file says about itself. */
export interface NativeModelDescription {
  /** Class name by class id. */
  names: string[];
  /** Free metadata of the export (licence, description, version ...), as text. */
  metadata: Record<string, string>;
}
