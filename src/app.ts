/** The HTTP application: the order of middleware, and which routes are mounted. */

import Koa from 'koa';
import { activityRoute } from './api/activity/routes.ts';
import { auditRoutes } from './api/audit/routes.ts';
import { loginPageRoutes } from './api/auth/login-routes.ts';
import { authRoutes, tokenRoutes } from './api/auth/routes.ts';
import { authorityRoute } from './api/ca/routes.ts';
import { changeSetRoutes } from './api/change-sets/routes.ts';
import { compositeRoutes } from './api/composite-configurations/routes.ts';
import { configurationRoutes } from './api/configurations/routes.ts';
import type { ConsoleFiles } from './api/console/files.ts';
import { CONSOLE, consoleRoutes } from './api/console/routes.ts';
import type { ClientFiles } from './api/download/files.ts';
import { downloadRoutes } from './api/download/routes.ts';
import { eventRoute } from './api/events/routes.ts';
import { historyRoutes } from './api/fleet/history.ts';
import { fleetReportRoute } from './api/fleet/report-routes.ts';
import { fleetRunningRoute } from './api/fleet/running-route.ts';
import { fleetSummaryRoute } from './api/fleet/summary-route.ts';
import { versionUseRoute } from './api/fleet/version-use-route.ts';
import { Pushes, type PushTools } from './api/git/pushes.ts';
import { gitRoutes } from './api/git/routes.ts';
import { groupRoutes } from './api/groups/routes.ts';
import { healthRoutes } from './api/health/routes.ts';
import { type ManifestTools, manifestRoutes } from './api/manifests/routes.ts';
import { metricsRoutes } from './api/metrics/routes.ts';
import { compareNodesRoutes } from './api/nodes/compare-routes.ts';
import { lcmRoutes } from './api/nodes/lcm-routes.ts';
import { nodeParameterRoutes } from './api/nodes/parameter-routes.ts';
import { nodeHistoryRoute } from './api/nodes/past-routes.ts';
import { rotationRoute } from './api/nodes/rotation-route.ts';
import { nodeRoutes, tagRoutes } from './api/nodes/routes.ts';
import { timelineRoute } from './api/nodes/timeline.ts';
import { openApiRoute } from './api/openapi/routes.ts';
import { parameterRoutes } from './api/parameters/routes.ts';
import { schemaRoutes } from './api/parameters/schema-routes.ts';
import { parameterPermissionRoutes } from './api/permissions/parameter-routes.ts';
import { permissionCatalogueRoute, permissionRoutes } from './api/permissions/routes.ts';
import { previewRoutes } from './api/previews/routes.ts';
import { referenceRoutes } from './api/reference/routes.ts';
import { Joining } from './api/registration-keys/joining.ts';
import { registrationKeyRoutes } from './api/registration-keys/routes.ts';
import { reportRoutes } from './api/reports/routes.ts';
import { retentionRoutes } from './api/retention/routes.ts';
import { roleRoutes } from './api/roles/routes.ts';
import { rolloutRoutes } from './api/rollouts/routes.ts';
import { scopeTypeRoutes } from './api/scope-types/routes.ts';
import { searchRoute } from './api/search/routes.ts';
import { settingsRoutes } from './api/settings/routes.ts';
import { type ProofTools, proofRoutes } from './api/shared/proof-routes.ts';
import { versionNodesRoute } from './api/shared/version-nodes-routes.ts';
import { allSignInRoutes } from './api/sign-in/all.ts';
import { userRoutes } from './api/users/routes.ts';
import { webhookRoutes } from './api/webhooks/routes.ts';
import { BundleCache } from './bundles/bundle-cache.ts';
import type { BundleFiles } from './bundles/bundle-files.ts';
import { BundleDownloads } from './bundles/downloads.ts';
import { LargeFiles } from './bundles/large-files.ts';
import type { Config } from './config.ts';
import { translateDatabaseError } from './db/errors.ts';
import type { RetentionRuns } from './deeds/clean-up.ts';
import type { PreviewRuns } from './deeds/preview-runs.ts';
import type { GitBlame } from './git/blame.ts';
import type { UploadPack } from './git/upload-pack.ts';
import { CallerCheck } from './http/caller-check.ts';
import { Dispatcher } from './http/dispatcher.ts';
import { type Exchange, newState } from './http/exchange.ts';
import { RequestScope } from './http/request-scope.ts';
import type { Route } from './http/route.ts';
import {
  answerUnrouted,
  type Dispatch,
  pollShortCut,
  type RequestHandler,
  routerOf,
} from './http/routing.ts';
import { measuring } from './http/slow-requests.ts';
import type { Clock } from './lib/clock.ts';
import { sha256Hex } from './lib/hash.ts';
import type { Log } from './lib/log.ts';
import type { Threads } from './lib/threads.ts';
import type { EvidenceNotes } from './pull/evidence.ts';
import { pullRoutes } from './pull/routes.ts';
import type { CompareTasks } from './resolve/compare-tasks.ts';
import { Comparer } from './resolve/comparer.ts';
import { CompositeReader } from './resolve/composites.ts';
import { Documents } from './resolve/documents.ts';
import { EntryPoints } from './resolve/entry-points.ts';
import { Explainer } from './resolve/explain.ts';
import { ManifestMaker } from './resolve/manifest-maker.ts';
import { OfferedVersions } from './resolve/offered-versions.ts';
import { NodeOpenness } from './resolve/open-versions.ts';
import { parameterFileLookup } from './resolve/parameter-files-of-scopes.ts';
import { ParameterReader } from './resolve/parameters.ts';
import { Planner } from './resolve/plans.ts';
import { ProblemCounts } from './resolve/problem-counts.ts';
import { registryOf } from './resolve/registry.ts';
import { Resolver } from './resolve/resolver.ts';
import { ringLookup } from './resolve/ring-use.ts';
import { CompatibilityGuard } from './resolve/schema-compatibility.ts';
import { SchemaReader } from './resolve/schemas.ts';
import { placesIn } from './resolve/series-places.ts';
import { ValueOrigins } from './resolve/value-origins.ts';
import type { KeyedCertificate } from './security/certificate-authority.ts';
import { Identifier } from './security/identify.ts';
import type { Providers } from './security/openid/providers.ts';
import type { Stores, Tuning } from './stores.ts';
import type { FleetThreads, ThreadTasks } from './threads/open.ts';

