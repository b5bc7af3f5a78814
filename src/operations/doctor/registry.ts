/** The rows of configurations, composites and parameters against the repositories, both ways. */

import type { Db } from '../../db/open.ts';
import { listPendingDeletions } from '../../db/repository-rows.ts';
import { isResourceName } from '../../domain/names.ts';
import type { GitStore, RepositoryKind } from '../../git/store.ts';
import { type Check, type Finding, faultOf, lookTwice, noteOf, several, warningOf } from './findings.ts';

type Names = ReadonlySet<string>;

interface Rows {
  configurations: Names;
  composites: Names;
  /** Of the configurations that have, or had, a repository of parameters. */
  parameters: Names;
  /** `<kind>/<name>` of repositories whose rows are gone and that are to follow them. */
  leaving: Names;
}

export async function checkRegistry(db: Db, store: GitStore): Promise<Check> {
  let seen = 0;
  const findings = await lookTwice(async () => {
    const rows = await readRows(db);
    const onDisk = await readRepositories(store);
    seen = rows.configurations.size + rows.composites.size + rows.parameters.size;
    return [...missingRepositories(rows, onDisk), ...missingRows(rows, onDisk)];
  });
  return { name: 'rows and repositories', summary: `${several(seen, 'row')} against the folders`, findings };
}

async function readRows(db: Db): Promise<Rows> {
  const configurations = await db.selectFrom('configurations').select(['name', 'has_parameters']).execute();
  const composites = await db.selectFrom('composites').select('name').execute();
  const removals = await listPendingDeletions(db);
  return {
    configurations: new Set(configurations.map(({ name }) => name)),
    composites: new Set(composites.map(({ name }) => name)),
    parameters: new Set(configurations.filter((row) => row.has_parameters === 1).map(({ name }) => name)),
    leaving: new Set(removals.map(({ kind, name }) => `${kind}/${name}`)),
  };
}

async function readRepositories(store: GitStore): Promise<Record<RepositoryKind, Names>> {
  return {
    configurations: new Set(await store.list('configurations')),
    composites: new Set(await store.list('composites')),
    parameters: new Set(await store.list('parameters')),
  };
}

function missingRepositories(rows: Rows, onDisk: Record<RepositoryKind, Names>): Finding[] {
  const remedy = 'restore the repository from a backup; the server answers 500 repository_missing until then';
  return (['configurations', 'composites', 'parameters'] as const).flatMap((kind) =>
    [...rows[kind]]
      .filter((name) => !onDisk[kind].has(name))
      .map((name) => faultOf(`${kind}/${name}`, 'there is a row and no repository', remedy)),
  );
}

function missingRows(rows: Rows, onDisk: Record<RepositoryKind, Names>): Finding[] {
  const known = { ...rows, parameters: rows.configurations };
  return (['configurations', 'composites', 'parameters'] as const).flatMap((kind) =>
    [...onDisk[kind]]
      .filter((name) => !known[kind].has(name))
      .map((name) => describeStray(kind, name, rows.leaving)),
  );
}

function describeStray(kind: RepositoryKind, name: string, leaving: Names): Finding {
  const where = `${kind}/${name}`;
  if (leaving.has(where)) return noteOf(where, 'its removal was cut off', 'the next start ends it');
  if (kind === 'parameters') {
    const remedy = 'bring the configuration back from a backup, or move the folder away';
    return faultOf(where, 'there are parameters and no configuration of that name', remedy);
  }
  const remedy = isResourceName(name)
    ? 'the next start of the server adopts it'
    : 'rename the folder, as no such name can be adopted, or move it away';
  return warningOf(where, 'there is a repository and no row', remedy);
}
