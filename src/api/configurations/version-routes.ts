/** `/api/v1/configurations/{name}/versions`: drafts, publishing, files. */

import type { z } from 'zod';
import { pageOfList } from '../../db/rows.ts';
import {
  type ConfigurationTarget,
  type ConfigurationTools,
  copyVersion,
  createDraft,
  replaceDraft,
} from '../../deeds/create-draft.ts';
import { publishVersion } from '../../deeds/publish.ts';
import type { Finding } from '../../domain/findings.ts';
import { prereleaseChannelOf } from '../../domain/version-order.ts';
import { jsonWithList } from '../../http/answer.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { RequestFacts, Route, UploadBody } from '../../http/route.ts';
import { invalidField, notFound } from '../../lib/errors.ts';
import { limitLoads } from '../../lib/load-limit.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import { offeredWays } from '../../resolve/offered-ways.ts';
import type { GrantedResource } from '../../security/access.ts';
import { authorVersions } from '../../versions/author.ts';
import { notFoundIfDeleted, requireRow } from '../../versions/rows.ts';
import { type SignatureCheck, signatureChecks } from '../../versions/signature-checks.ts';
import type { BlobInfo, GitStore, RepositoryRef, VersionDetails } from '../../versions/store.ts';
import { PublishCheckView } from '../shared/publish-check.ts';
import { callerOf } from '../shared/routes.ts';
import { type GrantedRoutes, grantedRoutes, PUBLISHING, toAuthorship } from '../shared/versioned.ts';
import { withAffectedFiles } from './affected-files.ts';
import { checkPublish } from './publish-check.ts';
import {
  CopiedVersion,
  NEW_VERSION_FIELDS,
  NewVersion,
  PublishedVersionView,
  ReplacedVersion,
  UploadedVersionView,
  VersionDetailsView,
  VersionView,
} from './schemas.ts';

const TAGS = ['Configuration versions'];
const NEW_VERSION: UploadBody<z.output<typeof NewVersion> | z.output<typeof CopiedVersion>> = {
  kind: 'upload',
  schema: NewVersion,
  fields: NEW_VERSION_FIELDS,
  json: CopiedVersion,
};

export function versionRoutes(tools: ConfigurationTools & FleetTools): Route[] {
  const { reading, modifying, managing } = grantedRoutes(tools.database, TAGS, { on: 'configuration' });
  const loads = limitLoads();
  const { store } = tools;
  const kind = 'configurations';
  return [
    reading.list('/api/v1/configurations/{name}/versions', {
      id: 'listConfigurationVersions',
      summary: 'List versions, highest first',
      answer: { description: 'Drafts and published versions', schema: VersionView },
      problems: READING_REPOSITORIES,
      rows: ({ resource, query, facts }) =>
        reads(tools, resource, async (repository) => {
          const { rows, total } = pageOfList((await store.versions(repository)).versions, query);
          const check = await signatureChecks(checksOf(tools, facts), resource);
          const shown = rows.map((ref) =>
            loads(async () => {
              const details = await store.details(repository, ref);
              return { details, signatureCheck: await check(details) };
            }),
          );
          return { rows: await Promise.all(shown), total };
        }),
      show: ({ details, signatureCheck }) => toVersion(details, signatureCheck),
    }),
    createRoute(tools, modifying),
    versionRoute(tools, reading),
    modifying.update('/api/v1/configurations/{name}/versions/{version}', {
      id: 'replaceConfigurationVersion',
      summary: "Replace a draft's files",
      description: 'All files at once, as for a new version; without an entry point it keeps its own.',
      body: { kind: 'upload', schema: ReplacedVersion, fields: NEW_VERSION_FIELDS },
      answer: { description: 'The draft as it is now', schema: UploadedVersionView },
      problems: [
        'publish_separately',
        'published_version',
        'draft_changed',
        'reserved_path',
        ...WRITING_REPOSITORIES,
      ],
      async handle({ caller, resource, params, body: form, files, ignoredFiles, facts }) {
        const version = params['version'] ?? '';
        if (form.version !== undefined && form.version !== version)
          throw invalidField('/version', 'Not the version in the path', 'version_mismatch');
        const target = { kind, resource, ...caller, gone: facts.over } as const;
        const made = await replaceDraft(tools, target, version, { form, files });
        return { ...(await withFindings(tools, { ...target, facts }, made)), ignoredFiles };
      },
    }),
    managing.delete('/api/v1/configurations/{name}/versions/{version}', {
      id: 'deleteConfigurationVersion',
      summary: 'Delete a draft',
      answer: { description: 'The draft is gone' },
      problems: ['published_version', 'draft_changed', ...WRITING_REPOSITORIES],
      handle: ({ caller, resource, params }) =>
        authorVersions(tools, { kind, resource, ...caller }, (author) =>
          author.deleteDraft(params['version'] ?? ''),
        ),
    }),
    publishRoute(tools, modifying),
    checkRoute(tools, reading),
  ];
}

