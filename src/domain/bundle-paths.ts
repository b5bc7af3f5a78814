/** Paths with a special meaning in a configuration and in the bundle that is made of it. */

import { foldPath } from './safe-path.ts';

/** The entry point of a configuration that names none. */
export const DEFAULT_ENTRY_POINT = 'main.dsc.yaml';

/** The path of the merged parameters in a bundle. */
export const PARAMETERS_FILE = 'parameters.yaml';
const PARAMETERS_KEY = foldPath(PARAMETERS_FILE);

/** Whether a path clashes with that of the parameters, also as a folder, and without regard to case. */
export function takesParametersPlace(path: string): boolean {
  return foldPath(path.split('/', 1)[0] ?? '') === PARAMETERS_KEY;
}
