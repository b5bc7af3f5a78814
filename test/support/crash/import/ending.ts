/** What an import leaves: rows, refs and audit entries, in a form that is the same for any two imports of one source. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../../src/config.ts';
import { REPOSITORY_KINDS } from '../../../../src/git/types.ts';
import { type OpenPlace, openPlace } from '../../engines/both.ts';
import { contentsOf } from '../../engines/contents.ts';
import { git } from '../repository-checks.ts';

export interface Ending {
  /** The rows of each table as text. Ids that the source does not have are named for what has them. */
  rows: Record<string, string[]>;
  /** The refs of each repository with their objects, whose ids are hashes of all that they lead to. */
  refs: Record<string, string[]>;
  /** What the audit trail tells. */
  entries: string[];
}

/** What is written anew by each run, or told in another form below. */
const APART = new Set(['audit_entries', 'events', 'secrets', 'servers']);

const TABLES = {
  sqlite: `select name from sqlite_master where type = 'table' and name not like 'sqlite%'`,
  postgres: `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
};

/**
 * Reads what a target holds. Nobody may be using it.
 * @param since the time before all imports that are compared; times from then to now count as one
 */
export async function readEnding(config: Config, since: number): Promise<Ending> {
  const place = await openPlace(config);
  try {
    const plain = plainly(await madeIds(place), { since, until: Date.now() });
    const listed = await place.all<{ name: string }>(TABLES[config.databaseUrl ? 'postgres' : 'sqlite']);
    const names = listed.map(({ name }) => name).filter((name) => !/^(?:kysely|git)_/.test(name));
    const { tables } = await contentsOf(
      place,
      names.filter((name) => !APART.has(name)),
    );
    const rows = Object.entries(tables).map(([name, found]) => [name, found.map(plain).sort()] as const);
    return {
      rows: Object.fromEntries(rows),
      refs: config.databaseUrl === null ? await refsOfFolders(config) : await refsOfTables(place),
      entries: await entriesOf(place, plain),
    };
  } finally {
    await place.close();
  }
}

/** The ids that an import makes: that of `admin`, and those of values that come to be by their parameter files. */
async function madeIds(place: OpenPlace): Promise<Map<string, string>> {
  const made = await place.all<{ id: string; name: string }>(
    `select id, username as name from users where username = 'admin'
      union all select v.id, v.value as name from scope_values v join scope_types t on t.id = v.scope_type_id
        where t.value_mode = 'Unrestricted'`,
  );
  return new Map(made.map(({ id, name }) => [id, `the id of ${name}`]));
}

function plainly(ids: ReadonlyMap<string, string>, { since, until }: { since: number; until: number }) {
  const isThen = (time: number) => time >= since && time <= until;
  return (text: string): string =>
    text
      .replace(/\b\d{13}\b/g, (time) => (isThen(Number(time)) ? '"then"' : time))
      .replace(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, (id) => ids.get(id) ?? id);
}

async function refsOfFolders({ reposDir }: Config): Promise<Ending['refs']> {
  const refs: Ending['refs'] = {};
  for (const kind of REPOSITORY_KINDS)
    for (const name of readdirSync(join(reposDir, kind)).sort()) {
      const format = '--format=%(refname) %(objectname) %(tree)%(*tree)';
      const listed = await git(join(reposDir, kind, name), 'for-each-ref', format);
      refs[`${kind}/${name}`] = listed.trim().split('\n').map(withoutTime);
    }
  return refs;
}

/** The time of an uploaded schema is that of its import, so the object of its ref differs, and its tree does not. */
const withoutTime = (ref: string) => ref.replace(/^(refs\/tags\/schema\/\S+) \w{40}/, '$1');

async function refsOfTables(place: OpenPlace): Promise<Ending['refs']> {
  const found = await place.all<{ kind: string; name: string; ref: string; oid: string }>(
    `select kind, r.name, f.name as ref, encode(oid, 'hex') as oid from git_refs f
      join git_repositories r on r.id = f.repository_id where removed_at is null order by f.name`,
  );
  const refs: Ending['refs'] = {};
  for (const { kind, name, ref, oid } of found)
    refs[`${kind}/${name}`] = [...(refs[`${kind}/${name}`] ?? []), withoutTime(`${ref} ${oid}`)];
  return refs;
}

async function entriesOf(place: OpenPlace, plain: (text: string) => string): Promise<string[]> {
  const found = await place.all<{ action: string; resource_id: string; details: string }>(
    'select action, resource_id, details from audit_entries',
  );
  return found
    .map(({ action, resource_id, details }) => {
      const { commit, ...told } = JSON.parse(details);
      // A repository whose row did not come to be is adopted by the next run, which tells less of it.
      const isResource =
        /\.(?:created|adopted)$/.test(action) && /^(?:configuration|composite)\./.test(action);
      const what = isResource ? { name: told.name } : { ...told, ...(isTimed(action) ? {} : { commit }) };
      return plain(`${action.replace('adopted', 'created')} ${resource_id} ${JSON.stringify(what)}`);
    })
    .sort();
}

const isTimed = (action: string) => action === 'parameters.schema_uploaded';

/** What should not be left over in the folders. */
export function leftOvers({ dataDir, reposDir, databaseUrl }: Config): string[] {
  const folders = [dataDir, join(dataDir, 'tls'), ...(databaseUrl === null ? [join(reposDir, '.tmp')] : [])];
  const names = folders.filter((path) => existsSync(path)).flatMap((folder) => readdirSync(folder));
  return names.filter((name) => /\.tmp$|^\.|initial-admin-password/.test(name));
}
