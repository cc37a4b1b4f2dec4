/** The decoders that a core has. */
export interface NativeDecodeRoutes {
  routes: NativeDecodeRoute[];
  /** Why GPUs lack a route, a sentence each. */
  missing: string[];
}

export interface NativeDecodeRoute {
  /** `cpu`, `cpu reduced`, `nvjpeg hardware` or `nvjpeg cuda`. */
  name: string;
  /** What does the work: `cpu`, or a part of one GPU. Routes of one resource share its fate. */
  resource: string;
  /** Images answered, faulty ones included. */
  decoded: number;
  /** Images that another route decoded instead. */
  refused: number;
  /** What a baseline JPEG of 1000 x 1000 takes now, its bytes apart. */
  megapixelMs: number;
  /** The device is gone for good. */
  lost: boolean;
}
