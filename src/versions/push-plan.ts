/**
 * What a push asks for, as its refs and options say by themselves: no object is looked at here. A push is about one version.
 */

import { isVersion, isVersionName } from '../domain/version-order.ts';
import { conflict, type HawserError, invalid } from '../lib/errors.ts';
import { isBesideStatus, KINDS, parseRefName } from './kinds.ts';

/** The value of a ref before and after, as the client wants it; null where the ref is not, or is not to be. */
export interface AskedMove {
  /** The full name of the ref. It may hold anything. */
  name: string;
  from: string | null;
  to: string | null;
}

/** A draft that is made or moved, and the tag of the same version. At least one of both is there. */
export interface PushedVersion {
  kind: 'version';
  version: string;
  draft: { from: string | null; to: string } | null;
  /** The id of the tag. */
  tag: string | null;
  /** Whether the server is to make the tag, in the name of who pushes. */
  publishes: boolean;
  /** The path that the client names for it; null for none. */
  entryPoint: string | null;
}

/** A draft that is to go. */
export interface DeletedDraft {
  kind: 'deletion';
  version: string;
  from: string;
}

export type PushPlan = PushedVersion | DeletedDraft;

const MAIN = 'refs/heads/main';
const ENTRY_POINT = 'entry-point=';

/**
 * @param moves at least one, each of another ref
 * @throws HawserError with the code of the first rule that is broken: `main_follows`, `unknown_ref`, `published_version`,
 *   `one_version_per_push`, `invalid_option`
 */
export function planPush(moves: readonly AskedMove[], options: readonly string[]): PushPlan {
  const asked = moves.map((move) => ({ ...move, ...nameOf(move) }));
  const versions = new Set(asked.map(({ version }) => version));
  const [version = ''] = versions;
  if (versions.size !== 1)
    throw invalid('one_version_per_push', 'A push is about one version; push each by itself');
  const tag = asked.find(({ status }) => status === 'Published');
  const draft = asked.find(({ status }) => status === 'Draft');
  const { publishes, entryPoint } = readOptions(options);
  if (publishes && (tag !== undefined || draft?.to === null))
    throw wrongOption('"publish" goes with a draft, and with nothing else');
  if (tag === undefined && draft?.to === null) return { kind: 'deletion', version, from: draft.from ?? '' };
  return {
    kind: 'version',
    version,
    // A draft that goes with the push of its tag goes by itself.
    draft: draft && draft.to !== null ? { from: draft.from, to: draft.to } : null,
    tag: tag?.to ?? null,
    publishes,
    entryPoint,
  };
}

function nameOf({ name, from, to }: AskedMove): { version: string; status: 'Draft' | 'Published' } {
  if (name === MAIN)
    throw conflict(
      'main_follows',
      'main follows the highest stable version by itself; push a draft or a tag',
    );
  const named = parseRefName(KINDS.configurations, name);
  if (named === null || named === 'illegal') throw unknownRef();
  const { version, status } = named;
  if (isBesideStatus(status)) throw unknownRef();
  if (!isVersion(version) && !isVersionName(version)) throw unknownRef();
  if (status === 'Published' && (from !== null || to === null))
    throw conflict('published_version', 'The tag of a published version is never moved nor deleted');
  return { version, status };
}

function readOptions(options: readonly string[]): Pick<PushedVersion, 'publishes' | 'entryPoint'> {
  let publishes = false;
  let entryPoint: string | null = null;
  for (const option of options) {
    if (option === 'publish' && !publishes) publishes = true;
    else if (option.startsWith(ENTRY_POINT) && entryPoint === null)
      entryPoint = option.slice(ENTRY_POINT.length);
    else throw wrongOption('The options of a push are "publish" and "entry-point=<path>", each once');
  }
  if (entryPoint !== null && !publishes) throw wrongOption('"entry-point" goes with "publish"');
  return { publishes, entryPoint };
}

const wrongOption = (message: string): HawserError => invalid('invalid_option', message);

const unknownRef = (): HawserError =>
  invalid('unknown_ref', 'A push takes drafts, which are branches draft/<version>, and tags v<version>');
