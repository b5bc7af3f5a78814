/** `hawserctl node`: the nodes, what they are assigned and what they run. */

import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { scopeText } from '../scopes.ts';
import { chooseNodes, FILTER_HELP, findNode, listNodes, NODE_FILTER, NODES } from './node-choice.ts';
import { NODE_DEEDS } from './node-deeds.ts';
import { diff } from './node-diff.ts';
import { NODE_HISTORY } from './node-history.ts';
import { AT, history, showAt } from './past.ts';

type Details = Schemas['NodeDetails'];

const SORTS = ['fqdn', 'lastCheckIn', 'createdAt', 'status'] as const;

const list = command({
  path: 'node list',
  summary: 'list the nodes',
  description: FILTER_HELP,
  options: {
    ...NODE_FILTER,
    sort: {
      value: 'MEMBER',
      choices: SORTS.flatMap((name) => [name, `-${name}`]),
      summary: 'the order; with - falling, as in --sort=-lastCheckIn',
    },
  },
  examples: [
    'hawserctl node list --filter fqdn=web* --filter status=Error',
    'hawserctl node list --filter tag=Environment/prod --filter unassigned=true',
  ],
  async run({ api, out, options }) {
    const nodes = await listNodes(api, options.filter, options.sort);
    out.answer(nodes, () =>
      out.table(
        nodes,
        [
          { title: 'NODE', cell: ({ fqdn }) => fqdn },
          { title: 'STATUS', cell: ({ status }) => status },
          { title: 'LCM', cell: ({ lcmStatus }) => lcmStatus },
          { title: 'CONFIGURATION', cell: ({ configurationName }) => configurationName },
          { title: 'OFFERED', cell: ({ offeredVersion }) => offeredVersion },
          { title: 'RUNS', cell: runsText },
          { title: 'STALE', cell: ({ isStale }) => isStale },
          { title: 'LAST CHECK-IN', cell: ({ lastCheckIn }) => dateTime(lastCheckIn) },
        ],
        'There are no such nodes.',
      ),
    );
  },
});

/** The version stands alone where it is of what is assigned. */
function runsText({ running, configurationName: assigned }: Schemas['NodeSummary']): string | null {
  if (running === null) return null;
  const { version, evidence, configurationName: name } = running;
  const what = name === null || name === assigned ? '' : `${name} `;
  return `${what}${version ?? '?'} (${evidence})`;
}

const show = command({
  path: 'node show',
  summary: 'show nodes',
  description: 'Prints one object with --json for one node that is named, and a list otherwise.',
  arguments: NODES,
  options: { ...NODE_FILTER, at: { ...AT, summary: `what one node ran ${AT.summary}` } },
  examples: [
    'hawserctl node show web01.example.com',
    'hawserctl node show web01.example.com --at 2026-11-20T15:30:00Z',
  ],
  async run({ api, out, arguments: { node: words }, options }) {
    if (options.at !== undefined) {
      const [word, ...others] = words;
      if (word === undefined || others.length > 0 || options.filter.length > 0)
        throw new UsageError('With --at, say one node by its name or id.');
      return showAt({ api, out }, word, options.at);
    }
    if (words.length === 1 && options.filter.length === 0) {
      const details = await findNode(api, words[0] ?? '');
      out.answer(details, () => showNode(details, out));
      return;
    }
    const all: Details[] = [];
    for (const { id } of await chooseNodes(api, words, options.filter)) all.push(await findNode(api, id));
    out.answer(all, () => {
      for (const [at, details] of all.entries()) {
        if (at > 0) out.text('');
        showNode(details, out);
      }
    });
  },
});

function showNode(node: Details, out: Context['out']): void {
  const { running, certificate } = node;
  out.fields({
    Node: node.fqdn,
    Status: node.status,
    LCM: node.lcmStatus,
    Assigned: assignmentText(node.assignment),
    Offered: node.offeredVersion,
    Runs: running && `${runningText(running)} (${running.evidence} since ${dateTime(running.since)})`,
    Tags: node.tags.map(scopeText).join(', '),
    'Parameter problems': node.parameterProblems,
    Mode: node.configurationMode,
    'Desired mode': node.desiredConfigurationMode,
    Interval: node.configurationModeInterval,
    'Desired interval': node.desiredConfigurationModeInterval,
    Stale: node.isStale,
    'Last check-in': dateTime(node.lastCheckIn),
    Registered: dateTime(node.createdAt),
    Certificate: certificateText(certificate),
    Id: node.id,
  });
}

function certificateText(certificate: Details['certificate']): string {
  if (certificate === null) return 'awaiting the first registration with this name';
  const { notAfter, thumbprint, awaiting } = certificate;
  const name = thumbprint === null ? `awaiting the first call, SHA-1 ${awaiting}` : `SHA-256 ${thumbprint}`;
  return `until ${dateTime(notAfter)}, ${name}`;
}

function assignmentText(assignment: Details['assignment']): string | null {
  if (assignment === null) return null;
  const { configurationName, isComposite, majorVersion, prereleaseChannel, version } = assignment;
  const parts = [
    isComposite && 'composite',
    version !== null && `exactly ${version}`,
    majorVersion !== null && `major ${majorVersion}`,
    prereleaseChannel !== null && `channel ${prereleaseChannel}`,
    assignment.pinnedToWithdrawn && 'withdrawn',
  ].filter((part) => part !== false);
  return parts.length === 0 ? configurationName : `${configurationName} (${parts.join(', ')})`;
}

function runningText({ configurationName, version, checksum }: NonNullable<Details['running']>): string {
  return configurationName === null || version === null ? checksum : `${configurationName} ${version}`;
}

export const NODE_COMMANDS = [list, show, ...NODE_HISTORY, history, ...NODE_DEEDS, diff];
