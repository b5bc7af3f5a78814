/** A parameter document or a schema, as tasks are given it. */

import type { DocumentType } from '../domain/parameter-document.ts';
import type { SecretPlace } from '../lib/sealed-text.ts';

/** Whose file it is. A text opens in the files of one scope alone. */
export type SeriesPlace = Omit<SecretPlace, 'pointer'>;

/** A document as bytes. */
export interface DocumentSource {
  /** Two documents have the same key only if their bytes and their type are the same. */
  key: string;
  type: DocumentType;
  bytes: Uint8Array;
  /** Whether it comes from a repository. It was checked when it was uploaded, or stock git stored it unchecked. */
  isStored: boolean;
  /** Whether there may be encrypted texts in it. */
  maySeal: boolean;
  /** Whether it may hold `unset`. What lacks it needs no look. */
  mayUnset: boolean;
  /** Where its encrypted texts open; null where it holds none, or they are to stay texts. */
  place: SeriesPlace | null;
  /** What it costs to read, as the number of bytes of a JSON document that costs the same. */
  weight: number;
}
