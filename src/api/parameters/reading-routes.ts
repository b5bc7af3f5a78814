/** What versions of a scope's file there are, and which of them is the one of its major. */

import pLimit, { type LimitFunction } from 'p-limit';
import type { ParameterScope, ParameterVersionRef } from '../../git/store.ts';
import { json, page } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import type { ScopeTypeRow } from '../scope-types/queries.ts';
import { type ConfigurationOf, FileChecks, type ParameterTools } from './checks.ts';
import {
  InMajor,
  InSet,
  MajorView,
  OfScope,
  PageOfScope,
  ParameterContentView,
  ParameterFileView,
} from './schemas.ts';
import { requireScopeType, scopeNamed } from './scopes.ts';
import { activeOf, groupByMajor, toMajor, toParameterFile } from './views.ts';

const SET = '/api/v1/parameters/{scopeTypeId}/{configurationId}';

const COMMON = {
  method: 'GET',
  tags: ['Parameters'],
  access: { kind: 'grant', on: 'parameters', level: 'Read', by: 'configurationId' },
  problems: READING_REPOSITORIES,
} as const;

/** Details of versions come from several objects each when they are not in memory. */
const CONCURRENT_LOADS = 16;

export function readingRoutes(tools: ParameterTools): Route[] {
  const loads = pLimit(CONCURRENT_LOADS);
  return [listRoute(tools, loads), majorsRoute(tools, loads), majorRoute(tools)];
}

/** The versions of the scope that a request names. */
interface Versions {
  type: ScopeTypeRow;
  scope: ParameterScope;
  /** Highest first. */
  versions: readonly ParameterVersionRef[];
  checks: FileChecks;
}

interface WantedScope {
  scopeTypeId: string;
  scopeValue: string | undefined;
  /** The id of the user in whose turn documents are read. */
  caller: string;
}

async function versionsOf(
  tools: ParameterTools,
  resource: ConfigurationOf,
  { scopeTypeId, scopeValue, caller }: WantedScope,
): Promise<Versions> {
  const { database, store } = tools;
  const type = await requireScopeType(database.read, { id: scopeTypeId });
  const scope = await scopeNamed(database.read, type, scopeValue);
  const index = await store.parameters.index(resource.name);
  return {
    type,
    scope,
    versions: index.versions(scope),
    checks: await FileChecks.of(tools, resource, caller),
  };
}

async function show(
  { store }: ParameterTools,
  { id: configurationId, name }: ConfigurationOf,
  { type, scope, checks }: Versions,
  ref: ParameterVersionRef,
) {
  const details = await store.parameters.details(name, ref);
  const needsMigration = await checks.needsMigration(ref);
  return toParameterFile({ configurationId, type, scope, details, needsMigration });
}

function listRoute(tools: ParameterTools, loads: LimitFunction): Route {
  return route({
    ...COMMON,
    id: 'listParameterVersions',
    path: `${SET}/versions`,
    summary: "List the versions of a scope's file, highest first",
    description: 'None where the scope value or the node does not exist.',
    params: InSet,
    query: PageOfScope,
    answers: { 200: { description: 'Drafts and published versions', schema: ParameterFileView.array() } },
    async handle({ principal, resource, params, query }) {
      const caller = principal.userId;
      const { take, skip, scopeValue } = query;
      const of = await versionsOf(tools, resource, { ...params, scopeValue, caller });
      const shown = of.versions.slice(skip, skip + take);
      const files = await Promise.all(shown.map((ref) => loads(() => show(tools, resource, of, ref))));
      return page(files, of.versions.length, query);
    },
  });
}

function majorsRoute(tools: ParameterTools, loads: LimitFunction): Route {
  return route({
    ...COMMON,
    id: 'listParameterMajors',
    path: `${SET}/majors`,
    summary: "List the major versions of a scope's file, highest first",
    params: InSet,
    query: PageOfScope,
    answers: { 200: { description: 'What there is of each', schema: MajorView.array() } },
    async handle({ principal, resource, params, query }) {
      const caller = principal.userId;
      const { take, skip, scopeValue } = query;
      const { versions, checks } = await versionsOf(tools, resource, { ...params, scopeValue, caller });
      const majors = groupByMajor(versions);
      const judged = majors
        .slice(skip, skip + take)
        .map((major) => loads(async () => toMajor(major, await checks.anyNeedsMigration(major.versions))));
      return page(await Promise.all(judged), majors.length, query);
    },
  });
}

function majorRoute(tools: ParameterTools): Route {
  return route({
    ...COMMON,
    id: 'getActiveParameterFile',
    path: `${SET}/majors/{major}`,
    summary: 'Read the active file of a major version',
    description: 'The highest published stable version of it, else the highest published one.',
    params: InMajor,
    query: OfScope,
    answers: { 200: { description: 'The file with its content', schema: ParameterContentView } },
    async handle({ principal, resource, params, query }) {
      const caller = principal.userId;
      const { scopeTypeId, major } = params;
      const of = await versionsOf(tools, resource, { scopeTypeId, scopeValue: query.scopeValue, caller });
      const group = groupByMajor(of.versions).find((each) => each.major === major);
      const ref = group && activeOf(group);
      if (ref === undefined) throw notFound('The scope has no published version of this major');
      const content = await tools.store.parameters.content(resource.name, ref);
      const file = await show(tools, resource, of, ref);
      return json({ ...file, content: content?.toString('utf8') ?? null });
    },
  });
}
