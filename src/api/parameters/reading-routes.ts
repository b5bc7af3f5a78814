/** Lists the versions and majors of a scope's file, and reads the active file of a major. */

import { pageOfList } from '../../db/rows.ts';
import type { ScopeTypeRow } from '../../db/scope-types.ts';
import { type ConfigurationOf, FileChecks, type ParameterTools } from '../../deeds/parameter-checks.ts';
import { MEDIA_TYPES } from '../../deeds/parameter-content.ts';
import { findVersions } from '../../deeds/put-parameters.ts';
import { isStable, type Major, majorOf, safeMajor } from '../../domain/version-order.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import { nameBasedId } from '../../lib/ids.ts';
import { limitLoads } from '../../lib/load-limit.ts';
import { readOfferedFiles } from '../../resolve/offered-files.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { SeriesRights } from '../../security/series-rights.ts';
import type { ParameterDetails, ParameterScope, RolloutRef, VersionRef } from '../../versions/store.ts';
import { grantedRoutes, SERIES, toAccount } from '../shared/versioned.ts';
import {
  InMajor,
  InSet,
  InVersion,
  MajorView,
  OfScope,
  PageOfScope,
  ParameterContentView,
  ParameterFileView,
} from './schemas.ts';

const TAGS = ['Parameters'];

export function readingRoutes(tools: ParameterTools): Route[] {
  const loads = limitLoads();
  const { reading } = grantedRoutes(tools.database, TAGS, SERIES);
  return [
    reading.list('/api/v1/parameters/{scopeTypeId}/{configurationId}/versions', {
      id: 'listParameterVersions',
      summary: "List the versions of a scope's file, highest first",
      description: 'None where the scope value or the node does not exist.',
      params: InSet,
      query: PageOfScope,
      answer: { description: 'Drafts and published versions', schema: ParameterFileView },
      problems: READING_REPOSITORIES,
      async rows(call) {
        const of = await versionsOf(tools, call);
        const { rows, total } = pageOfList(of.versions, call.query);
        const files = rows.map((ref) => loads(() => show(tools, call.resource, of, ref)));
        return { rows: await Promise.all(files), total };
      },
      show: (file) => file,
    }),
    reading.list('/api/v1/parameters/{scopeTypeId}/{configurationId}/majors', {
      id: 'listParameterMajors',
      summary: "List the major versions of a scope's file, highest first",
      params: InSet,
      query: PageOfScope,
      answer: { description: 'What there is of each', schema: MajorView },
      problems: READING_REPOSITORIES,
      async rows(call) {
        const { versions, offered, checks } = await versionsOf(tools, call);
        const { rows, total } = pageOfList(groupByMajor(versions), call.query);
        const judged = rows.map((major) =>
          loads(async () => toMajorView(major, offered, await checks.anyNeedsMigration(major.versions))),
        );
        return { rows: await Promise.all(judged), total };
      },
      show: (major) => major,
    }),
    reading.get('/api/v1/parameters/{scopeTypeId}/{configurationId}/majors/{major}', {
      id: 'getActiveParameterFile',
      summary: 'Read the active file of a major version',
      description:
        'The highest published stable version of it that is not withdrawn, else the highest of its prereleases.',
      params: InMajor,
      query: OfScope,
      answer: { description: 'The file with its content', schema: ParameterContentView },
      problems: READING_REPOSITORIES,
      async handle(call) {
        const of = await versionsOf(tools, call);
        const group = groupByMajor(of.versions).find(({ major }) => major === call.params.major);
        const ref = group && activeOf(group, of.offered);
        if (ref === undefined) throw notFound('The scope has no published version of this major');
        return showWithContent(tools, call, of, ref);
      },
    }),
    reading.get('/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}', {
      id: 'getParameterVersion',
      summary: "Read a version of a scope's file, a draft too",
      params: InVersion,
      query: OfScope,
      answer: { description: 'The file with its content', schema: ParameterContentView },
      problems: READING_REPOSITORIES,
      async handle(call) {
        const of = await versionsOf(tools, call);
        const ref = of.versions.find(({ version }) => version === call.params.version);
        if (ref === undefined) throw notFound('The scope has no such version');
        return showWithContent(tools, call, of, ref);
      },
    }),
  ];
}

/** The versions of the scope that a request names. */
interface Versions {
  type: ScopeTypeRow;
  scope: ParameterScope;
  /** The highest version comes first. */
  versions: readonly VersionRef[];
  /** Those of them that are offered: of scope Node only those of the node that has the name now. */
  offered: ReadonlySet<VersionRef>;
  checks: FileChecks;
}

/** The parts of a request that name a scope. */
interface Call {
  principal: UserPrincipal;
  resource: ConfigurationOf;
  params: { scopeTypeId: string };
  query: { scopeValue?: string | undefined };
}

