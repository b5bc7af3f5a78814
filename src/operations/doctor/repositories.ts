/** The rows of the database against the repositories, and every repository by itself: refs, objects, unfinished files. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/database.ts';
import type { GitReader } from '../../db/git-tables.ts';
import { listPendingDeletions } from '../../db/repository-rows.ts';
import { isResourceName } from '../../domain/names.ts';
import { REPOSITORY_KINDS, STORED_KINDS, type StoredRef } from '../../git/types.ts';
import { HOUR } from '../../lib/clock.ts';
import { inspectRepository, NOT_MEANT } from '../../versions/inspection.ts';
import type { Inspection } from '../../versions/object-walk.ts';
import type { GitStore, RepositoryKind } from '../../versions/store.ts';
import { inspectStored } from '../../versions/table-inspection.ts';
import {
  type Check,
  confirmed,
  describeFailure,
  type Finding,
  faultOf,
  isDoubtful,
  lookTwice,
  noteOf,
  PAUSE_BEFORE_LOOKING_AGAIN,
  several,
  warningOf,
} from './findings.ts';

export interface RepositoryRound {
  root: string;
  store: GitStore;
  /** Reads repositories in PostgreSQL; null where they are folders. */
  reader: GitReader | null;
  now: number;
  progress(done: number, all: number): void;
}

/** The names of repositories by kind. */
type Names = Record<RepositoryKind, ReadonlySet<string>>;

/** So many findings of one repository are listed; a damaged one may have thousands. */
const MAX_FINDINGS = 20;
const MAX_NAMES = 5;
/** Milliseconds. A younger lock or unfinished file may be in use still. */
const UNFINISHED_AGE = HOUR;
const RESTORE = 'bring the object back with "git fetch" from a clone that has it, or restore from a backup';

const NAMED_LIKE = 'it is named like a version and is none, so no node gets it';
const MAKE_ANEW =
  'nothing is damaged: have its author make it anew, or delete it in the folder of the repository, as the user of the ' +
  'server, with "git tag -d" or "git branch -D"';

/**
 * The rows of configurations, composites and parameters against the repositories, both ways.
 * @param isShared whether the repositories are in PostgreSQL
 */
export async function checkRegistry(db: Db, store: GitStore, isShared: boolean): Promise<Check> {
  let seen = 0;
  const findings = await lookTwice(async () => {
    const rows = await readRows(db);
    const pending = new Set(
      (await listPendingDeletions(db)).map((removal) => `${removal.kind}/${removal.name}`),
    );
    seen = REPOSITORY_KINDS.reduce((sum, kind) => sum + rows[kind].size, 0);
    const found: Finding[] = [];
    for (const kind of REPOSITORY_KINDS) {
      const onDisk = new Set(await store.list(kind));
      const known = kind === 'parameters' ? rows.configurations : rows[kind];
      for (const each of rows[kind]) if (!onDisk.has(each)) found.push(describeMissing(kind, each));
      for (const each of onDisk) {
        if (known.has(each)) continue;
        if (isShared) found.push(describeRowless(kind, each));
        else found.push(describeStray(kind, each, pending.has(`${kind}/${each}`)));
      }
    }
    return found;
  });
  const where = isShared ? 'repositories in PostgreSQL' : 'folders';
  return { name: 'rows and repositories', summary: `${several(seen, 'row')} against the ${where}`, findings };
}

async function readRows(db: Db): Promise<Names> {
  const configurations = await db.selectFrom('configurations').select(['name', 'has_parameters']).execute();
  const composites = await db.selectFrom('composites').select('name').execute();
  return {
    configurations: new Set(configurations.map(({ name }) => name)),
    composites: new Set(composites.map(({ name }) => name)),
    parameters: new Set(configurations.filter((row) => row.has_parameters === 1).map(({ name }) => name)),
  };
}

function describeMissing(kind: RepositoryKind, name: string): Finding {
  const remedy = 'restore the repository from a backup; the server answers 500 repository_missing until then';
  return faultOf(`${kind}/${name}`, 'there is a row and no repository', remedy);
}

/** In PostgreSQL one commit makes a row and its repository, and one removes both. */
function describeRowless(kind: RepositoryKind, name: string): Finding {
  const remedy =
    kind === 'parameters'
      ? 'bring the configuration back from a backup'
      : '"hawser adopt", with any bundle of the repository, gives it a row';
  return faultOf(`${kind}/${name}`, 'there is a repository and no row', remedy);
}

function describeStray(kind: RepositoryKind, name: string, isPending: boolean): Finding {
  const where = `${kind}/${name}`;
  if (isPending) return noteOf(where, 'its removal was cut off', 'the next start ends it');
  if (kind === 'parameters') {
    const remedy = 'bring the configuration back from a backup, or move the folder away';
    return faultOf(where, 'there are parameters and no configuration of that name', remedy);
  }
  const remedy = isResourceName(name)
    ? 'the next start of the server adopts it'
    : 'rename the folder, as no such name can be adopted, or move it away';
  return warningOf(where, 'there is a repository and no row', remedy);
}

