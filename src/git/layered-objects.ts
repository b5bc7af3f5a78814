/** Objects that a repository is about to get, over those that it has. Nothing is written through them. */

import { internal } from '../lib/errors.ts';
import type { ObjectContent } from './loose-objects.ts';
import type { ObjectBackend, ReadContent } from './object-backend.ts';

/** Objects beside a repository. */
export interface UpperObjects {
  has(oid: string): boolean;
  /** The bytes are those that the id says. */
  read(oid: string): Promise<ObjectContent>;
}

export class LayeredObjects implements ObjectBackend {
  private readonly upper: UpperObjects;
  private readonly lower: ObjectBackend;

  constructor(upper: UpperObjects, lower: ObjectBackend) {
    this.upper = upper;
    this.lower = lower;
  }

  async read(gitdir: string, oid: string): Promise<ReadContent> {
    if (!this.upper.has(oid)) return this.lower.read(gitdir, oid);
    return { ...(await this.upper.read(oid)), isProven: true };
  }

  async writeIfAbsent(): Promise<void> {
    throw internal('internal_error', 'Nothing is written here');
  }

  async write(): Promise<void> {
    throw internal('internal_error', 'Nothing is written here');
  }

  async writeStream(): Promise<void> {
    throw internal('internal_error', 'Nothing is written here');
  }
}
