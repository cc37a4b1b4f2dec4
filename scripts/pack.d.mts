/** Types of pack.mjs, which says what each does. */
export function packService(target: string): { glibc: string; glibcxx: string };
export function pack(parts: string[], target: string): Promise<void>;