/** Inspects all repositories in the order of kinds and names, and at the end those with faults once more. */
export async function checkRepositories(round: RepositoryRound): Promise<Check> {
  const refs: StoredRef[] = [];
  for (const kind of STORED_KINDS) {
    for (const name of await round.store.list(kind)) refs.push({ kind, name });
  }
  const totals = { refs: 0, objects: 0 };
  const found = new Map<StoredRef, readonly Finding[]>();
  for (const [index, ref] of refs.entries()) {
    round.progress(index, refs.length);
    const findings = await inspect(round, ref, totals);
    if (findings.length > 0) found.set(ref, findings);
  }
  round.progress(refs.length, refs.length);
  await lookAgain(round, found);
  const places = round.reader === null ? 'folders' : 'in PostgreSQL';
  const summary = `${refs.length} ${places}, ${several(totals.refs, 'ref')}, ${several(totals.objects, 'object')}`;
  return { name: 'repositories', summary, findings: [...found.values()].flat() };
}

async function lookAgain(round: RepositoryRound, found: Map<StoredRef, readonly Finding[]>) {
  const doubtful = [...found].filter(([, findings]) => findings.some(isDoubtful));
  if (doubtful.length > 0) await sleep(PAUSE_BEFORE_LOOKING_AGAIN);
  for (const [ref, before] of doubtful) {
    const isThere = (await round.store.list(ref.kind)).includes(ref.name);
    found.set(ref, isThere ? confirmed(before, await inspect(round, ref)) : []);
  }
}

/** Adds the numbers of refs and objects to `totals`, and returns the findings. */
async function inspect(
  { root, now, reader }: RepositoryRound,
  ref: StoredRef,
  totals = { refs: 0, objects: 0 },
): Promise<Finding[]> {
  try {
    const inspection = await (reader === null
      ? inspectRepository(root, ref)
      : inspectStored(reader, root, ref));
    totals.refs += inspection.refs;
    totals.objects += inspection.objects;
    return describe(`${ref.kind}/${ref.name}`, inspection, now);
  } catch (error) {
    const remedy = 'see whether the user that runs this may read the folder; else restore it from a backup';
    return [faultOf(`${ref.kind}/${ref.name}`, `cannot be read: ${describeFailure(error)}`, remedy)];
  }
}

function describe(repository: string, inspection: Inspection, now: number): Finding[] {
  const { faults, unreachable, ignoredRefs, leftOvers, strayRefs } = inspection;
  const told = [
    ...faults.map(({ where, what }) => faultOf(`${repository} ${where}`, what, RESTORE)),
    ...unreachable.map(({ where, what }) => {
      const remedy = where.includes('/') ? 'remove the file: it stops "git gc"' : null;
      return warningOf(`${repository} ${where}`, `${what}, and no ref leads to it`, remedy);
    }),
    ...ignoredRefs
      .filter((ref) => ref.what !== NOT_MEANT)
      .map(({ where, what }) => warningOf(`${repository} ${where}`, `${NAMED_LIKE}: ${what}`, MAKE_ANEW)),
    ...strayRefs.map((name) => {
      const what = "it was made in this server's folder, which is only a cache, so it means nothing";
      return warningOf(
        `${repository} ${name}`,
        what,
        'bring it in with "hawser adopt": the next clone removes it',
      );
    }),
    ...leftOvers
      .filter(({ modifiedAt }) => modifiedAt < now - UNFINISHED_AGE)
      .map(({ path }) => describeLeftOver(repository, path)),
  ];
  const rest = told.slice(MAX_FINDINGS);
  // The worst findings come first, so the first of the rest has their highest severity.
  const what = `${rest.length} more such findings`;
  const more = rest.slice(0, 1).map((first) => ({ ...first, where: repository, what }));
  const unmeant = ignoredRefs.filter((ref) => ref.what === NOT_MEANT);
  const notes = unmeant.length === 0 ? [] : [describeIgnoredRefs(repository, unmeant)];
  return [...told.slice(0, MAX_FINDINGS), ...more, ...notes];
}

function describeLeftOver(repository: string, path: string): Finding {
  const where = `${repository} ${path}`;
  if (!path.endsWith('.lock'))
    return noteOf(where, 'an unfinished file', 'it may be removed; "git gc" does so');
  const what = 'a lock, older than an hour';
  return warningOf(where, what, 'remove it, unless a git is at work in there: nobody can move the ref');
}

function describeIgnoredRefs(repository: string, ignoredRefs: Inspection['ignoredRefs']): Finding {
  const names = ignoredRefs.slice(0, MAX_NAMES).map(({ where, what }) => `${where} (${what})`);
  if (ignoredRefs.length > MAX_NAMES) names.push(`and ${ignoredRefs.length - MAX_NAMES} more`);
  return noteOf(repository, `no versions to the server: ${names.join(', ')}`);
}
