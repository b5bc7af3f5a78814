/**
 * What a push asks for, as its refs and options say by themselves: no object is looked at here. A push to a configuration is
 * about one version, and one to parameters about many files.
 */

import { isSetTitle, MAX_DEEDS } from '../domain/change-set.ts';
import { isVersion, isVersionName } from '../domain/version-order.ts';
import { conflict, HawserError, invalid } from '../lib/errors.ts';
import { groupBy } from '../lib/group-by.ts';
import { isBesideStatus, KINDS, labelOf, parseRefName, SCHEMA_SERIES } from './kinds.ts';

/** The kinds of repositories that take pushes. */
export type PushedKind = 'configurations' | 'parameters';

/** The value of a ref before and after, as the client wants it; null where the ref is not, or is not to be. */
export interface AskedMove {
  /** The full name of the ref. It may hold anything. */
  name: string;
  from: string | null;
  to: string | null;
}

/** A draft that is made, moved or deleted, and the tag of the same version. At least one of both is there. */
export interface PushedVersion {
  series: string;
  version: string;
  /** The full name of the first of its refs. */
  ref: string;
  /** It goes where `to` is null. */
  draft: { from: string | null; to: string | null } | null;
  /** The id of the tag. */
  tag: string | null;
}

export interface PushPlan {
  /** There is at least one, and no two have the same series and version. */
  versions: readonly PushedVersion[];
  /** Whether the server is to make the tags of all drafts, in the name of who pushes. */
  publishes: boolean;
  /** The path that the client names for a configuration; null for none. */
  entryPoint: string | null;
  /** The title of the change set that is to publish all of it later; null where none is asked for. */
  proposes: string | null;
  /** Whether a tag is kept beside its draft, for whoever publishes that. */
  keeps: boolean;
}

type NamedMove = AskedMove & { series: string; version: string; status: 'Draft' | 'Published' };

const MAIN = 'refs/heads/main';
const ENTRY_POINT = 'entry-point=';
const PROPOSE = 'propose=';

/**
 * @param moves at least one, each of another ref
 * @throws HawserError with the code of the first rule that is broken: `main_follows`, `unknown_ref`, `published_version`,
 *   `one_version_per_push`, `invalid_option`
 */
export function planPush(
  kind: PushedKind,
  moves: readonly AskedMove[],
  options: readonly string[],
): PushPlan {
  const asked = groupBy(
    moves.map((move) => ({ ...move, ...blaming(move.name, () => nameOf(kind, move)) })),
    ({ series, version }) => labelOf(series, version),
  );
  if (kind === 'configurations' && asked.size > 1)
    throw invalid('one_version_per_push', 'A push is about one version; push each by itself');
  const versions = [...asked.values()].map(versionOf);
  if (kind === 'parameters') refuseTwins(versions);
  const { publishes, entryPoint, proposes, keeps } = readOptions(kind, options);
  if (proposes !== null && (versions.some(isDeletion) || versions.length > MAX_DEEDS))
    throw wrongOption(`"propose" goes with drafts and tags, ${MAX_DEEDS} at most, and with nothing else`);
  if (keeps && (moves.length > 1 || versions.some(({ tag }) => tag === null)))
    throw wrongOption('"keep" goes with one tag, and with nothing else');
  if (publishes && versions.some(({ tag, draft }) => tag !== null || draft?.to === null))
    throw wrongOption('"publish" goes with drafts, and with nothing else');
  return { versions, publishes, entryPoint, proposes, keeps };
}

/** @throws HawserError `version_exists` for two of a series that differ in build metadata alone */
function refuseTwins(versions: readonly PushedVersion[]): void {
  const seen = new Map<string, PushedVersion>();
  for (const one of versions) {
    const [core = ''] = one.version.split('+');
    const twin = seen.get(labelOf(one.series, core));
    if (twin) throw ofRef(one.ref, conflict('version_exists', `The push has version ${twin.version} too.`));
    seen.set(labelOf(one.series, core), one);
  }
}

/** Whether a draft goes, and nothing comes in its place. */
export function isDeletion({ tag, draft }: PushedVersion): boolean {
  return tag === null && draft?.to === null;
}