export interface AppOptions extends Stores {
  config: Config;
  uploadPack: UploadPack;
  blame: GitBlame;
  retention: RetentionRuns;
  previews: PreviewRuns;
  authority: KeyedCertificate;
  issuesCertificates: boolean;
  bundleFiles: BundleFiles;
  /** Null where the build has none. */
  consoleFiles: ConsoleFiles | null;
  clientFiles: ClientFiles;
  providers: Providers;
  threads: Threads<ThreadTasks>;
  comparingThreads: Threads<CompareTasks>;
  fleetThreads: FleetThreads;
  clock: Clock;
  log: Log;
  onNodeSeen(nodeId: string, now: number): void;
  evidence: EvidenceNotes;
  tuning?: Tuning | undefined;
}

const GRANT_KINDS = ['configuration', 'composite'] as const;

/** All routes. Those of the poll are apart, because they are looked through first. */
export function allRoutes(options: AppOptions): { pull: Route[]; api: Route[] } {
  const { pull, api } = productionRoutes(options);
  if (options.config.environment === 'production') return { pull, api };
  const all = [...api, ...referenceRoutes()];
  return { pull, api: [...all, openApiRoute([...pull, ...all])] };
}

/** What routes work with. Each is made once for all of them. */
function makeParts(options: AppOptions) {
  const { database, store, locks, log, config, metrics, blame, bundleFiles: files, secrets } = options;
  const { questions } = options.fleetThreads;
  const { onMerged, onResolved, onBundleBuilt } = metrics.work;
  const composites = new CompositeReader(store);
  const documents = new Documents(options.threads, secrets);
  const places = placesIn(database);
  const comparer = new Comparer(options.comparingThreads);
  const parameters = new ParameterReader(store, { documents, places }, onMerged);
  const openness = new NodeOpenness(database, (nodeId) => options.evidence.written(nodeId));
  const entryPoints = new EntryPoints(documents);
  const schemas = new SchemaReader(store, { parameters, documents, entryPoints });
  const planner = new Planner(registryOf(database), store, { composites, parameters, schemas, openness });
  const maker = new ManifestMaker(store, parameters);
  const resolver = new Resolver(database, { planner, maker, onResolved });
  secrets.subscribe(() => resolver.forget());
  const origins = new ValueOrigins(store, { parameters, documents });
  const explainer = new Explainer(database, store, { planner, parameters, schemas, documents, origins });
  const problemCounts = new ProblemCounts(database, { planner, explainer });
  const offeredVersions = new OfferedVersions(store, composites, openness);
  const compatibility = new CompatibilityGuard(schemas, { database, parameters, documents, composites });
  const cache = new BundleCache({ maxBytes: config.cacheBytes / 2, files, onBuilt: onBundleBuilt });
  const bundles = new BundleDownloads(cache);
  const readers = {
    composites,
    schemas,
    compatibility,
    comparer,
    bundles,
    largeFiles: new LargeFiles(files),
    blame,
  };
  metrics.addCaches(() => ({ bundles: cache.facts, bundle_files: files.facts, ...parameters.caches }));
  metrics.addReadings({ manifests: () => resolver.rememberedNodes });
  return {
    ...{
      documents,
      places,
      entryPoints,
      planner,
      maker,
      resolver,
      explainer,
      problemCounts,
      offeredVersions,
      compatibility,
      bundles,
    },
    versionTools: { database, store, locks, log, limits: config.limits, questions, ...readers },
    scopeTools: {
      ...{ database, store, locks, log },
      ...{ hasParameterFiles: parameterFileLookup(store), isRing: ringLookup(store) },
    },
    parameterTools: { database, store, parameters, schemas, documents, locks, secrets },
  };
}

