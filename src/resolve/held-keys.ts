/** The keys of secrets as a thread or a command has them. */

import { type EvidenceKey, requireEvidence, type SecretKey, type SecretKeys } from '../lib/sealed-text.ts';
import type { KeyRing } from './secret-leaves.ts';

/** Keys that can be sent to a thread. */
export interface ToldKeys extends SecretKeys {
  generation: number;
}

export const NO_KEYS: SecretKeys = { keys: [], evidence: null, evidenceKeyId: null };

/** Keys that were told. A thread is told again whenever there are others. */
export class HeldKeys implements KeyRing {
  private told: ToldKeys = { ...NO_KEYS, generation: 0 };

  hear(told: ToldKeys): void {
    this.told = told;
  }

  get generation(): number {
    return this.told.generation;
  }

  key(id: string): SecretKey | null {
    return this.told.keys.find((each) => each.id === id) ?? null;
  }

  evidenceKey(): EvidenceKey {
    return requireEvidence(this.told);
  }
}

/** The keys of a command, which stay the same. */
export function holding({ keys, evidence, evidenceKeyId }: SecretKeys): HeldKeys {
  const held = new HeldKeys();
  held.hear({ keys, evidence, evidenceKeyId, generation: 1 });
  return held;
}
