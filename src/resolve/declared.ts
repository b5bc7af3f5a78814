/** What a version declares about its parameters. "Could not be read" is a kind of its own, which nobody takes for "nothing". */

import { type MergeWay, PLAIN_WAY } from '../domain/merge-way.ts';
import { type HawserError, invalid } from '../lib/errors.ts';
import type { DocumentSource } from './document-source.ts';
import type { Declaration } from './document-tasks.ts';
import { storedSource } from './documents.ts';

export type Declared =
  | {
      kind: 'defined';
      /** The document that defines the parameters. */
      schema: DocumentSource;
      /** The names of the secure parameters. */
      secure: readonly string[];
      /** The parameters whose strategy is not the default. */
      strategies: MergeWay['strategies'];
    }
  /** There is no `parameters` block, so any parameters are accepted. */
  | { kind: 'nothing' }
  /** Nobody can tell, so no values may be shown, and nothing can be checked. */
  | {
      kind: 'unknown';
      /** What is wrong with the block, as `validation_failed`; null where the document cannot be read at all. */
      fault: HawserError | null;
    };

export const NOTHING_DECLARED: Declared = { kind: 'nothing' };
export const UNKNOWN_SCHEMA: Declared = { kind: 'unknown', fault: null };

/** @param key stands for the bytes of the block, and is of no other document */
export function toDeclared(key: string, declaration: Declaration): Declared {
  switch (declaration.kind) {
    case 'nothing':
      return NOTHING_DECLARED;
    case 'unknown':
      return {
        kind: 'unknown',
        fault: invalid('validation_failed', declaration.message, [...declaration.errors]),
      };
    case 'defined':
      return {
        kind: 'defined',
        schema: storedSource(key, declaration.block, 'yaml'),
        ...{ secure: declaration.secure, strategies: declaration.strategies },
      };
  }
}

/** The document that parameters are checked with. Null where nothing is checked, because nothing is declared or known. */
export function schemaIn(declared: Declared): DocumentSource | null {
  return declared.kind === 'defined' ? declared.schema : null;
}

/** How the parameters of what is declared merge, as long as no node is meant. What is unknown merges as if nothing were. */
export function wayOf(declared: Declared): MergeWay {
  if (declared.kind !== 'defined') return PLAIN_WAY;
  const { strategies } = declared;
  return strategies.length === 0 ? DECLARED_WAY : { ...DECLARED_WAY, strategies };
}

const DECLARED_WAY: MergeWay = { ...PLAIN_WAY, isDeclared: true };

export const DESCRIBE_UNKNOWN =
  'Which parameters there are is unknown, because the entry point of the version, or the schema uploaded for it, cannot ' +
  'be read. Look at the findings of the version, and correct the document.';
