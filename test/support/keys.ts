/** Keys of secrets for tests that have none. */

import type { KeySource } from '../../src/threads/open.ts';

export const NO_KEYS: KeySource = { keys: [], evidence: null, generation: 0 };