function createRoute(tools: ConfigurationTools, modifying: GrantedRoutes): Route {
  return modifying.create('/api/v1/configurations/{name}/versions', {
    id: 'createConfigurationVersion',
    summary: 'Create a draft version',
    description:
      'Without a version, the next patch above the highest; without an entry point, that of the highest. JSON makes ' +
      'a draft with the files and the entry point of another version.',
    body: NEW_VERSION,
    answer: { description: 'The draft', schema: UploadedVersionView },
    problems: ['publish_separately', 'version_exists', 'reserved_path', ...WRITING_REPOSITORIES],
    key: ({ version }) => version,
    async handle({ caller, resource, body: form, files, ignoredFiles, facts }) {
      const target = { kind: 'configurations', resource, ...caller, gone: facts.over } as const;
      const made =
        'from' in form
          ? await copyVersion(tools, target, form)
          : await createDraft(tools, target, { form, files });
      return { ...(await withFindings(tools, { ...target, facts }, made)), ignoredFiles };
    },
  });
}

function checkRoute(tools: ConfigurationTools, reading: GrantedRoutes): Route {
  return reading.get('/api/v1/configurations/{name}/versions/{version}/publish-check', {
    id: 'checkConfigurationPublish',
    summary: 'See what publishing a draft would answer',
    description: 'Nothing is changed. `already_published` of a published version.',
    answer: {
      description: 'What stands in the way, and what changes for parameters',
      schema: PublishCheckView,
    },
    problems: READING_REPOSITORIES,
    handle: ({ principal, resource, params, facts }) =>
      checkPublish(tools, resource, { version: params['version'] ?? '', now: facts.now }, principal),
  });
}

function publishRoute(tools: ConfigurationTools & FleetTools, modifying: GrantedRoutes): Route {
  return modifying.own('PUT', '/api/v1/configurations/{name}/versions/{version}/publish', {
    id: 'publishConfigurationVersion',
    changesNodes: true,
    represents: '/api/v1/configurations/{name}/versions/{version}',
    summary: 'Publish a draft; nodes get it at their next poll',
    description:
      'Where the server manages the parameters, the `parameters` block of the entry point, or the schema uploaded ' +
      'for the version, is compared with that of the highest published version below it: what breaks it is refused ' +
      'with a `compatibilityReport`, unless the major version rises. A document that dsc cannot read is refused ' +
      'where `documentChecks` is Strict, and a block that is not valid in mode Strict; otherwise the parameters are ' +
      'unknown. `affectedParameterFiles` are the published parameter files that ' +
      'nodes of the first version of a major get, those of its major or of the nearest lower one, and that its schema ' +
      'refuses.',
    body: PUBLISHING,
    answers: { 200: { description: 'The published version', schema: PublishedVersionView } },
    problems: [
      'already_published',
      'change_set_required',
      'document_unreadable',
      'incompatible_parameters',
      'rollout_running',
      'signature_required',
      'signature_invalid',
      [409, 'validation_failed'],
      'draft_changed',
      ...WRITING_REPOSITORIES,
    ],
    async handle(input) {
      const { principal, resource, params, body } = input;
      const version = params['version'] ?? '';
      const target = { kind: 'configurations', resource, ...callerOf(input) } as const;
      const { details, findings } = await publishVersion(tools, target, version, body.message);
      const assigned = { kind: 'configurations', ...resource } as const;
      const nodes = await offeredWays(tools, principal, { assigned, version });
      const check = await signatureChecks(checksOf(tools, input.facts), resource);
      const shown = { ...toVersion(details, await check(details)), findings, nodes };
      return withAffectedFiles(tools, { resource, principal, version }, shown);
    },
  });
}