function versionOf(moves: readonly NamedMove[]): PushedVersion {
  const [{ series, version, name: ref }] = moves as [NamedMove];
  const tag = moves.find(({ status }) => status === 'Published')?.to ?? null;
  const draft = moves.find(({ status }) => status === 'Draft') ?? null;
  // A draft that goes with the push of its tag goes by itself.
  const isKept = draft !== null && (draft.to !== null || tag === null);
  return { series, version, ref, tag, draft: isKept ? { from: draft.from, to: draft.to } : null };
}

function nameOf(
  kind: PushedKind,
  { name, from, to }: AskedMove,
): Pick<NamedMove, 'series' | 'version' | 'status'> {
  if (kind === 'configurations' && name === MAIN)
    throw conflict(
      'main_follows',
      'main follows the highest stable version by itself; push a draft or a tag',
    );
  const named = parseRefName(KINDS[kind], name);
  if (named === null || named === 'illegal') throw unknownRef(kind);
  const { series, version, status } = named;
  if (isBesideStatus(status) || series === SCHEMA_SERIES) throw unknownRef(kind);
  // The files of parameters are matched by their major version.
  if (!isVersion(version) && (kind === 'parameters' || !isVersionName(version))) throw unknownRef(kind);
  if (status === 'Published' && (from !== null || to === null))
    throw conflict('published_version', 'The tag of a published version is never moved nor deleted');
  return { series, version, status };
}

function readOptions(
  kind: PushedKind,
  options: readonly string[],
): Pick<PushPlan, 'publishes' | 'entryPoint' | 'proposes' | 'keeps'> {
  let publishes = false;
  let keeps = false;
  let proposes: string | null = null;
  let entryPoint: string | null = null;
  const takesEntryPoint = kind === 'configurations';
  for (const option of options) {
    if (option === 'publish' && !publishes) publishes = true;
    else if (option === 'keep' && !keeps) keeps = true;
    else if (option.startsWith(PROPOSE) && proposes === null)
      proposes = readTitle(option.slice(PROPOSE.length));
    else if (takesEntryPoint && option.startsWith(ENTRY_POINT) && entryPoint === null)
      entryPoint = option.slice(ENTRY_POINT.length);
    else if (takesEntryPoint)
      throw wrongOption(
        'The options of a push are "publish", "keep", "entry-point=<path>" and "propose=<title>", each once',
      );
    else
      throw wrongOption(
        'The options of a push of parameters are "publish", "keep" and "propose=<title>", each once',
      );
  }
  if (publishes && proposes !== null)
    throw wrongOption('"publish" and "propose" exclude each other: what is proposed is published later');
  if (keeps && (publishes || proposes !== null))
    throw wrongOption('"keep" excludes "publish" and "propose": what is proposed is kept too');
  if (entryPoint !== null && !publishes) throw wrongOption('"entry-point" goes with "publish"');
  return { publishes, entryPoint, proposes, keeps };
}

function readTitle(text: string): string {
  const title = text.trim();
  if (isSetTitle(title)) return title;
  throw wrongOption('"propose" needs a title: one line of 1 to 200 characters');
}

/** Makes the errors of `work` say which ref of a push they are about. */
export async function blamingLater<T>(ref: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw ofRef(ref, error);
  }
}

function blaming<T>(ref: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw ofRef(ref, error);
  }
}

/** The error with the full name of the ref of a push that it is about, as `data.pushed`, where it does not say it yet. */
export function ofRef(ref: string, error: unknown): unknown {
  if (!(error instanceof HawserError) || 'pushed' in error.data) return error;
  const { kind, message, data, retryAfter, cause } = error;
  return new HawserError(kind, error.code, message, { data: { ...data, pushed: ref }, retryAfter, cause });
}

const wrongOption = (message: string): HawserError => invalid('invalid_option', message);

const TAKEN = {
  configurations: 'A push takes drafts, which are branches draft/<version>, and tags v<version>',
  parameters:
    'A push of parameters takes drafts, which are branches draft/<ScopeType>[/<value>]/<version>, and tags ' +
    '<ScopeType>[/<value>]/v<version>; versions are SemVer',
};

export const unknownRef = (kind: PushedKind): HawserError => invalid('unknown_ref', TAKEN[kind]);
