/** How `lattice run --sort` gives pictures a place in the folder of their outcome. */
export const SORTS = ['link', 'copy', 'move'] as const;
export type Sort = (typeof SORTS)[number];
