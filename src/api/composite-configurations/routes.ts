/** `/api/v1/composite-configurations`: create, list, read, delete; versions and publishing. */

import type { Db } from '../../db/database.ts';
import { findProtection } from '../../db/protections.ts';
import { pageOfList } from '../../db/rows.ts';
import { createCompositeDraft } from '../../deeds/composite-draft.ts';
import { createComposite } from '../../deeds/create-composite.ts';
import {
  type CompositeTarget,
  type CompositeTools,
  publishComposite,
} from '../../deeds/publish-composite.ts';
import { setProtection } from '../../deeds/set-protection.ts';
import type { Finding } from '../../domain/findings.ts';
import { prereleaseChannelOf } from '../../domain/version-order.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import { nameBasedId } from '../../lib/ids.ts';
import { findingsOfChildren } from '../../resolve/composite-findings.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import { offeredWays } from '../../resolve/offered-ways.ts';
import type { GrantedResource } from '../../security/access.ts';
import { heldLevels } from '../../security/rights.ts';
import { authorVersions } from '../../versions/author.ts';
import { deleteResource } from '../../versions/resources.ts';
import { type CompositeRow, notFoundIfDeleted, requireRow } from '../../versions/rows.ts';
import type { SortedVersions } from '../../versions/sorted-versions.ts';
import type { VersionDetails, VersionIndex, VersionRef } from '../../versions/store.ts';
import { PublishCheckView } from '../shared/publish-check.ts';
import { permitted } from '../shared/routes.ts';
import {
  type GrantedRoutes,
  grantedRoutes,
  type Levels,
  PUBLISHING,
  resourceList,
  toAuthorship,
  toVersionCounts,
} from '../shared/versioned.ts';
import { withdrawRoutes } from '../shared/withdraw-routes.ts';
import { childRoutes, findConfigurationIds, isPinnedToWithdrawn, toItem } from './children.ts';
import { compareRoute } from './compare-route.ts';
import { checkPublish } from './publish-check.ts';
import {
  CompositeDetailsView,
  CompositeSettingsChange,
  CompositeSettingsView,
  CompositeVersionView,
  CompositeView,
  NewComposite,
  NewCompositeVersion,
  PublishedCompositeView,
} from './schemas.ts';

type ResourceName = Pick<GrantedResource, 'id' | 'name'>;

const TAGS = ['Composite configurations'];
const VERSION_TAGS = ['Composite versions'];

export function compositeRoutes(tools: CompositeTools & FleetTools): Route[] {
  const { database, store } = tools;
  const { reading, managing } = grantedRoutes(database, TAGS, { on: 'composite' });
  const creating = permitted(database, TAGS, 'composite-configurations.create');
  return [
    resourceList(tools, 'composites', '/api/v1/composite-configurations', {
      id: 'listComposites',
      summary: 'List the composite configurations that the caller may read, by name',
      tags: TAGS,
      answer: { description: 'The composites', schema: CompositeView },
      show: toComposite,
    }),
    creating.create('/api/v1/composite-configurations', {
      id: 'createComposite',
      summary: 'Create a composite configuration',
      description: 'A configuration may have the same name, another composite not.',
      body: { kind: 'json', schema: NewComposite },
      answer: { description: 'The composite, still without versions', schema: CompositeView },
      problems: ['name_taken', 'invalid_path', ...WRITING_REPOSITORIES],
      key: ({ name }) => name,
      handle: ({ caller, body }) =>
        createComposite(tools, caller, body, async (id) => {
          const row = await requireRow(database.read, 'composites', id);
          const index = await store.versions({ kind: 'composites', name: row.name });
          return toComposite(row, index, await heldLevels(database.read, caller.principal, [id]));
        }),
    }),
    reading.get('/api/v1/composite-configurations/{name}', {
      id: 'getComposite',
      summary: 'Read a composite configuration with its versions',
      answer: { description: 'The composite', schema: CompositeDetailsView },
      problems: READING_REPOSITORIES,
      async handle({ principal, resource }) {
        const row = await requireRow(database.read, 'composites', resource.id);
        const levels = await heldLevels(database.read, principal, [row.id]);
        return reads(tools, resource, async (index) => ({
          ...toComposite(row, index, levels),
          versions: await showVersions(tools, resource, index.versions),
        }));
      },
    }),
    managing.delete('/api/v1/composite-configurations/{name}', {
      id: 'deleteComposite',
      changesNodes: true,
      summary: 'Delete a composite configuration with all its versions',
      answer: { description: 'The composite is gone' },
      problems: ['in_use', 'change_set_required', ...WRITING_REPOSITORIES],
      handle: ({ caller, resource }) => deleteResource(tools, 'composites', { resource, ...caller }),
    }),
    ...settingsRoutes(tools),
    ...versionRoutes(tools),
    ...withdrawRoutes(tools, {
      kind: 'composites',
      tags: VERSION_TAGS,
      path: '/api/v1/composite-configurations/{name}/versions/{version}',
      ids: { withdraw: 'withdrawCompositeVersion', offer: 'offerCompositeVersionAgain' },
      answer: 'CompositeWithdrawal',
      view: CompositeVersionView,
      show: (target, { version }) => showVersion(tools, target, version),
    }),
    ...childRoutes(tools),
    compareRoute(tools),
  ];
}

