/** The rules for parameter files that are pushed: those of a PUT of each, and of publishing. */

import type { Database } from '../db/database.ts';
import { listScopeTypes, type ScopeTypeRow } from '../db/scope-types.ts';
import { readValidationSettings } from '../db/settings.ts';
import { reaches } from '../domain/permissions.ts';
import { showText } from '../domain/safe-path.ts';
import type { SecretNames } from '../domain/secrets.ts';
import { majorOf } from '../domain/version-order.ts';
import { forbidden, internal, invalid, notFound, overLimit, tooLarge } from '../lib/errors.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { paced } from '../lib/pace.ts';
import { secretsIn } from '../resolve/secret-names.ts';
import type { GrantedResource } from '../security/access.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { KINDS, labelOf, SCHEMA_SERIES } from '../versions/kinds.ts';
import { scopeOf, scopesIn } from '../versions/parameter-files.ts';
import { blamingLater, isDeletion, ofRef, type PushedVersion, type PushPlan } from '../versions/push-plan.ts';
import { type FormerFile, formerFiles, type JudgedPush } from '../versions/pushed-content.ts';
import type { ConfigurationRow } from '../versions/rows.ts';
import { oidsOf } from '../versions/sorted-versions.ts';
import type { SeriesIndex } from '../versions/types.ts';
import { readEffectiveSettings } from './configuration-settings.ts';
import { FileChecks } from './parameter-checks.ts';
import { MAX_FILE_BYTES, type ReadContent, readFile } from './parameter-content.ts';
import { defineValues, KnownScopes, switchedOff, type WantedScope } from './parameter-scopes.ts';
import {
  isPublishing,
  isToBePublished,
  type JudgedVersion,
  NOTHING_JUDGED,
  type PushCall,
  type PushDeedTools,
  type PushRules,
  type PushSite,
  type Seen,
  textOfVersions,
  type Verdict,
} from './push-rules.ts';
import { checkContent, schemaBlocker } from './put-parameters.ts';
import { type IncomingContent, secretInClear, secureNamesFor } from './secret-content.ts';

/** A scope that a push names. */
interface PushedScope {
  type: ScopeTypeRow;
  /** Null where only drafts of it go. */
  wanted: WantedScope | null;
  nodeId: string | undefined;
}

interface SeenFiles extends Seen {
  scopes: ReadonlyMap<string, PushedScope>;
}

type Site = PushSite<SeenFiles>;

/** Files that are judged at once, each in a thread. */
const CONCURRENT = 4;

/**
 * A clone has the files of all scopes.
 * @throws HawserError not_found, forbidden `partial_read`
 */
export async function requireAllScopes(
  { read }: Pick<Database, 'read'>,
  principal: UserPrincipal,
  { id }: Pick<GrantedResource, 'id'>,
  index: SeriesIndex,
): Promise<SeriesRights> {
  const scopes = scopesIn(index);
  const rights = await SeriesRights.of(read, principal, id);
  const readable = scopes.filter((scope) => rights.mayRead(scope));
  if (readable.length === scopes.length) return rights;
  if (readable.length === 0) throw notFound('No configuration of this name');
  throw forbidden(
    'The repository has files of scopes that you may not read: read the others by the API, ' +
      'GET /api/v1/configurations/{name}/parameter-files',
    'partial_read',
  );
}

export class PushedFiles implements PushRules<SeenFiles> {
  private readonly tools: PushDeedTools;

  constructor(tools: PushDeedTools) {
    this.tools = tools;
  }

  async look(call: PushCall, plan: PushPlan, row: ConfigurationRow, index: SeriesIndex): Promise<SeenFiles> {
    const { database, store } = this.tools;
    const { read } = database;
    const named = new Set(plan.versions.map(({ series }) => series));
    const versions = new Map([...named].map((series) => [series, index.of(series)]));
    const schemas = index.of(SCHEMA_SERIES);
    const configuration = await store.versions({ kind: 'configurations', name: row.name });
    const rights = await requireAllScopes(database, call.principal, row, index);
    for await (const one of paced(plan.versions))
      await blamingLater(one.ref, async () => requireRight(rights, one));
    const settings = await readEffectiveSettings(read, row.id);
    const { pushIdentity } = await readValidationSettings(read);
    const scopes = await this.scopesOf(plan);
    const text = JSON.stringify([
      [row.name, settings, pushIdentity],
      textOfVersions(plan, versions),
      // What the schemas come from: versions, drafts too, and uploads.
      [oidsOf(configuration), oidsOf(schemas)],
      [...scopes].map(([series, { type, wanted, nodeId }]) => [series, type.id, wanted, nodeId]),
      this.tools.documents.keys.generation,
    ]);
    return { row, settings, pushIdentity, versions, scopes, text };
  }