async function versionsOf(
  tools: ParameterTools,
  { principal, resource, params, query }: Call,
): Promise<Versions> {
  const named = { type: { id: params.scopeTypeId }, ...query };
  const { type, scope, index } = await findVersions(tools, { principal, resource }, named);
  const { versions, published } = index;
  const offered = await readOfferedFiles(tools.database.read, [scope]);
  return {
    ...{ type, scope, versions },
    offered: new Set(offered(scope, published)),
    // Documents are read in the turn of this user.
    checks: await FileChecks.of(tools, resource, principal.userId),
  };
}

async function show(
  { store }: ParameterTools,
  { id: configurationId, name }: ConfigurationOf,
  { type, scope, checks }: Versions,
  ref: VersionRef,
) {
  const details = await store.parameters.details(name, ref);
  const needsMigration = await checks.needsMigration(ref);
  return toParameterFile(configurationId, { type, scope, details, needsMigration });
}

/** A version after a deed, as it is now. @throws HawserError not_found where it is gone */
export async function showNamed(tools: ParameterTools, call: Call & { params: { version: string } }) {
  const of = await versionsOf(tools, call);
  const ref = of.versions.find(({ version }) => version === call.params.version);
  if (ref === undefined) throw notFound('The scope has no such version');
  return show(tools, call.resource, of, ref);
}

async function showWithContent(
  tools: ParameterTools,
  { principal, resource }: Pick<Call, 'principal' | 'resource'>,
  of: Versions,
  ref: VersionRef,
) {
  const file = await show(tools, resource, of, ref);
  const rights = await SeriesRights.of(tools.database.read, principal, resource.id);
  const content = await tools.store.parameters.content(resource.name, ref);
  return { ...file, content: content?.toString('utf8') ?? null, access: rights.levelOn(of.scope) };
}

interface ShownFile {
  type: { id: string; name: string };
  scope: ParameterScope;
  details: ParameterDetails;
  needsMigration: boolean;
}

function toRolloutOfFile({ record: { key, state, step, steps } }: RolloutRef) {
  return { key, state, step, steps: steps.length };
}

export function toParameterFile(
  configurationId: string,
  { type, scope, details, needsMigration }: ShownFile,
) {
  const { version, contentType } = details;
  return {
    id: nameBasedId(configurationId, `${type.id}/${scope.value ?? ''}/${version}`),
    scopeTypeId: type.id,
    scopeTypeName: type.name,
    configurationId,
    scopeValue: scope.value,
    version,
    majorVersion: safeMajor(majorOf(version)),
    checksum: details.sha256,
    contentType: contentType && MEDIA_TYPES[contentType],
    status: details.status,
    isPassthrough: details.isPassthrough,
    needsMigration,
    createdAt: toTimestamp(details.createdAt),
    createdBy: details.createdBy,
    publishedAt: toOptionalTimestamp(details.publishedAt),
    publishedBy: details.publishedBy,
    ...toAccount(details),
    rollout: details.rollout && toRolloutOfFile(details.rollout),
  };
}

/** The address of a version, at which it can be read, deleted and published. */
export function locationOf(configurationId: string, { type, scope, details }: ShownFile): string {
  const query = scope.value === null ? '' : `?scopeValue=${encodeURIComponent(scope.value)}`;
  const version = encodeURIComponent(details.version);
  return `/api/v1/parameters/${type.id}/${configurationId}/versions/${version}${query}`;
}

interface MajorGroup {
  major: Major;
  /** The highest version comes first. */
  versions: VersionRef[];
}

/** Groups versions, highest major first. Versions that are no SemVer have no major, and are left out. */
function groupByMajor(highestFirst: readonly VersionRef[]): MajorGroup[] {
  const majors = new Map<Major, MajorGroup>();
  for (const ref of highestFirst) {
    const major = majorOf(ref.version);
    if (major === null) continue;
    const group = majors.get(major) ?? { major, versions: [] };
    majors.set(major, group);
    group.versions.push(ref);
  }
  return [...majors.values()];
}

function toMajorView(
  { major, versions }: MajorGroup,
  offered: Versions['offered'],
  hasMigrationNeeded: boolean,
) {
  return {
    majorVersion: safeMajor(major),
    versionCount: versions.length,
    hasActive: versions.some((ref) => offered.has(ref)),
    latestVersion: versions[0]?.version,
    hasMigrationNeeded,
  };
}

/** The highest published stable version of a major, else the highest published one. */
function activeOf({ versions }: MajorGroup, offered: Versions['offered']): VersionRef | undefined {
  const published = versions.filter((ref) => offered.has(ref));
  return published.find(({ version }) => isStable(version)) ?? published[0];
}
