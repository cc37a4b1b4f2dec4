/** Problems and texts as callers may see them: without the folders of the service. */
import type { LatticeError, Problem } from '../api/errors.js';
import type { Config } from '../settings/config.js';

/** Removes the service's folders from texts that are sent to callers. */
export type HideFolders = (text: string) => string;

/** A path beneath a folder of the settings is shown relative to it. */
export function createHideFolders(
  config: Pick<Config, 'imageRoots' | 'modelsDir' | 'dataDir'>,
): HideFolders {
  const patterns = [...config.imageRoots, config.modelsDir, config.dataDir]
    .filter((folder) => folder.length > 1)
    .sort((a, b) => b.length - a.length)
    .map((folder) => new RegExp(`${escapeRegExp(folder)}(?:(/)|(?![\\w.-]))`, 'g'));
  const relative = (_match: string, slash: string | undefined) => (slash === undefined ? '.' : '');
  return (text) => patterns.reduce((shown, pattern) => shown.replace(pattern, relative), text);
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** The problem as a caller may see it. */
export function toProblem(error: LatticeError, hide: HideFolders, requestId?: string): Problem {
  return hideInProblem(error.toProblem(requestId), hide);
}

export function hideInProblem(problem: Problem, hide: HideFolders): Problem {
  const shown: Problem = { ...problem, detail: hide(problem.detail) };
  if (problem.errors !== undefined) {
    shown.errors = problem.errors.map((item) => ({ ...item, detail: hide(item.detail) }));
  }
  return shown;
}
