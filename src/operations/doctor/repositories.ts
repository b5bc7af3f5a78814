/** Every repository, one at a time: refs, objects, and what was left lying in it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Inspection, inspectRepository } from '../../git/inspection.ts';
import type { GitStore, RepositoryRef } from '../../git/store.ts';
import { REPOSITORY_KINDS } from '../../git/types.ts';
import { HOUR } from '../../lib/clock.ts';
import {
  type Check,
  confirmed,
  describeFailure,
  type Finding,
  faultOf,
  isDoubtful,
  noteOf,
  PAUSE_BEFORE_LOOKING_AGAIN,
  several,
  warningOf,
} from './findings.ts';

export interface RepositoryRound {
  root: string;
  store: GitStore;
  now: number;
  progress(done: number, all: number): void;
}

interface Totals {
  refs: number;
  objects: number;
}

/** Of one repository that is damaged all over. */
const MAX_FINDINGS = 20;
const MAX_NAMES = 5;
const SETTLED = HOUR;
const RESTORE = 'bring the object back with "git fetch" from a clone that has it, or restore from a backup';

/** In the order of kinds and names; those with faults are looked at once more, when all are through. */
export async function checkRepositories(round: RepositoryRound): Promise<Check> {
  const refs = await listAll(round.store);
  const totals = { refs: 0, objects: 0 };
  const found = new Map<RepositoryRef, readonly Finding[]>();
  for (const [index, ref] of refs.entries()) {
    round.progress(index, refs.length);
    const findings = await inspect(round, ref, totals);
    if (findings.length > 0) found.set(ref, findings);
  }
  round.progress(refs.length, refs.length);
  await lookAgain(round, found);
  const summary = `${refs.length} folders, ${several(totals.refs, 'ref')}, ${several(totals.objects, 'object')}`;
  return { name: 'repositories', summary, findings: [...found.values()].flat() };
}

async function listAll(store: GitStore): Promise<RepositoryRef[]> {
  const refs: RepositoryRef[] = [];
  for (const kind of REPOSITORY_KINDS) {
    for (const name of await store.list(kind)) refs.push({ kind, name });
  }
  return refs;
}

async function lookAgain(round: RepositoryRound, found: Map<RepositoryRef, readonly Finding[]>) {
  const doubtful = [...found].filter(([, findings]) => findings.some(isDoubtful));
  if (doubtful.length > 0) await sleep(PAUSE_BEFORE_LOOKING_AGAIN);
  for (const [ref, before] of doubtful) {
    const isThere = await round.store.has(ref);
    found.set(ref, isThere ? confirmed(before, await inspect(round, ref)) : []);
  }
}

/** @param totals counted up, unless this is a second look */
async function inspect(
  { root, now }: RepositoryRound,
  ref: RepositoryRef,
  totals?: Totals,
): Promise<Finding[]> {
  try {
    const inspection = await inspectRepository(root, ref);
    if (totals) {
      totals.refs += inspection.refs;
      totals.objects += inspection.objects;
    }
    return describe(`${ref.kind}/${ref.name}`, inspection, now);
  } catch (error) {
    const remedy = 'see whether the user that runs this may read the folder; else restore it from a backup';
    return [faultOf(`${ref.kind}/${ref.name}`, `cannot be read: ${describeFailure(error)}`, remedy)];
  }
}

function describe(repository: string, inspection: Inspection, now: number): Finding[] {
  const { faults, unreachable, passedOver, leftOvers } = inspection;
  const told = [
    ...faults.map(({ where, what }) => faultOf(`${repository} ${where}`, what, RESTORE)),
    ...unreachable.map(({ where, what }) =>
      warningOf(
        `${repository} ${where}`,
        `${what}, and no ref leads to it`,
        'remove the file: it stops "git gc"',
      ),
    ),
    ...leftOvers
      .filter(({ modifiedAt }) => modifiedAt < now - SETTLED)
      .map(({ path }) => describeLeftOver(repository, path)),
  ];
  const rest = told.slice(MAX_FINDINGS);
  // The worst come first.
  const more = rest.slice(0, 1).map((first) => ({
    ...first,
    where: repository,
    what: `${rest.length} more such findings`,
  }));
  const notes = passedOver.length === 0 ? [] : [describePassedOver(repository, passedOver)];
  return [...told.slice(0, MAX_FINDINGS), ...more, ...notes];
}

function describeLeftOver(repository: string, path: string): Finding {
  const where = `${repository} ${path}`;
  if (!path.endsWith('.lock'))
    return noteOf(where, 'an unfinished file', 'it may be removed; "git gc" does so');
  const what = 'a lock, older than an hour';
  return warningOf(where, what, 'remove it, unless a git is at work in there: nobody can move the ref');
}

function describePassedOver(repository: string, passedOver: Inspection['passedOver']): Finding {
  const [first, ...others] = passedOver.slice(0, MAX_NAMES).map(({ where, what }) => `${where} (${what})`);
  const rest = passedOver.length - MAX_NAMES;
  const names = [first, ...others, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
  return noteOf(repository, `no versions to the server: ${names}`);
}
