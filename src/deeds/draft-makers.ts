/** Who has made or edited a draft: by the draft itself, and by the audit trail, whatever its scope was called at that time. */

import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { findScopeTypeByName, findScopeValue } from '../db/scope-types.ts';
import type { AuditAction } from '../domain/audit-actions.ts';
import { scopeKey } from '../domain/scopes.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { scopeOf } from '../versions/parameter-files.ts';
import type { GitStore } from '../versions/store.ts';
import type { NamedDraft } from './change-sets.ts';

/** The actions that make or change a draft. */
const EDITING: readonly AuditAction[] = [
  ...(['configuration.version_created', 'configuration.version_replaced'] as const),
  ...(['configuration.file_saved', 'configuration.file_deleted', 'parameters.version_saved'] as const),
  ...(['composite.version_created', 'composite.child_added'] as const),
  ...(['composite.child_changed', 'composite.child_removed'] as const),
];

/** Those that delete one. */
const DELETING: readonly AuditAction[] = [
  'configuration.version_deleted',
  'parameters.version_deleted',
  'composite.version_deleted',
];

/** Those that may give a scope type or value another name. */
const RENAMING: readonly AuditAction[] = ['scope_type.updated', 'scope_value.updated'];

/** Each change of a draft has its entry in the trail; the draft itself tells who made it and who changed it last. */
export async function isMaker(
  db: Db,
  store: GitStore,
  { userId, username }: Pick<UserPrincipal, 'userId' | 'username'>,
  draft: NamedDraft,
): Promise<boolean> {
  const { repository, ref, resourceId } = draft;
  const { createdBy } =
    repository.kind === 'parameters'
      ? await store.parameters.details(repository.name, ref)
      : await store.details(repository, ref);
  // What the commits of a push say of people is a claim.
  const people = ref.pushed
    ? [ref.pushed.creator.name, ref.pushed.pusher.name]
    : Object.values(await store.peopleOf(repository, ref.oid));
  if ([createdBy, ...people].includes(username)) return true;
  const isAbout = await entriesAbout(db, draft);
  // A push over a draft that was not pushed begins a time of creation of its own, and the draft was there before.
  const since = await lastDeletion(db, resourceId, isAbout);
  const entries = await db
    .selectFrom('audit_entries')
    .select(['seq', 'details'])
    .where('resource_id', '=', resourceId)
    .where('actor_id', '=', userId)
    .where('action', 'in', EDITING)
    .where('seq', '>', since)
    .execute();
  return entries.some(isAbout);
}

/** An entry of the trail. */
interface Entry {
  seq: number;
  details: string | null;
}

/** The number of the entry by which a draft of this version was deleted last; 0 where none was. */
async function lastDeletion(db: Db, resourceId: string, isAbout: (entry: Entry) => boolean): Promise<number> {
  const entries = await db
    .selectFrom('audit_entries')
    .select(['seq', 'details'])
    .where('resource_id', '=', resourceId)
    .where('action', 'in', DELETING)
    .orderBy('seq', 'desc')
    .execute();
  return entries.find(isAbout)?.seq ?? 0;
}

/** Tells of an entry of the trail whether it is about this version. The entry has the names that the scope had then. */
async function entriesAbout(db: Db, { repository, ref }: NamedDraft): Promise<(entry: Entry) => boolean> {
  const isSame = (told: unknown, name: string | null) =>
    scopeKey(String(told ?? '')) === scopeKey(name ?? '');
  const toldIn = ({ details }: Entry): Record<string, unknown> => JSON.parse(details ?? '{}');
  if (repository.kind !== 'parameters') return (entry) => toldIn(entry)['version'] === ref.version;
  const { scopeType, value } = scopeOf(ref.series);
  const type = await findScopeTypeByName(db, scopeType);
  const row = type && value !== null ? await findScopeValue(db, type.id, value) : undefined;
  const typeNameAt = await formerNames(db, type?.id, scopeType);
  const valueAt = await formerNames(db, row?.id, value);
  return (entry) => {
    const told = toldIn(entry);
    return (
      told['version'] === ref.version &&
      isSame(told['scopeType'], typeNameAt(entry.seq)) &&
      isSame(told['scopeValue'], valueAt(entry.seq))
    );
  };
}

/** The name that a scope type or value had when an entry of the trail was written. Nobody writes a file during a renaming. */
async function formerNames<T extends string | null>(
  db: Db,
  id: string | undefined,
  now: T,
): Promise<(seq: number) => string | T> {
  if (id === undefined) return () => now;
  const entries = await db
    .selectFrom('audit_entries')
    .select(['seq', 'details'])
    .where('resource_id', '=', id)
    .where(engineOf(db).isOneOf('action', RENAMING))
    .orderBy('seq')
    .execute();
  const renamings = entries.flatMap(({ seq, details }) => {
    const { renamed }: { renamed?: { from: string } } = JSON.parse(details ?? '{}');
    return renamed === undefined ? [] : [{ seq, from: renamed.from }];
  });
  return (seq) => renamings.find((renaming) => renaming.seq > seq)?.from ?? now;
}
