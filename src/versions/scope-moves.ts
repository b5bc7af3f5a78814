/**
 * Gives a scope type or value another name in the database and in all repositories, or takes it away with its files. The
 * deed is noted first; then each repository has the versions by both names; then the row changes, and with it all that
 * nodes and people see; then the name that no longer holds goes. A deed that was cut off is ended by whoever finds it: the
 * row says which name holds.
 */

import type { Database, Db } from '../db/database.ts';
import { isOutcomeUnknown } from '../db/errors.ts';
import type { ScopeMovesTable } from '../db/scope-move-tables.ts';
import { dropScopeMove, endScopeMove, listScopeMoves, noteScopeMove } from '../db/scope-moves.ts';
import { ASSIGNMENTS, PARAMETER_WRITES } from '../domain/lock-names.ts';
import { sign } from '../git/commits.ts';
import { type Clock, DAY, MINUTE } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { limitLoads } from '../lib/load-limit.ts';
import type { Locks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import { type RepeatedWork, repeat } from '../lib/repeated-work.ts';
import type { Actor } from '../security/audit.ts';
import { underLock } from './author.ts';
import { scopeOf } from './parameter-files.ts';
import { seriesIn } from './renamed-scopes.ts';
import type { ParameterScope } from './scope-names.ts';
import type { GitStore } from './store.ts';
import type { LockedRepository } from './types.ts';
import { deleteVersions } from './version-records.ts';

export interface ScopeMoveTools {
  database: Database;
  store: GitStore;
  locks: Locks;
  log: Log;
}

/** A scope that moves, by its row. */
export interface MovedScope {
  scopeTypeId: string;
  /** Null where the type itself moves. */
  scopeValueId: string | null;
  scope: ParameterScope;
}

/** A backup that began before a deed may have the refs of before with the row of after. It is ended at its first start. */
const REMEMBERED = 1 * DAY;

/** Runs `work` while nobody writes parameter files, deletes versions, or moves a scope. */
export function whileScopesRest<T>(locks: Locks, work: () => Promise<T>): Promise<T> {
  return locks.run(PARAMETER_WRITES, () => locks.run(ASSIGNMENTS, work));
}

/** The names of the configurations that have files of a scope. @throws HawserError where a repository cannot be read */
export async function repositoriesOf(store: GitStore, scope: ParameterScope): Promise<string[]> {
  const loads = limitLoads();
  const names = await store.list('parameters');
  const found = await Promise.all(
    names.map((name) => loads(async () => seriesIn(await store.parameters.index(name), scope).length > 0)),
  );
  return names.filter((_, at) => found[at]);
}

/**
 * Moves a scope to another name, or takes it away with its files. The caller holds what `whileScopesRest` locks.
 * @param change changes or deletes the row, in one transaction with what belongs to it
 * @throws what a repository cannot do, or `change` throws. Nothing has changed then.
 */
export async function moveScope<T>(
  tools: ScopeMoveTools,
  { scopeTypeId, scopeValueId, scope }: MovedScope,
  { to, actor, change }: { to: string | null; actor: Actor; change(trx: Db): Promise<T> },
): Promise<T> {
  const { database, log } = tools;
  const move: ScopeMovesTable = {
    id: newId(),
    scope_type_id: scopeTypeId,
    scope_value_id: scopeValueId,
    type_name: scope.scopeType,
    from_name: scope.value ?? scope.scopeType,
    to_name: to,
    actor: JSON.stringify(actor),
    started_at: actor.at,
    done_at: null,
  };
  await noteScopeMove(database.write, move);
  let changed: T;
  try {
    if (to !== null) {
      const names = { from: scope, to: renamed(scope, to) };
      await inEach(tools, [scope], (writer) => writer.copyScope(names));
    }
    changed = await database.write.transaction().execute(change);
  } catch (error) {
    if (isOutcomeUnknown(error)) database.onceBack(() => endScopeMoves(tools, actor.at));
    else await endMove(tools, move, actor.at).catch((err) => log.error({ err }, UNENDED));
    throw error;
  }
  // The row holds. What is left to do is noted, at the latest for the next start.
  await endMove(tools, move, actor.at).catch((err) => log.error({ err }, UNENDED));
  return changed;
}

const UNENDED =
  'a scope got another name or went, and not all repositories have followed; this is tried again';

/** Ends the deeds that a crash or a failure has cut off. In the steady state it asks the database for a short list. */
export async function endScopeMoves(tools: ScopeMoveTools, now: number): Promise<void> {
  const open = async () =>
    (await listScopeMoves(tools.database.read)).filter((move) => move.done_at === null);
  if ((await open()).length === 0) return;
  await whileScopesRest(tools.locks, async () => {
    for (const move of await open()) await endMove(tools, move, now);
  });
}

/** Ends what another process has cut off, as one that was killed. */
export function startScopeMoves(tools: ScopeMoveTools, clock: Clock): RepeatedWork {
  return repeat(
    1 * MINUTE,
    () => endScopeMoves(tools, clock.now()),
    (err) => tools.log.error({ err }, UNENDED),
  );
}

/** Before anything is served: ends what was cut off, also where a restored backup has refs of before and rows of after. */
export async function endAllScopeMoves(tools: ScopeMoveTools, now: number): Promise<void> {
  for (const move of await listScopeMoves(tools.database.read)) {
    try {
      await endMove(tools, move, now);
    } catch (err) {
      tools.log.error({ err }, UNENDED);
    }
  }
}

async function endMove(tools: ScopeMoveTools, move: ScopeMovesTable, now: number): Promise<void> {
  const { database } = tools;
  const isOpen = move.done_at === null;
  const scope = await scopeNow(database.read, move);
  if (scope === null && move.to_name === null && (isOpen || (await isUnused(database.read, move))))
    await removeFiles(tools, move);
  if (scope !== null && move.to_name !== null) {
    const name = scope.value ?? scope.scopeType;
    const gone = name === move.to_name ? move.from_name : isOpen ? move.to_name : null;
    const isFree = isOpen || !(gone !== null && (await isName(database.read, move, gone)));
    if (gone !== null && gone !== name && isFree) await follow(tools, move, { gone, scope });
  }
  if (!isOpen) return;
  const isMade = move.to_name === null ? scope === null : (scope?.value ?? scope?.scopeType) === move.to_name;
  if (isMade) await endScopeMove(database.write, move.id, { now, forgotten: now - REMEMBERED });
  else await dropScopeMove(database.write, move.id);
}

/** Brings all repositories to the name that the scope has in the database. */
async function follow(
  tools: ScopeMoveTools,
  { from_name, actor }: ScopeMovesTable,
  { gone, scope }: { gone: string; scope: ParameterScope },
): Promise<void> {
  const names = { from: renamed(scope, gone), to: scope };
  const by = gone === from_name ? signatureOf(actor) : null;
  // Where a disk has failed, a ref may have moved that is not known here. The next holder of the lock finds it.
  await inEach(tools, [names.from, scope], async (writer) => {
    if (by !== null) await writer.copyScope(names);
    await writer.leaveScope(names, by);
  });
}

async function removeFiles(tools: ScopeMoveTools, move: ScopeMovesTable): Promise<void> {
  const { type_name: scopeType, from_name, scope_value_id, actor } = move;
  const gone: ParameterScope = { scopeType, value: scope_value_id === null ? null : from_name };
  const by = JSON.parse(actor) as Actor;
  await inEach(tools, [gone], async (writer, resource) => {
    const due = seriesIn(writer.index, gone).flatMap((series) =>
      writer.index.of(series).versions.map((ref) => ({ ref })),
    );
    await writer.dropFromBranch(gone, signatureOf(actor));
    if (resource === null) return writer.deleteVersions(due.map(({ ref }) => ref));
    const owner = { kind: 'parameters', resource } as const;
    const told = ({ ref: { series, version, status, commit } }: (typeof due)[number]) => {
      const { scopeType: type, value } = scopeOf(series);
      return { scopeType: type, scopeValue: value, version, status, commit };
    };
    await deleteVersions(tools.database, owner, { writer, actor: by }, due, {
      told,
      onGone: () => undefined,
    });
  });
}

/** Does work in each repository that has files of one of the scopes. One that is deleted meanwhile has none. */
async function inEach(
  { database, store }: ScopeMoveTools,
  scopes: readonly ParameterScope[],
  work: (writer: LockedRepository, resource: { id: string; name: string } | null) => Promise<void>,
): Promise<void> {
  const rows = await database.read.selectFrom('configurations').select(['id', 'name']).execute();
  const byName = new Map(rows.map((row) => [row.name, row]));
  const found = await Promise.all(scopes.map((scope) => repositoriesOf(store, scope)));
  for (const name of new Set(found.flat())) {
    const resource = byName.get(name);
    if (resource === undefined) {
      await store.exclusive({ kind: 'parameters', name }, (writer) => work(writer, null));
      continue;
    }
    const owner = { kind: 'parameters', resource } as const;
    await underLock({ database, store }, owner, (writer) => work(writer, resource)).catch((error) => {
      if (!(error instanceof HawserError && error.kind === 'not_found')) throw error;
    });
  }
}

/** The scope as the database names it now; null where it is gone. */
async function scopeNow(db: Db, move: ScopeMovesTable): Promise<ParameterScope | null> {
  const type = await db
    .selectFrom('scope_types')
    .select('name')
    .where('id', '=', move.scope_type_id)
    .executeTakeFirst();
  if (type === undefined || move.scope_value_id === null)
    return type ? { scopeType: type.name, value: null } : null;
  const row = await db
    .selectFrom('scope_values')
    .select('value')
    .where('id', '=', move.scope_value_id)
    .executeTakeFirst();
  return row ? { scopeType: type.name, value: row.value } : null;
}

/** Whether another scope has the name by now. */
async function isName(db: Db, { scope_type_id, scope_value_id }: ScopeMovesTable, name: string) {
  const found =
    scope_value_id === null
      ? db.selectFrom('scope_types').select('id').where('name', '=', name)
      : db
          .selectFrom('scope_values')
          .select('id')
          .where('scope_type_id', '=', scope_type_id)
          .where('value', '=', name);
  return (await found.executeTakeFirst()) !== undefined;
}

/** Whether the name of a scope that is gone for long still means that scope. */
async function isUnused(db: Db, move: ScopeMovesTable): Promise<boolean> {
  const { scope_value_id, type_name, from_name } = move;
  const type = await scopeNow(db, { ...move, scope_value_id: null });
  if (scope_value_id !== null && type?.scopeType !== type_name) return false;
  return !(await isName(db, move, from_name));
}

const renamed = ({ scopeType, value }: ParameterScope, to: string): ParameterScope =>
  value === null ? { scopeType: to, value } : { scopeType, value: to };

function signatureOf(actor: string) {
  const { name, at } = JSON.parse(actor) as Actor;
  return sign({ name: name ?? '', email: '' }, at);
}