  async judge(site: Site, pushes: readonly JudgedPush[]): Promise<Verdict> {
    const versions: JudgedVersion[] = [];
    const keyIds = new Set<string>();
    const { seen, call } = site;
    const { parameterValidationMode: mode, variables } = seen.settings;
    const resource = { ...call.resource, name: seen.row.name };
    const checks = FileChecks.by(this.tools, resource, { mode, variables, caller: call.principal.userId });
    await forEachOf([...pushes.entries()], CONCURRENT, async ([at, push]) => {
      const { judged, incoming } = await blamingLater(push.plan.ref, () =>
        this.judgeFile(site, checks, push),
      );
      versions[at] = judged;
      for (const id of incoming?.survey.keyIds ?? []) keyIds.add(id);
    });
    await this.judgeHistory(site, pushes);
    return { ...NOTHING_JUDGED, versions, keyIds };
  }

  /** A value does no harm without a file, but a file without its value is shown to nobody. */
  async prepare({ actor }: PushCall, { scopes }: SeenFiles, { keyIds }: Verdict): Promise<boolean> {
    await this.tools.secrets.noteUse(keyIds);
    const all = [...scopes.values()].flatMap(({ type, wanted }) => (wanted ? [{ type, wanted }] : []));
    const defined = await defineValues(this.tools.database, actor, all);
    return all.every(({ wanted: { scope } }, at) => defined[at]?.value === scope.value);
  }

  private async scopesOf({ versions }: PushPlan): Promise<Map<string, PushedScope>> {
    const { read } = this.tools.database;
    const types = new Map((await listScopeTypes(read)).map((type) => [type.name, type]));
    const named = new Map(versions.map(({ series }) => [series, scopeOf(series)]));
    const given = [...named.values()].flatMap(({ scopeType, value }) => {
      const type = types.get(scopeType);
      return type ? [{ type, value }] : [];
    });
    const known = await KnownScopes.of(read, given);
    const scopes = new Map<string, PushedScope>();
    for await (const one of paced(versions)) {
      const { series } = one;
      const before = scopes.get(series);
      if (before?.wanted || (before && isDeletion(one))) continue;
      scopes.set(series, await blamingLater(one.ref, async () => pushedScope(types, known, one)));
    }
    refuseSpellings(versions, scopes);
    return scopes;
  }

  /** @throws HawserError as PUT and publishing; conflict `secret_in_clear` */
  private async judgeFile(
    site: Site,
    checks: FileChecks,
    push: JudgedPush,
  ): Promise<{ judged: JudgedVersion; incoming: IncomingContent | null }> {
    const { call, plan, seen } = site;
    const { series, version } = push.plan;
    const { type, wanted, nodeId } = seen.scopes.get(series) ?? {};
    if (!type || !wanted)
      throw internal('internal_error', 'A push was judged by scopes that it does not name');
    const isPublished = isToBePublished(plan, push.plan);
    const resource = { ...call.resource, name: seen.row.name };
    const admit = async ({ survey: { clear } }: IncomingContent) => {
      if (clear.length > 0) throw secretInClear(clear);
    };
    const target = { resource, principal: call.principal, admit, checks };
    const status = isPublished ? 'Published' : 'Draft';
    const content = await this.contentOf(site, push);
    // What publishing asks of secrets has been asked then: none is in the clear, and all open.
    const { incoming, needsMigration } = await checkContent(
      this.tools,
      target,
      { type, wanted, version, status },
      content,
    );
    const blocker = isPublished ? await schemaBlocker(checks, version) : null;
    if (blocker) throw blocker;
    const owner = isPublishing(plan, push.plan) ? nodeId : undefined;
    return { judged: { push, entryPoint: null, nodeId: owner, needsMigration }, incoming };
  }

  private async contentOf(
    { call, gitdir, objects, fresh }: Site,
    { content: { files } }: JudgedPush,
  ): Promise<ReadContent | null> {
    const [file] = files;
    if (file === undefined) return null;
    requireSize(fresh.added.get(file.oid)?.size ?? 0);
    const content = await objects.readBytes(gitdir, file.oid, 'blob');
    requireSize(content.byteLength);
    const reader = { documents: this.tools.documents, caller: call.principal.userId };
    const part = { filename: file.path, mediaType: null, content };
    return readFile(reader, file.path, part, 'findAmbiguous');
  }

