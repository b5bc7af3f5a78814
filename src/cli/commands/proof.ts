/** `hawserctl proof`: how many nodes run exactly a version and have applied it, and why the others do not. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Schemas } from '../../client/api-types.ts';
import { Interrupted, Unreachable } from '../../client/errors.ts';
import { splitText } from '../../domain/ways.ts';
import { SECOND } from '../../lib/clock.ts';
import { type Context, command } from '../declaration.ts';
import { EXIT, UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { counted, readSpan } from '../values.ts';
import { COMPOSITE, CONFIGURATION, checkVersion } from './config-kinds.ts';

type Out = Context['out'];
type Proof = Schemas['VersionProof'];
type ProofNode = Schemas['ProofNode'];
type Counts = Proof['nodes'];
type Reason = Proof['reasons'][number]['reason'];

const POLL = 3 * SECOND;

const REASONS: Record<Reason, string> = {
  NeverPolled: 'have never polled since they are registered or assigned',
  NotPolledSince: 'have not polled since this version is theirs',
  NotDownloaded: 'were told of it, and have not downloaded it',
  NotReported: 'have downloaded it, and have not declared that they run it',
  RunsOther: 'were told of it, and have declared that they run another',
  Unresolvable: 'are assigned this, or a composite with it, and get an error or nothing',
};

/** How many nodes count, by what is asked of them. */
const BARS = {
  applied: ({ applied }: Counts) => applied,
  declared: ({ declared }: Counts) => declared,
  served: ({ declared, served }: Counts) => declared + served,
};
type Bar = keyof typeof BARS;

const SAYS: Record<Bar, string> = {
  applied: 'have applied it',
  declared: 'declare that they run it',
  served: 'declare that they run it, or were served it whole',
};

export const proof = command({
  path: 'proof',
  summary: 'see how many nodes run exactly a version and have applied it, and why the others do not',
  description:
    'Counts whoever is offered it: directly, by a composite, or by a pin. Exits with 1 unless there are such nodes, ' +
    'all of them have applied it without errors, and none that is assigned it gets an error or nothing.',
  arguments: [
    { name: 'name', summary: 'the configuration' },
    { name: 'version', summary: 'a published version, such as 1.2.0' },
  ],
  options: {
    wait: { value: 'TIME', summary: 'wait at most so long for all of them, such as 90s, 10m or 1h' },
    evidence: {
      value: 'WHAT',
      choices: ['declared', 'served'],
      summary: 'what is enough instead of having applied it',
    },
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
    const bar = (options.evidence ?? 'applied') as Bar;
    let found = await read();
    while (!isProven(found, bar) && Date.now() < end) {
      out.progress(`${BARS[bar](found.nodes)} of ${counted(found.nodes.offered, 'node')}`);
      await sleep(Math.min(POLL, Math.max(end - Date.now(), 0)));
      found = await readPatiently(read, end);
    }
    out.endProgress();
    const nodes = options.nodes
      ? await api.all(`${base}/{name}/versions/{version}/proof/nodes` as const, given)
      : null;
    if (nodes) out.answer({ ...found, proofNodes: nodes }, () => showAll(found, bar, nodes, out));
    else out.answer(found, () => showAll(found, bar, null, out));
    return isProven(found, bar) ? EXIT.done : EXIT.failed;
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

function isProven({ nodes, reasons }: Proof, bar: Bar): boolean {
  const isUnresolvable = reasons.some(({ reason, nodes: count }) => reason === 'Unresolvable' && count > 0);
  return nodes.offered > 0 && BARS[bar](nodes) === nodes.offered && !isUnresolvable;
}

function showAll(
  { configurationName, version, nodes: counts, reasons }: Proof,
  bar: Bar,
  nodes: readonly ProofNode[] | null,
  out: Out,
): void {
  const what = `${configurationName} ${version}`;
  const { offered, declared, served, told, others: rest, applied, failed, untested } = counts;
  if (offered === 0) out.text(`No node is offered ${what}.`);
  else {
    const are = offered === 1 ? 'is' : 'are';
    out.text(`${BARS[bar](counts)} of ${counted(offered, 'node')} that ${are} offered ${what} ${SAYS[bar]}.`);
    out.fields({
      Offered: `${offered}${splitText(counts)}`,
      Declared: `${declared} (${applied} applied, ${failed} failed, ${untested} untested)`,
      Served: served,
      Told: told,
      Others: rest,
    });
  }
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
      { title: 'VIA', cell: ({ via, isPinned }) => `${via ?? '?'}${isPinned ? ' (pinned)' : ''}` },
      { title: 'EVIDENCE', cell: ({ evidence }) => evidence },
      { title: 'SINCE', cell: ({ since }) => dateTime(since) },
      { title: 'REASON', cell: ({ reason }) => reason },
      { title: 'OUTCOME', cell: ({ outcome }) => outcome },
    ],
    'No node is offered it.',
  );
}
