/** `hawserctl proof`: how many nodes run exactly a version, and why the others do not. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Schemas } from '../../client/api-types.ts';
import { Interrupted, Unreachable } from '../../client/errors.ts';
import { SECOND } from '../../lib/clock.ts';
import { type Context, command } from '../declaration.ts';
import { EXIT, UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { counted, readSpan } from '../values.ts';
import { COMPOSITE, CONFIGURATION, checkVersion } from './config-kinds.ts';

type Out = Context['out'];
type Proof = Schemas['VersionProof'];
type Reason = Proof['reasons'][number]['reason'];

const POLL = 3 * SECOND;

const REASONS: Record<Reason, string> = {
  NeverPolled: 'have never polled since they are registered or assigned',
  NotPolledSince: 'have not polled since this version is theirs',
  NotDownloaded: 'were told of it, and have not downloaded it',
  NotReported: 'have downloaded it, and have not declared that they run it',
  RunsOther: 'were told of it, and have declared that they run another',
  Unresolvable: 'are assigned this, and get an error or nothing',
};

export const proof = command({
  path: 'proof',
  summary: 'see how many nodes run exactly a version, and why the others do not',
  description:
    'Exits with 1 unless all nodes that are offered the version have declared that they run it, or were served it ' +
    'whole, and none that is assigned the configuration gets an error or nothing.',
  arguments: [
    { name: 'name', summary: 'the configuration' },
    { name: 'version', summary: 'a published version, such as 1.2.0' },
  ],
  options: {
    wait: { value: 'TIME', summary: 'wait at most so long for all of them, such as 90s, 10m or 1h' },
    composite: { summary: 'the name is that of a composite' },
    nodes: { summary: 'list the nodes' },
  },
  examples: ['hawserctl proof web 1.2.0', 'hawserctl proof web 1.2.0 --wait 10m'],
  async run({ api, out, arguments: { name, version }, options }) {
    checkVersion(version);
    const end = Date.now() + waitOf(options.wait);
    const base = (options.composite ? COMPOSITE : CONFIGURATION).base;
    const given = { path: { name, version } };
    const read = () => api.get(`${base}/{name}/versions/{version}/proof` as const, given);
    let found = await read();
    while (!isProven(found) && Date.now() < end) {
      out.progress(`${runningOf(found)} of ${counted(found.nodes.offered, 'node')}`);
      await sleep(Math.min(POLL, Math.max(end - Date.now(), 0)));
      found = await readPatiently(read, end);
    }
    out.endProgress();
    const nodes = options.nodes
      ? await api.all(`${base}/{name}/versions/{version}/proof/nodes` as const, given)
      : null;
    if (nodes) out.answer({ ...found, proofNodes: nodes }, () => showAll(found, nodes, out));
    else out.answer(found, () => showAll(found, null, out));
    return isProven(found) ? EXIT.done : EXIT.failed;
  },
});

/** A server that starts anew is away for a moment, which ends no wait. */
async function readPatiently<T>(read: () => Promise<T>, end: number): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isAway = error instanceof Unreachable || error instanceof Interrupted;
      if (!isAway || Date.now() >= end) throw error;
      await sleep(POLL);
    }
  }
}

/** @returns milliseconds @throws UsageError */
export function waitOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const milliseconds = readSpan(text);
  if (milliseconds === null)
    throw new UsageError(`--wait: "${text}" is no time; one is written as 90s, 10m or 1h.`);
  return milliseconds;
}

function runningOf({ nodes }: Proof): number {
  return nodes.declared + nodes.served;
}

function isProven(found: Proof): boolean {
  return runningOf(found) === found.nodes.offered && unresolvableOf(found) === 0;
}

function unresolvableOf({ reasons }: Proof): number {
  return reasons.find(({ reason }) => reason === 'Unresolvable')?.nodes ?? 0;
}

function showAll(found: Proof, nodes: readonly Schemas['ProofNode'][] | null, out: Out): void {
  const { configurationName, version, nodes: counts, reasons } = found;
  const what = `${configurationName} ${version}`;
  if (counts.offered === 0) out.text(`No node is offered ${what}.`);
  else
    out.text(
      `${runningOf(found)} of ${counted(counts.offered, 'node')} that ${counts.offered === 1 ? 'is' : 'are'} ` +
        `offered ${what} run it: ${counts.declared} declared it, ${counts.served} were served it.`,
    );
  const others = reasons.filter((each) => each.nodes > 0);
  if (others.length > 0)
    out.table(
      others,
      [
        { title: 'NODES', cell: (each) => each.nodes },
        { title: 'REASON', cell: ({ reason }) => reason },
        { title: 'THEY', cell: ({ reason }) => REASONS[reason] },
      ],
      '',
    );
  if (nodes === null) return;
  out.text('');
  out.table(
    nodes,
    [
      { title: 'NODE', cell: ({ fqdn }) => fqdn },
      { title: 'EVIDENCE', cell: ({ evidence }) => evidence },
      { title: 'SINCE', cell: ({ since }) => dateTime(since) },
      { title: 'REASON', cell: ({ reason }) => reason },
    ],
    'No node is offered it.',
  );
}