  /**
   * Nobody may clone a secret in the clear, whichever commit has it.
   * @throws HawserError conflict `secret_in_clear`; invalid for a file that cannot be read where there are secrets
   */
  private async judgeHistory(site: Site, pushes: readonly JudgedPush[]): Promise<void> {
    const judged = new Set(pushes.flatMap(({ content: { files } }) => files.map(({ oid }) => oid)));
    const known = new Map<string, Promise<SecretNames>>();
    const secureOf = (path: string) => {
      const versions = pushes.filter(({ plan: { series } }) =>
        KINDS.parameters.paths(series)?.includes(path),
      );
      const of = versions.length > 0 ? versions : pushes;
      const key = versions.length > 0 ? path : '';
      const names = known.get(key) ?? this.secureIn(site, of, versions.length === 0);
      known.set(key, names);
      return names;
    };
    for await (const file of formerFiles(site, judged)) {
      const secure = await secureOf(file.path);
      if (secure === 'all' || secure.size > 0) await this.judgeFormer(site, pushes[0], { ...file, secure });
    }
  }

  /** The secure parameters of any of these versions; for a file of no version that is pushed, of any at all. */
  private async secureIn(
    { call, seen }: Site,
    pushes: readonly JudgedPush[],
    isOfAny: boolean,
  ): Promise<SecretNames> {
    const [configurationName, caller] = [seen.row.name, call.principal.userId];
    const majors = new Map(pushes.map(({ plan: { version } }) => [majorOf(version), version]));
    const names = new Set<string>();
    const add = (some: SecretNames) => {
      if (some !== 'all') for (const name of some) names.add(name);
      return some === 'all';
    };
    for (const version of majors.values())
      if (add(await secureNamesFor(this.tools, { configurationName, version, caller }))) return 'all';
    const declared = isOfAny ? await this.tools.schemas.declaredByAny(configurationName, caller) : [];
    return add(secretsIn(declared)) ? 'all' : names;
  }

  private async judgeFormer(
    { call, seen, fresh }: Site,
    push: JudgedPush | undefined,
    { path, oid, secure }: FormerFile & { secure: SecretNames },
  ): Promise<void> {
    requireSize(fresh.added.get(oid)?.size ?? 0);
    const caller = call.principal.userId;
    const reader = { documents: this.tools.documents, caller };
    const { content } = await fresh.read(oid);
    const part = { filename: path, mediaType: null, content };
    const { document } = await readFile(reader, path, part, 'findAmbiguous');
    const place = await this.tools.parameters.placeOf(seen.row.name, push?.plan.series ?? '');
    const { clear } = await this.tools.documents.run(caller, 'surveySecrets', { document, place, secure });
    if (clear.length > 0) throw secretInClear(clear, showText(path));
  }
}

function pushedScope(
  types: ReadonlyMap<string, ScopeTypeRow>,
  known: KnownScopes,
  one: PushedVersion,
): PushedScope {
  const scope = scopeOf(one.series);
  const type = types.get(scope.scopeType);
  if (type === undefined) throw invalid('unknown_ref', `There is no scope type "${scope.scopeType}"`);
  if (isDeletion(one)) return { type, wanted: null, nodeId: undefined };
  const blocker = switchedOff(type);
  if (blocker) throw blocker;
  const wanted = known.toWrite({ type, value: scope.value });
  if (wanted.scope.value !== scope.value) throw otherSpelling(wanted.scope.value);
  return { type, wanted, nodeId: known.ownerOf(type, scope) };
}

/** @throws HawserError forbidden, also for a scope of which nothing may be known */
function requireRight(rights: SeriesRights, one: PushedVersion): void {
  const needed = isDeletion(one) ? 'Manage' : 'Modify';
  const level = rights.levelOn(scopeOf(one.series));
  if (level === null || !reaches(level, needed))
    throw forbidden(`${labelOf(one.series, one.version)} needs ${needed} on the parameters of this scope`);
}

/** Two spellings of a value that does not exist yet would be one. */
function refuseSpellings(versions: readonly PushedVersion[], scopes: ReadonlyMap<string, PushedScope>): void {
  const spelled = new Map<string, string>();
  for (const { series, ref } of versions) {
    const other = spelled.get(series.toLowerCase()) ?? series;
    spelled.set(series.toLowerCase(), other);
    if (other !== series && scopes.has(series)) throw ofRef(ref, otherSpelling(scopeOf(other).value));
  }
}

function otherSpelling(value: string | null): Error {
  const message = `The value is spelled "${showText(value ?? '')}"`;
  return invalid('unknown_scope_value', message, [
    { path: '/scopeValue', message, code: 'unknown_scope_value' },
  ]);
}

function requireSize(bytes: number): void {
  if (bytes > MAX_FILE_BYTES) throw tooLarge(`A parameter file is ${overLimit(MAX_FILE_BYTES)}`);
}
