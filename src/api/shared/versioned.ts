/** What the routes of configurations, of composites and of their versions share. */

import { z } from 'zod';
import type { Database, Db } from '../../db/database.ts';
import { type Page, type PageQuery, pageOf } from '../../db/rows.ts';
import { isResourceName } from '../../domain/names.ts';
import { ROLLOUT_STATES, type RolloutRecord } from '../../domain/rollout.ts';
import { SIGNATURE_FAULTS, SIGNATURE_STATUSES, type SignatureCheck } from '../../domain/signed-tag.ts';
import { isVersion, isVersionName, leadingVHint } from '../../domain/version-order.ts';
import { SIGNATURE_KINDS } from '../../git/signature-kinds.ts';
import type { AnswerSpec, Route } from '../../http/route.ts';
import { Message, orUnchanged, Timestamp } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { HawserError, invalid } from '../../lib/errors.ts';
import { limitLoads } from '../../lib/load-limit.ts';
import type { GrantAccess } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { heldLevels, readableIds } from '../../security/rights.ts';
import { GRANT_KINDS, type ResourceKind, type ResourceRows } from '../../versions/rows.ts';
import type { GitStore, RepositoryRef, VersionDetails, VersionIndex } from '../../versions/store.ts';
import { ResourceRoutes } from './routes.ts';

export const ResourceName = z
  .string()
  .refine(
    isResourceName,
    'Not a name: letters, digits, ".", "_" and "-", at most 128, no ".git" or ".lock" ending',
  )
  .meta({ description: 'Unique without regard to case; letters, digits, ".", "_" and "-", at most 128' });

export const SemVerVersion = z.string().refine(isVersion, {
  error: ({ input }) => `Not a SemVer 2.0 version such as 1.2.0${leadingVHint(String(input))}`,
});

/** A version of a configuration that may allow versions that are no SemVer. */
export const anyVersion = (message: string) =>
  z.string().refine((text) => isVersion(text) || isVersionName(text), message);

/**
 * The member `isDraft`, which clients of OpenDSC send with an upload. Whatever is uploaded is a draft, so true says
 * nothing new. False is refused, because such a client would take the version for published.
 * @param flag a flag of a form or of JSON, which may be absent
 * @param publish the path of the PUT that publishes
 */
export const draftFlag = (flag: z.ZodType<boolean | null | undefined>, publish: string) =>
  flag
    .transform((isDraft): undefined => {
      if (isDraft !== false) return;
      const message = `What is uploaded is a draft; publish it by PUT ${publish}`;
      const errors = [{ path: '/isDraft', message, code: 'not_allowed' }];
      throw invalid('publish_separately', message, errors);
    })
    .meta({ description: `True at most: publish by PUT ${publish}` });

/** The caller's own level on what is shown. */
export const LEVEL = z.enum(['Read', 'Modify', 'Manage']).nullable();

/** The caller's own level on a configuration or composite. */
export const ACCESS = {
  access: LEVEL.meta({
    description: 'What the caller may do; null only for a token that has created it and may not read it',
  }),
};

/** Tells the levels of the caller. */
export type Levels = Awaited<ReturnType<typeof heldLevels>>;

