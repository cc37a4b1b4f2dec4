/** The ways from JPEG bytes to pixels that the addon has. */
import type { NativeBuildInfo, NativeCoreOptions } from '../../src/native/contract.js';
import { buildInfo } from '../../src/native/core.js';

/** As the addon lists them; one that lists none has the CPU's only. */
export function decodeRoutes(): string[] {
  const { decodeRoutes: routes } = buildInfo() as NativeBuildInfo & { decodeRoutes?: string[] };
  return routes ?? ['cpu'];
}

/** Options of a core that decodes by these routes only. */
export function onlyRoutes(routes: string[]): Partial<NativeCoreOptions> {
  const options: Partial<NativeCoreOptions> & { decodeRoutes: string[] } = { decodeRoutes: routes };
  return options;
}
