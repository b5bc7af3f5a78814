/**
 * What the content of a version must be, whoever made it: asked before we write one, and of every tag and
 * draft branch that stock git may have made.
 */

import { COMPOSITE_FILE, parseComposite } from '../domain/composite-document.ts';
import { normalizePath, PathSet, showText } from '../domain/safe-path.ts';
import { HawserError, invalid } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import type { DraftContent, RepositoryKind } from './types.ts';

/** Raised with every change of a rule, here or in what is asked: what was checked before is checked anew. */
export const RULES = 2;

interface KindRules {
  /** The path of the file without which nothing works; null: none. */
  required(entryPoint: string): string | null;
  /** Whether that file can be used; null: any can. */
  isReadable: ((content: Uint8Array) => boolean) | null;
}

const RULES_OF: Record<RepositoryKind, KindRules> = {
  configurations: { required: (entryPoint) => entryPoint, isReadable: null },
  composites: {
    required: () => COMPOSITE_FILE,
    isReadable: (content) => parseComposite(Buffer.from(content).toString('utf8')) !== null,
  },
  parameters: { required: () => null, isReadable: null },
};

export function rulesOf(kind: RepositoryKind): KindRules {
  return RULES_OF[kind];
}

/** Throws `invalid_path` unless each path is in its stored form and they fit beside each other. */
export async function checkPaths(paths: readonly string[]): Promise<void> {
  const set = new PathSet();
  const pace = new Pace();
  for (const path of paths) {
    if (normalizePath(path) !== path) {
      throw invalid(
        'invalid_path',
        `The path "${showText(path)}" is not in the form in which paths are stored`,
      );
    }
    set.add(path);
    if (pace.isDue) await pace.rest();
  }
}

/** What `checkPaths` says of these, as text; null when it finds nothing. */
export async function pathFault(paths: readonly string[]): Promise<string | null> {
  try {
    await checkPaths(paths);
    return null;
  } catch (error) {
    if (error instanceof HawserError && error.kind === 'invalid') return error.message;
    throw error;
  }
}

export function lacksFile(path: string): string {
  return `There is no file at "${showText(path)}"`;
}

export function cannotRead(path: string): string {
  return `The file "${showText(path)}" cannot be used`;
}

/** The rules for files that are about to be stored; callers have said the same more kindly before. */
export async function checkContent(kind: RepositoryKind, { entryPoint, files }: DraftContent): Promise<void> {
  await checkPaths([entryPoint]);
  await checkPaths(files.map(({ path }) => path));
  const { required, isReadable } = rulesOf(kind);
  const needed = required(entryPoint);
  if (needed === null) return;
  const file = files.find(({ path }) => path === needed);
  if (!file) throw invalid('validation_failed', lacksFile(needed));
  if (isReadable && !isReadable(file.content)) throw invalid('validation_failed', cannotRead(needed));
}