function settingsRoutes({ database }: CompositeTools): Route[] {
  const { reading, managing } = grantedRoutes(database, ['Composite settings'], { on: 'composite' });
  const path = '/api/v1/composite-configurations/{name}/settings';
  const read = async (db: Db, { id }: GrantedResource) => ({
    protection: await findProtection(db, { on: 'composite', id }),
  });
  return [
    reading.get(path, {
      id: 'getCompositeSettings',
      summary: 'Read what protects the composite configuration',
      answer: { description: 'The settings', schema: CompositeSettingsView },
      handle: ({ resource }) => read(database.read, resource),
    }),
    managing.update(path, {
      id: 'updateCompositeSettings',
      summary: 'Change what protects the composite configuration',
      description: 'A weaker protection is set by a change set alone.',
      body: { kind: 'json', schema: CompositeSettingsChange },
      answer: { description: 'The settings as they are now', schema: CompositeSettingsView },
      problems: ['change_set_required'],
      async change(trx, { resource, caller: { actor }, body: { protection } }) {
        const { id, name } = resource;
        // The composite may have been deleted since access was checked.
        await requireRow(trx, 'composites', id);
        const thing = { on: 'composite', id, name, names: { name } } as const;
        if (protection) await setProtection(trx, actor, thing, protection);
        return read(trx, resource);
      },
    }),
  ];
}

function versionRoutes(tools: CompositeTools & FleetTools): Route[] {
  const { reading, modifying, managing } = grantedRoutes(tools.database, VERSION_TAGS, { on: 'composite' });
  const kind = 'composites';
  return [
    reading.list('/api/v1/composite-configurations/{name}/versions', {
      id: 'listCompositeVersions',
      summary: 'List versions, highest first',
      answer: { description: 'Drafts and published versions', schema: CompositeVersionView },
      problems: READING_REPOSITORIES,
      rows: ({ resource, query }) =>
        reads(tools, resource, async ({ versions }) => {
          const { rows, total } = pageOfList(versions, query);
          return { rows: await showVersions(tools, resource, rows), total };
        }),
      show: (version) => version,
    }),
    modifying.create('/api/v1/composite-configurations/{name}/versions', {
      id: 'createCompositeVersion',
      summary: 'Create an empty draft version',
      body: { kind: 'json', schema: NewCompositeVersion },
      answer: { description: 'The draft', schema: CompositeVersionView },
      problems: ['publish_separately', 'version_exists', ...WRITING_REPOSITORIES],
      key: ({ version }) => version,
      async handle({ caller, resource, body }) {
        await createCompositeDraft(tools, { kind, resource, ...caller }, body);
        return showVersion(tools, { resource, principal: caller.principal }, body.version);
      },
    }),
    reading.get('/api/v1/composite-configurations/{name}/versions/{version}', {
      id: 'getCompositeVersion',
      summary: 'Read a version with its children',
      answer: { description: 'The version', schema: CompositeVersionView },
      problems: READING_REPOSITORIES,
      handle: ({ principal, resource, params }) =>
        showVersion(tools, { resource, principal }, params['version'] ?? ''),
    }),
    managing.delete('/api/v1/composite-configurations/{name}/versions/{version}', {
      id: 'deleteCompositeVersion',
      summary: 'Delete a draft',
      answer: { description: 'The draft is gone' },
      problems: ['published_version', 'draft_changed', ...WRITING_REPOSITORIES],
      handle: ({ caller, resource, params }) =>
        authorVersions(tools, { kind, resource, ...caller }, (author) =>
          author.deleteDraft(params['version'] ?? ''),
        ),
    }),
    checkRoute(tools, reading),
    publishRoute(tools, modifying),
  ];
}

