/** `/api/v1/configurations/{name}/parameter-files`: every file that any scope has for a configuration. */

import type { Page, PageQuery } from '../../db/rows.ts';
import { listScopeTypes, type ScopeTypeRow } from '../../db/scope-types.ts';
import { FileChecks, type ParameterTools } from '../../deeds/parameter-checks.ts';
import { scopeKey } from '../../domain/scopes.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { limitLoads } from '../../lib/load-limit.ts';
import { Pace } from '../../lib/pace.ts';
import { sortInSteps } from '../../lib/paced-sort.ts';
import { type OfferedFiles, readOfferedFiles } from '../../resolve/offered-files.ts';
import { SeriesRights } from '../../security/series-rights.ts';
import { scopeOf, seriesOf } from '../../versions/parameter-files.ts';
import type { ParameterScope, SeriesIndex, VersionRef } from '../../versions/store.ts';
import { grantedRoutes } from '../shared/versioned.ts';
import { toParameterFile } from './reading-routes.ts';
import { PageOfFiles, ParameterFileView } from './schemas.ts';

const TAGS = ['Parameters'];

/** A scope that has files, with its type. */
interface TypedScope {
  type: ScopeTypeRow;
  scope: ParameterScope;
}

type FoundFile = TypedScope & { ref: VersionRef };

interface Filter {
  scopeTypeName?: string | undefined;
  scopeValue?: string | undefined;
  status?: VersionRef['status'] | undefined;
  ofDeletedNode?: boolean | undefined;
}

export function fileListRoute(tools: ParameterTools): Route {
  const { database, store } = tools;
  const loads = limitLoads();
  const { reading } = grantedRoutes(database, TAGS, { on: 'parameters', part: 'any' });
  return reading.list('/api/v1/configurations/{name}/parameter-files', {
    id: 'listParameterFiles',
    summary: 'List the parameter files of all scopes of a configuration',
    description:
      'By the precedence of the scope type, the weakest first, then by value, then the highest version first. Files ' +
      'of scope types that are switched off are listed too; those of scope types that no longer exist are not. A file of ' +
      'scope Node belongs to one node: where that was deleted, it is offered to nobody, not to a node of its name either.',
    query: PageOfFiles,
    answer: { description: 'Drafts and published versions', schema: ParameterFileView },
    problems: READING_REPOSITORIES,
    async rows({ principal, resource, query }) {
      const index = await store.parameters.index(resource.name);
      const types = await listScopeTypes(database.read);
      const rights = await SeriesRights.of(database.read, principal, resource.id);
      const found = await typedScopes(index, types, query);
      const scopes = await sortInSteps(
        found.filter(({ scope }) => rights.mayRead(scope)),
        byPrecedence,
      );
      const offered = await readOfferedFiles(
        database.read,
        query.ofDeletedNode === undefined ? [] : scopes.map(({ scope }) => scope),
      );
      const { rows, total } = await pageOfFiles(index, scopes, { ...query, offered });
      const checks = await FileChecks.of(tools, resource, principal.userId);
      const files = rows.map(({ ref, ...of }) =>
        loads(async () => {
          const details = await store.parameters.details(resource.name, ref);
          const needsMigration = await checks.needsMigration(ref);
          return toParameterFile(resource.id, { ...of, details, needsMigration });
        }),
      );
      return { rows: await Promise.all(files), total };
    },
    show: (file) => file,
  });
}

/** The scopes that have files and pass the filter. Letters that differ in case only are the same, as everywhere. */
async function typedScopes(
  index: SeriesIndex,
  types: readonly ScopeTypeRow[],
  { scopeTypeName, scopeValue }: Filter,
): Promise<TypedScope[]> {
  const pace = new Pace();
  // The series of uploaded schemas is that of no scope type, because its name is reserved.
  const byName = new Map(types.map((type) => [type.name, type]));
  const found: TypedScope[] = [];
  for (const series of index.series) {
    if (pace.isDue) await pace.rest();
    const scope = scopeOf(series);
    const type = byName.get(scope.scopeType);
    if (type !== undefined && isMeant(scopeTypeName, type.name) && isMeant(scopeValue, scope.value))
      found.push({ type, scope });
  }
  return found;
}

function isMeant(given: string | undefined, text: string | null): boolean {
  return given === undefined || (text !== null && scopeKey(given) === scopeKey(text));
}

function byPrecedence(a: TypedScope, b: TypedScope): number {
  if (a.type !== b.type) return a.type.precedence - b.type.precedence;
  const [one, other] = [a.scope.value ?? '', b.scope.value ?? ''];
  return one < other ? -1 : Number(one > other);
}

/** Takes the page from the index alone, so that only the files of the page are read. */
async function pageOfFiles(
  index: SeriesIndex,
  scopes: readonly TypedScope[],
  { status, ofDeletedNode, offered, take, skip }: Filter & PageQuery & { offered: OfferedFiles },
): Promise<Page<FoundFile>> {
  const pace = new Pace();
  const rows: FoundFile[] = [];
  let total = 0;
  for (const of of scopes) {
    if (pace.isDue) await pace.rest();
    const { versions, published } = index.of(seriesOf(of.scope));
    const live = ofDeletedNode === undefined ? null : new Set(offered(of.scope, published));
    const meant = versions.filter(
      (ref) =>
        (status === undefined || ref.status === status) &&
        (live === null || (ref.status === 'Published' && !live.has(ref)) === ofDeletedNode),
    );
    const from = Math.max(0, skip - total);
    for (const ref of meant.slice(from, from + take - rows.length)) rows.push({ ...of, ref });
    total += meant.length;
  }
  return { rows, total };
}
