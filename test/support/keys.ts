/** Keys of secrets for tests that have none. */

import { NO_KEYS as NONE } from '../../src/resolve/held-keys.ts';
import type { KeySource } from '../../src/threads/open.ts';

export const NO_KEYS: KeySource = { ...NONE, generation: 0 };
