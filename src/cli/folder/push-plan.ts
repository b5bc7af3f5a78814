/** Decides what a push makes: which version, in place of which draft, and compared with which version below. */

import type { Schemas } from '../../client/api-types.ts';
import { DEFAULT_ENTRY_POINT } from '../../domain/bundle-paths.ts';
import { compareVersions, nextPatch, sameVersion } from '../../domain/version-order.ts';
import { UsageError } from '../errors.ts';

export type Version = Schemas['ConfigurationVersion'];

export interface PushPlan {
  version: string;
  /** The draft or the published version that is there under this number; null for a new one. */
  present: Version | null;
  /** The highest version below that is published and not withdrawn; null where there is none. */
  below: Version | null;
  entryPoint: string;
}

const FIRST = '1.0.0';

/**
 * Without a version it is the draft above the highest published version, else the next patch after that.
 * @param versions all of them, the highest first
 * @throws UsageError where several drafts could be meant
 */
export function planPush(
  versions: readonly Version[],
  wanted: { version?: string | undefined; entryPoint?: string | undefined },
): PushPlan {
  const version = wanted.version ?? impliedVersion(versions);
  const present = versions.find((each) => sameVersion(each.version, version)) ?? null;
  const lower = present
    ? versions.slice(versions.indexOf(present) + 1)
    : versions.filter((each) => compareVersions(each.version, version) < 0);
  const below = lower.find(({ status, withdrawn }) => status === 'Published' && withdrawn === null) ?? null;
  const inherited = (present ?? below ?? versions[0])?.entryPoint;
  return { version, present, below, entryPoint: wanted.entryPoint ?? inherited ?? DEFAULT_ENTRY_POINT };
}

function impliedVersion(versions: readonly Version[]): string {
  const at = versions.findIndex(({ status }) => status === 'Published');
  const drafts = at < 0 ? versions : versions.slice(0, at);
  if (drafts.length > 1)
    throw new UsageError(
      `There are several drafts: ${drafts.map((each) => each.version).join(', ')}. Say which one by --version.`,
    );
  const [draft] = drafts;
  if (draft !== undefined) return draft.version;
  return at < 0 ? FIRST : nextPatch(versions[at]?.version ?? null);
}

/** A hint for people whose entry point has another name than the one that is looked for. */
export function likelyEntryPoints(paths: readonly string[]): string[] {
  return paths.filter((path) => /\.dsc\.(ya?ml|json)$/i.test(path)).slice(0, 5);
}