function productionRoutes(options: AppOptions): { pull: Route[]; api: Route[] } {
  const { database, store, log, config, metrics } = options;
  const { fleetThreads } = options;
  const { onSignIn, onRegistration, onGroupCommit } = metrics.work;
  const { versionTools, parameterTools, scopeTools, ...parts } = makeParts(options);
  const { documents, places, entryPoints, planner, resolver, explainer, problemCounts } = parts;
  const { offeredVersions, compatibility, bundles, maker } = parts;
  const { dataDir, ui } = config;
  const { providers } = options;
  const { composites } = versionTools;
  const { schemas } = parameterTools;
  const past = { database, store, composites, maker, schemas, caughtUp: () => options.evidence.caughtUp() };
  const proposing = {
    ...{ ...options, documents, places, entryPoints, hasParameterFiles: scopeTools.hasParameterFiles },
    ...{ runs: options.previews, questions: fleetThreads.questions },
  };
  const auth = { database, dataDir, log, onSignIn, providers, console: ui.isOn ? CONSOLE : null };
  return {
    pull: pullRoutes({ database, resolver, bundles, evidence: options.evidence, store }),
    api: [
      ...healthRoutes(database, store, log),
      ...metricsRoutes({ database, questions: fleetThreads.questions, metrics, dataDir }),
      ...authRoutes(auth),
      ...loginPageRoutes(auth),
      ...allSignInRoutes(auth, config),
      ...tokenRoutes(database),
      ...userRoutes(auth),
      ...registrationKeyRoutes({ ...options, planner }, new Joining(options)),
      ...downloadRoutes(options.clientFiles),
      ...auditRoutes(database),
      eventRoute(options),
      ...webhookRoutes(database),
      ...gitRoutes({
        database,
        store,
        uploadPack: options.uploadPack,
        pushes: openPushes(options, {
          ...{ ...parameterTools, ...versionTools },
          proposing: { ...proposing, ...parameterTools },
        }),
      }),
      ...(config.ui.isOn ? consoleRoutes(options.consoleFiles) : []),
      fleetSummaryRoute({ database, questions: fleetThreads.questions }),
      ...historyRoutes({ database, questions: fleetThreads.questions }),
      ...nodeRoutes({
        ...{ ...options, planner, problemCounts, offeredVersions, onRegistration },
        questions: fleetThreads.questions,
      }),
      rotationRoute(options),
      authorityRoute(options),
      ...lcmRoutes(database),
      timelineRoute(database),
      ...nodeParameterRoutes({ ...past, explainer }),
      ...compareNodesRoutes({ ...past, ...versionTools, ...parameterTools, resolver }),
      ...tagRoutes({ ...options, planner }),
      ...routesOfProof({ ...versionTools, ...past }),
      ...configurationRoutes(versionTools),
      ...compositeRoutes(versionTools),
      ...rolloutRoutes({ ...parameterTools, ...versionTools, questions: fleetThreads.questions }),
      ...GRANT_KINDS.flatMap((kind) => permissionRoutes(database, kind)),
      ...parameterPermissionRoutes(database),
      ...parameterRoutes({ ...parameterTools, ...versionTools }),
      ...schemaRoutes({ ...parameterTools, compatibility }),
      ...scopeTypeRoutes(scopeTools),
      permissionCatalogueRoute(database),
      ...groupRoutes(database),
      ...roleRoutes(database),
      ...reportRoutes({ ...options, onCommit: onGroupCommit }),
      fleetReportRoute(database),
      activityRoute(database),
      searchRoute(database),
      ...settingsRoutes({ ...options, planner }),
      ...retentionRoutes(database, options.retention),
      ...previewRoutes(proposing),
      ...changeSetRoutes({ ...proposing, ...parameterTools }),
    ],
  };
}

