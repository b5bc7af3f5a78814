/**
 * Making, adopting and deleting a configuration or a composite: the row that makes it known, and its repositories. In
 * PostgreSQL one commit makes or removes both. A folder is made before its row, and removed after it; what a crash leaves
 * of either is put right by reconcile.ts.
 */

import type { Database, Db } from '../db/database.ts';
import { breaksReference, isOutcomeUnknown, orConflict } from '../db/errors.ts';
import { requireUnprotected } from '../db/protections.ts';
import { clearPendingDeletion, finishPendingDeletions } from '../db/repository-rows.ts';
import { DEFAULT_ENTRY_POINT } from '../domain/bundle-paths.ts';
import { nameLock } from '../domain/lock-names.ts';
import type { RepositoryKind, RepositorySettings } from '../git/types.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { conflict } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Locks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import type { GrantedResource } from '../security/access.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { grantToCreator } from '../security/rights.ts';
import {
  type Authorship,
  GRANT_KINDS,
  isNameTaken,
  NOUNS,
  noResource,
  notFoundIfDeleted,
  type Owner,
  type ResourceKind,
} from './rows.ts';
import type { GitStore } from './store.ts';
import type { DraftContent } from './types.ts';

interface KindFacts {
  /**
   * The kinds of its repositories, in the order in which they are removed. The parameters come first, because nobody can
   * make another configuration of this name while the versions exist.
   */
  parts: readonly RepositoryKind[];
  /** Inserts the row. `common` holds the columns that all kinds have. */
  insert(trx: Db, common: CommonColumns, settings: RepositorySettings): Promise<unknown>;
  /** The audit details beside name and description. */
  auditDetails(settings: RepositorySettings): Record<string, unknown>;
}

interface CommonColumns {
  id: string;
  name: string;
  name_key: string;
  description: string | null;
  created_at: number;
  updated_at: number;
}

const KINDS: Record<ResourceKind, KindFacts> = {
  configurations: {
    parts: ['parameters', 'configurations'],
    insert: (trx, common, { useServerManagedParameters }) =>
      trx
        .insertInto('configurations')
        .values({ ...common, use_server_managed_parameters: Number(useServerManagedParameters) })
        .execute(),
    auditDetails: ({ useServerManagedParameters }) => ({ useServerManagedParameters }),
  },
  composites: {
    parts: ['composites'],
    insert: (trx, common, settings) =>
      trx
        .insertInto('composites')
        .values({ ...common, entry_point: entryPointOf(settings) })
        .execute(),
    auditDetails: (settings) => ({ entryPoint: entryPointOf(settings) }),
  },
};

export interface ResourceTools {
  database: Database;
  store: GitStore;
  /** The lock of a name is held while a resource of this name is made or deleted. */
  locks: Locks;
  log: Log;
}

/** A resource that is to be made, as its settings remember it. */
export interface NewResource
  extends Pick<RepositorySettings, 'description' | 'useServerManagedParameters' | 'entryPoint'> {
  kind: ResourceKind;
  name: string;
  /** Default: a new one. */
  id?: string;
  /** The first version, or null for none. */
  draft: ({ version: string } & DraftContent) | null;
}

/** Who makes a resource. Nobody gets a grant by it where there is no user of this id. */
type Creator = Omit<Authorship, keyof Owner | 'principal'> & {
  principal: Pick<UserPrincipal, 'userId' | 'username' | 'email'>;
};

/**
 * Makes the repository with the first draft, and then the row.
 * @param answer tells of the new resource, given its id, before anybody can delete it
 * @returns what `answer` gives
 * @throws HawserError conflict `name_taken`, also where parameters lie that another configuration of this name left,
 *   which nobody has given to this one; `client_gone`
 */
export async function createResource<T>(
  tools: ResourceTools,
  { principal, actor, gone, madeAt: at = actor.at }: Creator,
  { kind, name, draft: content, id = newId(), ...given }: NewResource,
  answer: (id: string) => Promise<T>,
): Promise<T> {
  const { database, store, locks } = tools;
  const settings = { ...given, id, createdBy: principal.userId, createdAt: at };
  const author = { name: principal.username, email: principal.email };
  const draft = content && { ...content, author, at, ...(gone && { gone }) };
  await database.requireWritable();
  return locks.run(nameLock(kind, name), async () => {
    if (await isNameTaken(database.read, kind, name)) throw nameTaken(kind);
    await removeNoted({ database, store }, kind, name);
    const hasParameters = kind === 'configurations' && (await store.has({ kind: 'parameters', name }));
    if (hasParameters)
      throw conflict('name_taken', 'Parameters of an earlier configuration of this name are still there');
    await store.create({ kind, name }, settings, draft, (commit) => (note) => {
      refuseGone(gone);
      const first = draft && { version: draft.version, commit };
      return registerResource(database, { kind, name, settings }, { how: 'created', actor, first, note });
    });
    return answer(id);
  });
}

interface FirstDraft {
  version: string;
  commit: string | null;
}

