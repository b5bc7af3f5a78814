/** What publishing would do to nodes: it is told before it is done, and asked about where it may do harm. */

import type { Schemas } from '../../client/api-types.ts';
import { ApiProblem } from '../../client/errors.ts';
import { majorOf } from '../../domain/version-order.ts';
import { type Context, YES } from '../declaration.ts';
import { Failure } from '../errors.ts';
import { counted } from '../values.ts';
import { makePreview, problemText, showCounts, tryingOf } from './config-preview.ts';

export const PUBLISH_OPTIONS = {
  ...YES,
  'no-preview': { summary: 'publish without a look at what nodes would get' },
} as const;

type Group = Schemas['PreviewGroup'];

interface Harm {
  /** Such as `lose what they have`. */
  words: string;
  isMet(group: Group): boolean;
}

const HARMS: readonly Harm[] = [
  { words: 'would get new parameter problems', isMet: ({ newProblems }) => newProblems.length > 0 },
  {
    words: 'would lose what they have',
    isMet: ({ before, after, change }) => before !== null && (after === null || change === 'Unresolvable'),
  },
  { words: 'would move to another major version', isMet: movesToOtherMajor },
];

/** So many changes fit into one preview. */
const MOST_CHANGES = 20;

/**
 * Makes a preview, or several for many changes, and prints the counts. Asks where nodes get new parameter problems, lose what
 * they have or move to another major version.
 * @param what such as `web 1.2.0`
 * @throws Failure where the answer is no, or nobody can be asked; nothing was done then
 */
export async function lookAtEffect(
  context: Pick<Context, 'api' | 'ask' | 'out'>,
  changes: Schemas['NewPreview']['changes'],
  what: string,
): Promise<void> {
  const { api, ask, out } = context;
  const groups: Group[] = [];
  for (let at = 0; at < changes.length; at += MOST_CHANGES) {
    const slice = changes.slice(at, at + MOST_CHANGES);
    const preview = await unlessForbidden(makePreview(api, tryingOf(context, slice), out), out);
    if (preview === null) return;
    const part = changes.length > MOST_CHANGES ? `files ${at + 1} to ${at + slice.length} of ${what}` : what;
    if (!out.isJson) showCounts(`Publishing ${part}`, preview, out);
    groups.push(...(await api.all('/api/v1/previews/{id}/groups', { path: { id: preview.id } })));
  }
  if (tellHarms(groups, out)) await ask.confirm(`Publish ${what} all the same?`, Failure);
}

/** Says what may do harm to nodes. @returns whether there is anything */
export function tellHarms(groups: readonly Group[], out: Context['out']): boolean {
  const harms = HARMS.map(({ words, isMet }) => ({ words, met: groups.filter(isMet) })).filter(
    ({ met }) => met.length > 0,
  );
  if (harms.length === 0) return false;
  const nodesOf = (met: readonly Group[]) => met.reduce((sum, { nodeCount }) => sum + nodeCount, 0);
  for (const { words, met } of harms) out.note(`${counted(nodesOf(met), 'node')} ${words}.`);
  for (const problem of new Set(groups.flatMap(({ newProblems }) => newProblems.map(problemText))))
    out.note(`Problem: ${problem}`);
  return true;
}

function movesToOtherMajor({ before, after }: Group): boolean {
  if (before === null || after === null || before.configurationName !== after.configurationName) return false;
  return majorOf(before.version) !== majorOf(after.version);
}

/** Whoever may publish may not be one who may see nodes. Says so where it is not. */
export async function unlessForbidden<T>(preview: Promise<T>, out: Context['out']): Promise<T | null> {
  try {
    return await preview;
  } catch (error) {
    if (!(error instanceof ApiProblem && error.status === 403)) throw error;
    out.note('What nodes would get was not looked at: that needs the permission nodes.read.');
    return null;
  }
}
