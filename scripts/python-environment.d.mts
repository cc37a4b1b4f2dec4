/** Types of python-environment.mjs, which says what each does. */
export function edgePython(): Promise<string>;
export function rayPython(): Promise<string>;
/** Python with the notebooks' packages and no Ray. */
export function pythonWithoutRay(): Promise<string>;