/** How a resource comes to its row. */
interface Registration {
  how: 'created' | 'adopted';
  actor: Actor;
  first?: FirstDraft | null;
  /** Notes in the same transaction what belongs to it. */
  note?: (trx: Db) => Promise<void>;
}

/** Makes the row and the creator's grant from the settings of the repository. */
export async function registerResource(
  database: Database,
  { kind, name, settings }: { kind: ResourceKind; name: string; settings: RepositorySettings },
  { how, actor, first, note = async () => undefined }: Registration,
): Promise<void> {
  const { id, description, createdAt, createdBy } = settings;
  const { parts, insert, auditDetails } = KINDS[kind];
  const common = { id, name, name_key: name.toLowerCase(), description };
  await orConflict([`${kind}.name`, `${kind}.name_key`], nameTaken(kind), () =>
    database.write.transaction().execute(async (trx) => {
      await note(trx);
      for (const part of parts) await clearPendingDeletion(trx, { kind: part, name });
      await insert(trx, { ...common, created_at: createdAt, updated_at: createdAt }, settings);
      const on = GRANT_KINDS[kind];
      await grantToCreator(trx, { on, resourceId: id }, createdBy, createdAt);
      const details = { name, description, ...auditDetails(settings), ...first };
      await recordAudit(trx, actor, { action: `${on}.${how}`, resourceId: id, details });
    }),
  );
}

/**
 * Deletes the row with its grants and settings, and then the repositories.
 * @param refuseChild throws where a composite has the configuration as a child; asked under the lock of its repository
 * @throws HawserError not_found when somebody else was faster; conflict `in_use` while a node or a composite has it, and
 *   `change_set_required` where it is protected
 */
export async function deleteResource(
  tools: ResourceTools,
  kind: ResourceKind,
  { resource, actor }: { resource: GrantedResource; actor: Actor },
  refuseChild: () => Promise<void> = async () => undefined,
): Promise<void> {
  const { name } = resource;
  const removeRest = () => removeNoted(tools, kind, name);
  const later = () => tools.database.onceBack(() => tools.locks.run(nameLock(kind, name), removeRest));
  const run = async () => {
    const drop = () => dropRow(tools, kind, resource, actor);
    if (kind === 'composites') await drop();
    else await underBothLocks(tools, resource, refuseChild, drop);
    try {
      await removeRest();
    } catch (error) {
      // Without its row the resource is gone. What is left on the disk is noted, at the latest for the next start.
      later();
      const repository = { kind, name };
      tools.log.error({ err: error, repository }, `a ${NOUNS[kind]} that is gone is still on the disk`);
    }
  };
  await tools.locks.run(nameLock(kind, name), run).catch((error: unknown) => {
    if (isOutcomeUnknown(error)) later();
    throw error;
  });
}

async function underBothLocks(
  { database, store }: ResourceTools,
  { id, name }: GrantedResource,
  refuseChild: () => Promise<void>,
  drop: () => Promise<void>,
): Promise<void> {
  const work = async () => {
    await refuseChild();
    // Writers of parameters look for the row under this lock, so none can be written once the row is gone.
    await store.exclusive({ kind: 'parameters', name }, drop);
  };
  const repository = { kind: 'configurations', name } as const;
  // A repository that is lost on the disk cannot be locked, nor added to a composite. Its row must go all the same.
  if (!(await store.has(repository))) return work();
  // Whoever adds the configuration to a composite holds this lock too.
  await notFoundIfDeleted(database, 'configurations', id, () => store.exclusive(repository, work));
}

async function dropRow(
  { database, store }: ResourceTools,
  kind: ResourceKind,
  { id, name }: GrantedResource,
  actor: Actor,
): Promise<void> {
  try {
    await database.write.transaction().execute(async (trx) => {
      await requireUnprotected(trx, (thing) => thing.on === GRANT_KINDS[kind] && thing.id === id);
      for (const part of KINDS[kind].parts) await store.noteRemoval(trx, { kind: part, name });
      const gone = await trx.deleteFrom(kind).where('id', '=', id).executeTakeFirst();
      // Somebody else was faster. Another resource may have the name by now, which must not be removed.
      if (gone.numDeletedRows === 0n) throw noResource(kind);
      const action = `${GRANT_KINDS[kind]}.deleted` as const;
      await recordAudit(trx, actor, { action, resourceId: id, details: { name } });
    });
  } catch (error) {
    if (breaksReference(error)) throw conflict('in_use', 'It is assigned to a node');
    throw error;
  }
}

/** Removes the repositories that are noted for removal. Must run under the lock of the name. */
function removeNoted(
  { database, store }: Pick<ResourceTools, 'database' | 'store'>,
  kind: ResourceKind,
  name: string,
): Promise<void> {
  const parts = KINDS[kind].parts.map((part) => ({ kind: part, name }));
  return finishPendingDeletions(database, parts, (part) => store.remove(part));
}

function nameTaken(kind: ResourceKind) {
  return conflict('name_taken', `A ${NOUNS[kind]} of this name exists`);
}

function entryPointOf({ entryPoint }: RepositorySettings): string {
  return entryPoint ?? DEFAULT_ENTRY_POINT;
}