function openPushes(
  { uploadPack, config, threads, clock }: AppOptions,
  tools: Omit<PushTools, 'searchPath' | 'push' | 'uploadPack' | 'threads' | 'clock' | 'addressOfSet'>,
): Pushes {
  const { searchPath, push, publicUrl, ui } = config;
  const base = `${publicUrl ?? ''}${ui.isOn ? CONSOLE : '/api/v1/'}`;
  const addressOfSet = (id: number) => `${base}change-sets/${id}`;
  return new Pushes({ ...tools, searchPath, push, uploadPack, threads, clock, addressOfSet });
}

/** Who runs what, and what that was made of. */
function routesOfProof(tools: ProofTools & ManifestTools): Route[] {
  return [
    ...manifestRoutes(tools),
    ...proofRoutes(tools, 'configurations'),
    ...proofRoutes(tools, 'composites'),
    versionUseRoute(tools),
    fleetRunningRoute(tools),
    versionNodesRoute(tools, 'configurations'),
    versionNodesRoute(tools, 'composites'),
    nodeHistoryRoute(tools),
  ];
}

/** The middleware, in the order of a request. */
export function createApp(options: AppOptions): RequestHandler {
  const { pull, api } = allRoutes(options);
  const all = [...pull, ...api];
  const { limits, metricsToken } = options.config;
  const { slowMs, nodeCalls } = options.tuning ?? {};
  const metricsTokenHash = metricsToken && sha256Hex(metricsToken);
  const tokenMaxAge = (provider: string) => options.providers.tokenMaxAge(provider);
  const identifier = new Identifier(options.database, tokenMaxAge);
  const callers = new CallerCheck(options.database, identifier, metricsTokenHash);
  const dispatcher = new Dispatcher({ ...options, limits, nodeCalls, callers }, all);
  const dispatch: Dispatch = (ctx, route) => dispatcher.dispatch(ctx, route);
  const scope = new RequestScope(
    { log: options.log, slowMs, onDatabaseAway: () => options.database.changes.noteFailed() },
    options.metrics.requests,
    translateDatabaseError,
  );
  const app = new Koa();
  app.use((ctx, next) => {
    ctx.state = newState();
    return scope.run(ctx as unknown as Exchange, next);
  });
  // The paths of polls come first, because a router tries every path that it has.
  const isPolled = ({ path }: Route) => pull.some((route) => route.path === path);
  app.use(routerOf(all.filter(isPolled), dispatch));
  app.use(
    routerOf(
      all.filter((route) => !isPolled(route)),
      measuring(dispatch),
    ),
  );
  app.use(answerUnrouted(all));
  app.on('error', (error) => options.log.debug({ err: error }, 'a response could not be sent'));
  const handle = app.callback();
  return pollShortCut(
    pull,
    (ctx, route) => void scope.run(ctx, () => dispatch(ctx, route)),
    (request, response) => void handle(request, response),
  );
}
