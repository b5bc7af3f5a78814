/** `hawserctl node diff`: what nodes run against what they are offered. What cannot be told is said. */

import { ApiProblem } from '../../client/errors.ts';
import { type Context, command } from '../declaration.ts';
import { EXIT, UsageError } from '../errors.ts';
import { patchOf } from '../folder/differences.ts';
import { scopeText } from '../scopes.ts';
import { showPatch } from './config-compared.ts';
import { chooseNodes, findNode, NODE_FILTER, NODES } from './node-choice.ts';
import { compareNode, type NodeComparison, readContents } from './node-compared.ts';
import { AT, compareNodes } from './past.ts';

type Out = Context['out'];

export const diff = command({
  path: 'node diff',
  summary: 'show what differs between what nodes run and what they are offered, or between two nodes',
  description:
    'Two nodes are compared with each other: what they are offered, or ran at a time. One node with --at is compared with what it ' +
    'is offered now. Otherwise it is what each runs and what it is offered. ' +
    'Prints versions, and unified diffs of files and of parameter files, in which secure values are redacted. Prints one object with --json for one node ' +
    'that is named, and a list otherwise; it tells versions and files alone.',
  arguments: NODES,
  options: {
    ...NODE_FILTER,
    at: { ...AT, summary: `what the first ran ${AT.summary}` },
    'right-at': { ...AT, summary: `what the second ran ${AT.summary}` },
  },
  examples: [
    'hawserctl node diff web01.example.com',
    'hawserctl node diff web01.example.com web02.example.com',
    'hawserctl node diff web01.example.com --at 2026-11-20T15:30:00Z',
    'hawserctl node diff --filter configurationName=web',
  ],
  async run({ api, out, arguments: { node: words }, options }) {
    const { at: leftAt, 'right-at': rightAt } = options;
    const [left, right = left, ...others] = words;
    const hasTime = leftAt !== undefined || rightAt !== undefined;
    if (hasTime && (left === undefined || others.length > 0 || options.filter.length > 0))
      throw new UsageError('With --at and --right-at, say one node or two.');
    if (left !== undefined && right !== undefined && (words.length === 2 || hasTime)) {
      await compareNodes({ api, out }, [left, right], { leftAt, rightAt });
      return EXIT.done;
    }
    const nodes = await chooseNodes(api, words, options.filter);
    const isOne = words.length === 1;
    const all: NodeComparison[] = [];
    let code: number = EXIT.done;
    for (const { id, fqdn } of nodes) {
      try {
        const compared = await compareNode(api, await findNode(api, id));
        all.push(compared);
        if (!out.isJson) await show(api, compared, all.length > 1, out);
      } catch (error) {
        if (!(error instanceof ApiProblem) || isOne) throw error;
        out.note(`${fqdn}: ${error.code}: ${error.message}`);
        code = EXIT.failed;
      }
    }
    if (nodes.length === 0) out.note('There are no such nodes.');
    if (out.isJson) out.json(isOne ? all[0] : all);
    return code;
  },
});

async function show(api: Context['api'], compared: NodeComparison, isNext: boolean, out: Out): Promise<void> {
  const { fqdn, reason, parts } = compared;
  if (isNext) out.text('');
  if (reason !== null) {
    out.text(`${fqdn}: ${reason}`);
    return;
  }
  const rows = parts.flatMap(({ configurationName, runs, offered, parameters }) => [
    { what: configurationName, runs, offered },
    ...parameters.map((each) => ({
      what: `${configurationName} parameters of ${scopeText(each)}`,
      ...{ runs: each.runs, offered: each.offered },
    })),
  ]);
  const different = rows.filter((row) => row.runs !== row.offered);
  out.text(`${fqdn}:`);
  out.table(
    different,
    [
      { title: 'WHAT', cell: ({ what }) => what },
      { title: 'RUNS', cell: ({ runs }) => runs },
      { title: 'OFFERED', cell: ({ offered }) => offered },
    ],
    'All versions are the same. What else makes the checksums differ cannot be told from them.',
  );
  for (const part of parts) {
    if (part.runs !== null && part.offered !== null && part.runs !== part.offered)
      showPatch(await filesPatch(api, part.configurationName, part.runs, part.offered), out);
    const { before, after } = await readContents(api, part);
    const patch = await patchOf(before, after);
    if (patch.length > 0) showPatch(patch, out);
  }
}

async function filesPatch(api: Context['api'], name: string, from: string, to: string): Promise<Buffer> {
  const given = { path: { name }, query: { from, to } };
  return (await api.download('/api/v1/configurations/{name}/compare', given, 'text/x-diff')).body;
}