/** The members that views of configurations and composites end with. */
export const VERSION_COUNTS = {
  versionCount: z
    .int()
    .nullable()
    .meta({ description: 'Null in a list while the repository cannot be read' }),
  latestVersion: z.string().nullable().meta({ description: 'The highest of all, drafts too' }),
  latestPublishedVersion: z.string().nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

/** @param index null where the repository cannot be read: the numbers are then unknown, not 0 */
export function toVersionCounts(row: { created_at: number; updated_at: number }, index: VersionIndex | null) {
  return {
    versionCount: index?.versions.length ?? null,
    latestVersion: index?.versions[0]?.version ?? null,
    latestPublishedVersion: index?.published[0]?.version ?? null,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  };
}

/** Who withdrew a version, when and why. */
const WithdrawalView = z
  .object({ at: Timestamp.meta({ description: 'In whole seconds' }), by: z.string(), reason: z.string() })
  .nullable()
  .meta({ description: 'Null unless the version is withdrawn' });

/** The body of a publish, which may be left out. */
export const PUBLISHING = {
  kind: 'json',
  schema: z
    .strictObject({ message: orUnchanged(Message) })
    .meta({ id: 'Publishing', examples: [{ message: 'nginx listens on the new address.' }] }),
  isOptional: true,
} as const;

/** Where a rollout is. */
export const ROLLOUT = {
  state: z.enum(ROLLOUT_STATES),
  step: z.int().meta({ description: 'The newest step that is open, from 0' }),
  steps: z.int().meta({ description: 'The number of all steps' }),
};

/** The members that views of versions and of parameter files end with: why, by whom in Git, and whether it is offered. */
export const ACCOUNT = {
  message: z.string().nullable().meta({ description: 'What the tag says, else the commit' }),
  author: z
    .object({ name: z.string(), email: z.string() })
    .nullable()
    .meta({ description: 'Whom the Git commit names as its author, which is a claim; null if nobody' }),
  signature: z.enum(SIGNATURE_KINDS).nullable().meta({
    description: 'That of the tag, else of the commit; `signatureCheck` says what it is worth',
  }),
  signatureCheck: z
    .object({
      status: z.enum(SIGNATURE_STATUSES),
      principal: z.string().nullable().meta({ description: "The first principal of the signer's line" }),
      fingerprint: z.string().nullable().meta({ description: 'Of the key, `SHA256:...`' }),
      reason: z.enum(SIGNATURE_FAULTS).nullable().meta({ description: 'Null unless it is Invalid' }),
    })
    .nullable()
    .meta({
      description:
        'Whether the tag is signed by who may sign (`/settings`); null where nobody may, for drafts without a kept tag, for ' +
        'composites and for parameter files',
    }),
  withdrawn: WithdrawalView,
  rollout: z.object(ROLLOUT).nullable().meta({ description: 'Null where the version has no rollout' }),
};
export const ACCOUNT_EXAMPLE = {
  message: 'nginx listens on the new address.',
  author: { name: 'alice', email: 'alice@example.org' },
  signature: null,
  signatureCheck: null,
  withdrawn: null,
  rollout: null,
};

type Accounted = Pick<VersionDetails, Exclude<keyof typeof ACCOUNT, 'signatureCheck'>>;

/** @param signatureCheck that of the version of a configuration; null for all others */
export function toAccount(details: Accounted, signatureCheck: SignatureCheck | null = null) {
  const { message, author, signature, withdrawn, rollout } = details;
  return {
    message,
    author,
    signature,
    signatureCheck,
    withdrawn: withdrawn && { at: toTimestamp(withdrawn.at), by: withdrawn.by, reason: withdrawn.reason },
    rollout: rollout && toShortRollout(rollout.record),
  };
}

/** The members that views of versions end with: who made, published and withdrew the version, when, and why. */
export const AUTHORSHIP = {
  createdAt: Timestamp,
  createdBy: z.string(),
  publishedAt: Timestamp.nullable(),
  publishedBy: z.string().nullable(),
  commit: z.string().meta({ description: 'Git commit id' }),
  ...ACCOUNT,
};
export const AUTHORSHIP_EXAMPLE = {
  createdAt: '2026-11-20T09:08:00.000Z',
  createdBy: 'alice',
  publishedAt: '2026-11-20T10:00:00.000Z',
  publishedBy: 'alice',
  commit: '8c1f0d5a6b7e4c39a2d1f0e9b8c7d6a5f4e3d2c1',
  ...ACCOUNT_EXAMPLE,
};

export function toAuthorship(details: VersionDetails, signatureCheck: SignatureCheck | null = null) {
  const { createdAt, createdBy, publishedAt, publishedBy, commit } = details;
  return {
    createdAt: toTimestamp(createdAt),
    createdBy,
    publishedAt: toOptionalTimestamp(publishedAt),
    publishedBy,
    commit,
    ...toAccount(details, signatureCheck),
  };
}

function toShortRollout({ state, step, steps }: RolloutRecord) {
  return { state, step, steps: steps.length };
}

/** One maker of routes for each level of the grant on the resource in the path. */
export function grantedRoutes(
  database: Database,
  tags: readonly string[],
  granted: Pick<GrantAccess, 'on' | 'by' | 'part' | 'permission'>,
) {
  const at = (level: GrantAccess['level']) =>
    new ResourceRoutes<GrantAccess>(database, { tags, access: { kind: 'grant', ...granted, level } });
  return { reading: at('Read'), modifying: at('Modify'), managing: at('Manage') };
}

/** The access of routes about the files of one scope. What they do asks for the level on that (`requireSeries`). */
export const SERIES = { on: 'parameters', by: 'configurationId', part: 'series' } as const;

/** The maker of routes for one level. */
export type GrantedRoutes = ResourceRoutes<GrantAccess>;

/** The list of those configurations or composites that the caller may read. */
export function resourceList<K extends ResourceKind>(
  { database, store }: { database: Database; store: GitStore },
  kind: K,
  path: string,
  spec: Pick<Route, 'id' | 'summary' | 'tags'> & {
    answer: AnswerSpec;
    show(row: ResourceRows[K], index: VersionIndex | null, levels: Levels): unknown;
  },
): Route {
  const { tags, show, ...declared } = spec;
  const loads = limitLoads();
  const forUsers = new ResourceRoutes(database, { tags, access: { kind: 'user' } });
  return forUsers.list<{ row: ResourceRows[K]; levels: Levels }>(path, {
    ...declared,
    problems: ['shutting_down'],
    async rows({ principal, query }) {
      const { rows, total } = await listReadable(database.read, kind, principal, query);
      const ids = rows.map(({ id }) => id);
      const levels = await heldLevels(database.read, principal, ids);
      return { rows: rows.map((row) => ({ row, levels })), total };
    },
    show: async ({ row, levels }) =>
      show(row, await loads(() => readableIndex(store, { kind, name: row.name })), levels),
  });
}

/** The rows that the caller may read, by name. */
function listReadable<K extends ResourceKind>(
  db: Db,
  kind: K,
  principal: UserPrincipal,
  query: PageQuery,
): Promise<Page<ResourceRows[K]>> {
  const ids = readableIds(db, principal, GRANT_KINDS[kind]);
  const all = db
    .selectFrom(kind as ResourceKind)
    .selectAll()
    .orderBy('name');
  return pageOf(ids === 'all' ? all : all.where('id', 'in', ids), query) as Promise<never>;
}

/** The index, or null for a repository that is missing or unreadable, which must not fail the whole list. */
export async function readableIndex(
  store: GitStore,
  repository: RepositoryRef,
): Promise<VersionIndex | null> {
  try {
    return await store.versions(repository);
  } catch (error) {
    if (error instanceof HawserError && ['internal', 'unavailable'].includes(error.kind)) return null;
    throw error;
  }
}
