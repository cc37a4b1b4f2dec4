/** Sizes of files as the commands show them: a megabyte is 10^6 bytes, as disks are sold and `modelMemoryMb` counts. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