function versionRoute(tools: ConfigurationTools, reading: GrantedRoutes): Route {
  return reading.own('GET', '/api/v1/configurations/{name}/versions/{version}', {
    id: 'getConfigurationVersion',
    summary: 'Read a version with its files',
    problems: READING_REPOSITORIES,
    answers: { 200: { description: 'The version', schema: VersionDetailsView } },
    handle: ({ principal, resource, params, facts }) =>
      reads(tools, resource, async (repository) => {
        const details = await findVersion(tools.store, repository, params['version'] ?? '');
        const infos = await tools.store.fileInfos(repository, details.files);
        const shown = await withFindings(tools, { resource, principal, facts }, details);
        return jsonWithList(shown, 'files', toVersionFiles(details, infos));
      }),
  });
}

/** Reads a configuration that somebody else may be deleting. @throws HawserError not_found in that case */
export function reads<T>(
  { database }: Pick<ConfigurationTools, 'database'>,
  { id, name }: Pick<GrantedResource, 'id' | 'name'>,
  work: (repository: RepositoryRef) => Promise<T>,
): Promise<T> {
  return notFoundIfDeleted(database, 'configurations', id, () => work({ kind: 'configurations', name }));
}

/** @throws HawserError not_found */
export async function findVersion(
  store: GitStore,
  repository: RepositoryRef,
  version: string,
): Promise<VersionDetails> {
  const ref = (await store.versions(repository)).get(version);
  if (ref === undefined) throw notFound('No such version');
  return store.details(repository, ref);
}

/** A version as answers about it alone show it. What cannot be read at the moment is null, and is in the log. */
export async function withFindings(
  tools: ConfigurationTools,
  { resource, principal, facts }: Asking,
  details: VersionDetails,
) {
  const check = await signatureChecks(checksOf(tools, facts), resource);
  const shown = toVersion(details, await check(details));
  return { ...shown, findings: await findingsOf(tools, { resource, principal }, details) };
}

/** Who asks for a version, and when. */
type Asking = Pick<ConfigurationTarget, 'resource' | 'principal'> & { facts: Pick<RequestFacts, 'now'> };

/** What signatures are checked with. */
const checksOf = (
  { database, store }: Pick<ConfigurationTools, 'database' | 'store'>,
  { now }: Pick<RequestFacts, 'now'>,
) => ({ read: database.read, store, now });

async function findingsOf(
  { database, compatibility, log }: ConfigurationTools,
  { resource: { id, name }, principal }: Pick<ConfigurationTarget, 'resource' | 'principal'>,
  details: VersionDetails,
): Promise<readonly Finding[] | null> {
  try {
    const row = await requireRow(database.read, 'configurations', id);
    const isManaged = row.use_server_managed_parameters === 1;
    return await compatibility.findingsOf(name, details, { caller: principal.userId, isManaged });
  } catch (error) {
    log.warn({ err: error, configuration: name, version: details.version }, 'an entry point cannot be read');
    return null;
  }
}

/** A version as lists show it. */
export function toVersion(details: VersionDetails, signatureCheck: SignatureCheck | null) {
  return {
    version: details.version,
    status: details.status,
    entryPoint: details.entryPoint,
    prereleaseChannel: prereleaseChannelOf(details.version),
    fileCount: details.files.length,
    findings: null as readonly Finding[] | null,
    ...toAuthorship(details, signatureCheck),
  };
}

/**
 * Gives the files of a version one by one, as there may be twenty thousand.
 * @param infos of the files, in their order
 */
function* toVersionFiles({ files }: VersionDetails, infos: readonly BlobInfo[]) {
  for (const [at, { path }] of files.entries()) {
    const { size, sha256 } = infos[at] as BlobInfo;
    yield { path, size, checksum: sha256, contentType: mediaTypeOf(path) };
  }
}
