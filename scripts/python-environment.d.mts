/** Types of python-environment.mjs, which says what each does. */
export function edgePython(): string;
export function rayPython(): string;