function publishRoute(tools: CompositeTools & FleetTools, modifying: GrantedRoutes): Route {
  return modifying.update('/api/v1/composite-configurations/{name}/versions/{version}/publish', {
    id: 'publishCompositeVersion',
    changesNodes: true,
    represents: '/api/v1/composite-configurations/{name}/versions/{version}',
    summary: 'Publish a draft; nodes get it at their next poll',
    body: PUBLISHING,
    answer: { description: 'The published version', schema: PublishedCompositeView },
    problems: [
      'already_published',
      'change_set_required',
      'no_children',
      'beyond_own_permissions',
      'unpublished_child',
      'document_unreadable',
      'rollout_running',
      'draft_changed',
      ...WRITING_REPOSITORIES,
    ],
    async handle({ caller, resource, params, body: { message } }) {
      const version = params['version'] ?? '';
      const { principal } = caller;
      await publishComposite(tools, { kind: 'composites', resource, ...caller }, version, message);
      const assigned = { kind: 'composites', ...resource } as const;
      const nodes = await offeredWays(tools, principal, { assigned, version });
      return { ...(await showVersion(tools, { resource, principal }, version)), nodes };
    },
  });
}

function checkRoute(tools: CompositeTools, reading: GrantedRoutes): Route {
  return reading.get('/api/v1/composite-configurations/{name}/versions/{version}/publish-check', {
    id: 'checkCompositePublish',
    summary: 'See what publishing a draft would answer',
    description: 'Nothing is changed. `already_published` of a published version.',
    answer: { description: 'What stands in the way', schema: PublishCheckView },
    problems: READING_REPOSITORIES,
    handle: ({ principal, resource, params, facts: { now } }) =>
      reads(tools, resource, (index) =>
        checkPublish(tools, resource.name, index, { version: params['version'] ?? '', now }, principal),
      ),
  });
}

/** Reads a composite that somebody else may be deleting. @throws HawserError not_found in that case */
function reads<T>(
  { database, store }: CompositeTools,
  { id, name }: ResourceName,
  work: (index: SortedVersions) => Promise<T>,
): Promise<T> {
  return notFoundIfDeleted(database, 'composites', id, async () =>
    work(await store.versions({ kind: 'composites', name })),
  );
}

async function showVersion(
  tools: CompositeTools,
  { resource, principal }: Pick<CompositeTarget, 'resource' | 'principal'>,
  version: string,
) {
  const shown = await showAlone(tools, resource, version);
  const findings = await reads(tools, resource, (index) => {
    const ref = index.get(version);
    return ref ? findingsOf(tools, { resource, principal }, ref) : Promise.resolve(null);
  });
  return { ...shown, findings };
}

/** As lists show it. */
function showAlone(tools: CompositeTools, resource: ResourceName, version: string) {
  return reads(tools, resource, async (index) => {
    const ref = index.get(version);
    const [shown] = ref ? await showVersions(tools, resource, [ref]) : [];
    if (shown === undefined) throw notFound('No such version');
    return shown;
  });
}

/** Null, with a line in the log, where a child cannot be read at the moment. */
async function findingsOf(
  tools: CompositeTools,
  { resource: { name }, principal }: Pick<CompositeTarget, 'resource' | 'principal'>,
  ref: VersionRef,
): Promise<readonly Finding[] | null> {
  try {
    const document = await tools.composites.document({ kind: 'composites', name }, ref);
    return await findingsOfChildren(tools, document, principal.userId);
  } catch (error) {
    tools.log.warn({ err: error, composite: name, version: ref.version }, 'an entry point cannot be read');
    return null;
  }
}

/** The versions as the API shows them, in the order of `refs`. */
async function showVersions(
  { database, store, composites }: CompositeTools,
  { id, name }: ResourceName,
  refs: readonly VersionRef[],
) {
  const repository = { kind: 'composites', name } as const;
  const read = refs.map(async (ref) => {
    const document = await composites.document(repository, ref);
    const isWithdrawn = await Promise.all(
      document.children.map((child) => isPinnedToWithdrawn(store, child)),
    );
    return { details: await store.details(repository, ref), document, isWithdrawn };
  });
  const versions = await Promise.all(read);
  const names = versions.flatMap(({ document }) => document.children.map((child) => child.configuration));
  const ids = await findConfigurationIds(database.read, [...new Set(names)]);
  return versions.map(({ details, document, isWithdrawn }) => {
    const items = document.children.map((child, at) => toItem(child, ids, isWithdrawn[at] ?? false));
    return toCompositeVersion(id, details, items);
  });
}

function toComposite(row: CompositeRow, index: VersionIndex | null, levels: Levels) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    entryPoint: row.entry_point,
    ...toVersionCounts(row, index),
    access: levels('composite', row.id),
  };
}

function toCompositeVersion(
  compositeId: string,
  details: VersionDetails,
  items: readonly ReturnType<typeof toItem>[],
) {
  return {
    // A version has no row, so its id is made from the id of the composite and the version.
    id: nameBasedId(compositeId, details.version),
    version: details.version,
    status: details.status,
    prereleaseChannel: prereleaseChannelOf(details.version),
    items,
    findings: null as readonly Finding[] | null,
    ...toAuthorship(details),
  };
}
