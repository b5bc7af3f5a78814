/** Joins previews with the threads that know the whole fleet. */

import { HawserError } from '../../lib/errors.ts';
import type { GroupExplainer, PreviewEngine } from './making.ts';

const missing = () => new HawserError('not_implemented', 'not_implemented', 'There is no engine yet');

export const ENGINE: PreviewEngine = { make: () => Promise.reject(missing()) };
export const EXPLAINER: GroupExplainer = {
  details: () => Promise.reject(missing()),
  fileDiff: () => Promise.reject(missing()),
};
