/** `hawserctl config preview` and `composite preview`: which nodes change when a draft is published. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { ApiProblem } from '../../client/errors.ts';
import { lineOfFinding } from '../../domain/findings.ts';
import { MINUTE, SECOND } from '../../lib/clock.ts';
import { type Command, type Context, command } from '../declaration.ts';
import { EXIT, Failure } from '../errors.ts';
import { counted } from '../values.ts';
import { checkVersion, type Kind, nameAndVersion } from './config-kinds.ts';

type Out = Context['out'];
type Preview = Schemas['Preview'];
type Change = Schemas['NewPreview']['changes'][number];

export const NODES = { nodes: { summary: 'list the nodes that change' } } as const;

const POLL = { first: 0.1 * SECOND, longest: 2 * SECOND };
const LONGEST = 10 * MINUTE;
const MOST_REASONS = 20;

export function previewCommand(kind: Kind): Command {
  return command({
    path: `${kind.group} preview`,
    summary: 'see which nodes change when a draft is published',
    description:
      'Nothing is changed. Exits with 1 where some node would get an error or nothing in place of what it gets now.',
    arguments: nameAndVersion(kind),
    options: NODES,
    examples: [`hawserctl ${kind.group} preview web 1.2.0 --nodes`],
    async run(context) {
      const { name, version } = context.arguments;
      checkVersion(version);
      const changes = [publishingOf(kind, name, version)];
      return showPreview(context, tryingOf(context, changes), `Publishing ${name} ${version}`);
    },
  });
}

/** The change that publishes a version, for a preview. */
export function publishingOf(kind: Kind, name: string, version: string): Change {
  return kind.group === 'config'
    ? { kind: 'PublishConfiguration', configurationName: name, version }
    : { kind: 'PublishComposite', compositeName: name, version };
}

/** Has a preview begun. */
type Begin = () => Promise<Preview>;

/** Begins a preview of these changes. */
export const tryingOf =
  ({ api }: Pick<Context, 'api'>, changes: Change[]): Begin =>
  () =>
    api.post('/api/v1/previews', { json: { changes } });

/**
 * Makes a preview, and prints it.
 * @param what changes nodes, such as `Publishing web 1.2.0`
 * @returns the exit code
 */
export async function showPreview(
  { api, out, options }: Pick<Context, 'api' | 'out'> & { options: { nodes: boolean } },
  begin: Begin,
  what: string,
): Promise<number> {
  const preview = await makePreview(api, begin, out);
  const path = { id: preview.id };
  const groups = await api.all('/api/v1/previews/{id}/groups', { path });
  const nodes = options.nodes ? await api.all('/api/v1/previews/{id}/nodes', { path }) : null;
  const reasons = out.isJson ? [] : await reasonsOf(api, preview, groups);
  const changing = nodes?.filter((node) => node.change !== 'Unchanged') ?? null;
  out.answer({ ...preview, groups, ...(changing && { nodes: changing }) }, () => {
    for (const { findings } of preview.findings)
      for (const finding of findings) out.note(lineOfFinding(finding));
    showCounts(what, preview, out);
    if (groups.length > 0) showGroups(groups, out);
    for (const reason of reasons) out.text(`Unresolvable: ${reason}`);
    if (changing) showNodes(changing, out);
  });
  if (preview.counts.unresolvable === 0) return EXIT.done;
  out.note(`${counted(preview.counts.unresolvable, 'node')} would get an error or nothing.`);
  return EXIT.failed;
}

/** Waits until it is made. @throws Failure where it cannot be made */
export async function makePreview(api: Api, begin: Begin, out: Out): Promise<Preview> {
  let preview = await begin();
  const end = Date.now() + LONGEST;
  for (let delay = POLL.first; preview.state === 'Running'; delay = Math.min(2 * delay, POLL.longest)) {
    if (Date.now() > end)
      throw new Failure('The preview is not made after ten minutes. Nothing was changed.');
    const { nodes, changed, unchanged, unresolvable } = preview.counts;
    out.progress(`${changed + unchanged + unresolvable} of ${nodes} nodes`);
    await sleep(delay);
    preview = await api.get('/api/v1/previews/{id}', { path: { id: preview.id } });
  }
  out.endProgress();
  if (preview.state === 'Failed')
    throw new Failure(`The preview failed: ${preview.error ?? 'no reason is known'}`);
  return preview;
}

/** Why nodes would get nothing, each reason once; or why that was not kept. */
async function reasonsOf(
  api: Api,
  { id }: Preview,
  groups: readonly Schemas['PreviewGroup'][],
): Promise<Set<string>> {
  const reasons = new Set<string>();
  for (const group of groups.filter(({ change }) => change === 'Unresolvable').slice(0, MOST_REASONS)) {
    const path = { id, groupId: group.id };
    try {
      const { code, message } = await api.get('/api/v1/previews/{id}/groups/{groupId}', { path });
      reasons.add([code, message].filter((each) => each !== null).join(': '));
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.code !== 'narrow_preview') throw error;
      reasons.add(error.message);
    }
  }
  return reasons;
}

/** @param what changes nodes, such as `Publishing web 1.2.0` */
export function showCounts(what: string, { counts }: Preview, out: Out): void {
  const { nodes, changed, unchanged, unresolvable, notVisible } = counts;
  out.text(
    `${what} changes ${changed} of ${counted(nodes, 'node')}; ` +
      `${unchanged} unchanged, ${unresolvable} unresolvable.`,
  );
  if (notVisible > 0) out.text(`${counted(notVisible, 'more node')} may not be seen by you.`);
}

function showGroups(groups: readonly Schemas['PreviewGroup'][], out: Out): void {
  out.text('');
  out.table(
    groups,
    [
      { title: 'NODES', cell: ({ nodeCount }) => nodeCount },
      { title: 'CHANGE', cell: ({ change }) => change },
      { title: 'BEFORE', cell: ({ before }) => sideOf(before) },
      { title: 'AFTER', cell: ({ after }) => sideOf(after) },
      { title: 'FILES', cell: ({ files }) => files.added + files.removed + files.modified + files.renamed },
      { title: 'PARAMETERS', cell: ({ parameterChanges }) => parameterChanges },
      { title: 'PROBLEMS', cell: ({ newProblems }) => newProblems.length },
      { title: 'SUCH AS', cell: ({ sampleNodes }) => sampleNodes.map(({ fqdn }) => fqdn).join(', ') },
    ],
    '',
  );
  const problems = new Set(groups.flatMap(({ newProblems }) => newProblems.map(problemText)));
  for (const problem of problems) out.text(`Problem: ${problem}`);
}

export function problemText({ path, message }: Schemas['FieldError']): string {
  return `${path || '/'}: ${message}`;
}

function sideOf(side: { configurationName: string; version: string } | null): string {
  return side === null ? 'nothing' : `${side.configurationName} ${side.version}`;
}

function showNodes(nodes: readonly Schemas['PreviewNode'][], out: Out): void {
  out.text('');
  out.table(
    nodes,
    [
      { title: 'NODE', cell: ({ fqdn }) => fqdn },
      { title: 'CHANGE', cell: ({ change }) => change },
    ],
    'No node changes.',
  );
}
