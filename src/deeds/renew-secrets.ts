/**
 * Proposes change sets that publish parameter files anew: with their secrets encrypted where they stand in the clear, or by the
 * newest key. The drafts and the set are made as for any other set.
 */

import type { ChangeSetRow } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { ownersOf } from '../db/file-owners.ts';
import { SCOPE_TYPES } from '../db/scope-types.ts';
import { MAX_DEEDS, SET_BYTES } from '../domain/change-set.ts';
import { type GrantLevel, reaches } from '../domain/permissions.ts';
import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import type { SecretNames } from '../domain/secrets.ts';
import { type FileOwner, newestVersions, ownedBy } from '../domain/version-choice.ts';
import { compareVersions, followingVersions, type Major, majorOf } from '../domain/version-order.ts';
import { conflict, forbidden, HawserError } from '../lib/errors.ts';
import { type SecretKey, secretKeyMissing } from '../lib/sealed-text.ts';
import { grantedPart, grantedResource } from '../security/authorize.ts';
import type { Caller } from '../security/caller.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { readableResources } from '../security/rights.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { scopesIn, seriesOf } from '../versions/parameter-files.ts';
import { fileBlocker } from '../versions/rollout-rules.ts';
import type { ParameterScope, SeriesIndex, VersionIndex, VersionRef } from '../versions/store.ts';
import type { ChangeOf } from './changes.ts';
import { REFUSALS } from './judge-changes.ts';
import { keyOf, type Named, type Resources } from './named-changes.ts';
import type { ConfigurationOf } from './parameter-checks.ts';
import { MEDIA_TYPES, newContent, type ReadContent } from './parameter-content.ts';
import { proposeSet } from './propose-change-set.ts';
import { Proposing } from './propose-changes.ts';
import { sealContent, secureNamesFor, surveyContent } from './secret-content.ts';
import type { DraftTools } from './set-drafts.ts';

/** `seal` encrypts what stands in the clear, `rekey` what another key than the newest one has encrypted. */
export type Renewal = 'seal' | 'rekey';

const TITLES: Record<Renewal, string> = {
  seal: 'Encrypt secrets that stand in the clear',
  rekey: 'Encrypt secrets by the newest key',
};

/** So many files that are left out are named. */
const NAMED = 10;

/** A file that is to be published anew. */
interface NewestFile {
  configuration: ConfigurationOf;
  scope: ParameterScope;
  index: VersionIndex;
  ref: VersionRef;
  /** The next higher one that some nodes of the same major get; undefined for the highest. */
  above: VersionRef | undefined;
}

type RenewingDeed = ChangeOf<'SetParameters' | 'PublishParameters'>;

/** A file that cannot be published anew as it is. */
interface LeftOut {
  /** Configuration, scope and version. */
  name: string;
  error: HawserError;
}

/**
 * @param configurationName null for all configurations whose parameters the caller may change
 * @returns the row of the new set; null where nothing is left to do
 * @throws HawserError not_found and forbidden for a configuration that is named; conflict `not_possible` where no file that is
 *   left can be published anew; unavailable `secret_key_missing`, `upgrade_incomplete`; as `proposeSet`
 */
export async function proposeRenewal(
  tools: DraftTools,
  caller: Caller,
  renewal: Renewal,
  configurationName: string | null,
): Promise<ChangeSetRow | null> {
  const { read } = tools.database;
  const { principal } = caller;
  const named =
    configurationName === null ? null : await requireConfiguration(read, principal, configurationName);
  const isOfOne = named !== null;
  const renewing = new Renewing(tools, principal, renewal);
  for (const configuration of named ? [named] : await listConfigurations(read, principal))
    if (!renewing.isFull) await renewing.add(configuration, isOfOne);
  const { deeds, leftOut, isFull } = renewing;
  if (deeds.length === 0 && leftOut.length === 0) return null;
  if (deeds.length === 0) throw refusalOf(leftOut);
  const title = named ? `${TITLES[renewal]}: ${named.name}` : TITLES[renewal];
  return proposeSet(tools, caller, { title, description: describe(leftOut, { isFull, isOfOne }), deeds });
}

/** @throws HawserError not_found or forbidden */
async function requireConfiguration(
  db: Db,
  principal: UserPrincipal,
  name: string,
): Promise<ConfigurationOf> {
  await grantedResource(db, principal, 'configuration', 'Read', { name });
  return grantedPart(db, principal, { level: 'Modify', part: 'any' }, { name });
}

async function listConfigurations(db: Db, principal: UserPrincipal): Promise<ConfigurationOf[]> {
  const { configuration: readable } = await readableResources(db, principal);
  const rows = await db
    .selectFrom('configurations')
    .select(['id', 'name'])
    .where('has_parameters', '=', 1)
    .orderBy('name')
    .execute();
  return readable === 'all' ? rows : rows.filter(({ id }) => readable.includes(id));
}

/** The error where nothing can be proposed, though something is left to do. */
function refusalOf(leftOut: readonly LeftOut[]): HawserError {
  const [first] = leftOut.map(({ error }) => error);
  const keyId = first?.data['keyId'];
  if (typeof keyId === 'string' && leftOut.every(({ error }) => error.kind === 'unavailable'))
    return secretKeyMissing(keyId);
  const errors = leftOut
    .slice(0, NAMED)
    .map(({ name, error: { code, message } }) => ({ path: '', message: `${name}: ${message}`, code }));
  const message = `No file that is left can be published anew. ${errors[0]?.message}`;
  return conflict('not_possible', message, { errors });
}

/** What a set does not hold of what is left to do. Whoever reads it may not know of other configurations than that of one deed. */
function describe(
  leftOut: readonly LeftOut[],
  { isFull, isOfOne }: { isFull: boolean; isOfOne: boolean },
): string | null {
  const lines = isFull ? ['The set is full. Propose the next one once it is applied.'] : [];
  const { length } = leftOut;
  if (length > 0 && !isOfOne) {
    const files = length === 1 ? '1 file is' : `${length} files are`;
    lines.push(
      `${files} left out, which cannot be published anew. A set for one configuration names what it leaves out.`,
    );
  }
  if (length > 0 && isOfOne) {
    lines.push('Left out, as they cannot be published anew:');
    for (const { name, error } of leftOut.slice(0, NAMED)) lines.push(`- ${name}: ${error.message}`);
    if (length > NAMED) lines.push(`- and ${length - NAMED} more`);
  }
  return lines.length === 0 ? null : lines.join('\n');
}

/**
 * The files of a configuration that nodes get: of each scope and major the highest that is published and not withdrawn, and below
 * a prerelease the highest for those whose channel does not admit it.
 * @param ownerOf the node whose files those of a scope are: undefined for all of them, null for none
 */
export function newestFiles(
  index: SeriesIndex,
  ownerOf: (scope: ParameterScope) => FileOwner | null | undefined = () => undefined,
): { scope: ParameterScope; refs: VersionRef[] }[] {
  const series = scopesIn(index).map((scope) => ({ scope, name: seriesOf(scope) }));
  series.sort((a, b) => (a.name < b.name ? -1 : 1));
  return series.flatMap(({ scope, name }) => {
    const owner = ownerOf(scope);
    if (owner === null) return [];
    const { published } = index.of(name);
    return [{ scope, refs: newestVersions(owner ? ownedBy(published, owner) : published) }];
  });
}

/** Goes through configurations, and makes the deeds of the set. */
class Renewing {
  readonly deeds: RenewingDeed[] = [];
  readonly leftOut: LeftOut[] = [];
  /** Whether there is more to do than one set may hold. */
  isFull = false;
  private readonly tools: DraftTools;
  private readonly principal: UserPrincipal;
  private readonly renewal: Renewal;
  private readonly resources = new Map<string, Named>();
  private readonly proposing: Proposing;
  /** The bytes of content in the deeds. */
  private size = 0;
  private key: SecretKey | null = null;

  constructor(tools: DraftTools, principal: UserPrincipal, renewal: Renewal) {
    this.tools = tools;
    this.principal = principal;
    this.renewal = renewal;
    const resources: Resources = this.resources;
    this.proposing = new Proposing(tools, { principal, resources, frozen: null });
  }

  /**
   * @param isNamed whether the caller must be allowed to change all of its files; else those that are not are passed over
   * @throws HawserError forbidden; unavailable
   */
  async add(configuration: ConfigurationOf, isNamed: boolean): Promise<void> {
    const { id, name } = configuration;
    const { database, store } = this.tools;
    for (const on of ['configuration', 'parameters'] as const)
      this.resources.set(keyOf(on, name), { on, id, name });
    const index = await this.orLeaveOut(name, () => store.parameters.index(name));
    if (index === null) return;
    const rights = await SeriesRights.of(database.read, this.principal, id);
    const files = newestFiles(index, await ownersIn(database.read, index));
    const granted = files.filter(({ scope }) => isWriter(rights.levelOn(scope)));
    if (isNamed && granted.length < files.length) throw forbidden(EVERY_SCOPE);
    const secure = new Map<Major | null, SecretNames>();
    for (const { scope, refs } of granted)
      for (const [at, ref] of refs.entries()) {
        const above = refs.slice(0, at).findLast(({ version }) => majorOf(version) === majorOf(ref.version));
        await this.addFile({ configuration, scope, index: index.of(seriesOf(scope)), ref, above }, secure);
        if (this.isFull) return;
      }
  }

  private async addFile(file: NewestFile, known: Map<Major | null, SecretNames>): Promise<void> {
    const { configuration, scope, ref } = file;
    const name = `${configuration.name} ${seriesOf(scope)} ${ref.version}`;
    const secure = await this.orLeaveOut(name, () => this.secureNames(file, known));
    const found = secure && (await this.orLeaveOut(name, () => this.look(file, secure)));
    if (!secure || !found) return;
    const { length } = this.renewal === 'seal' ? found.clear : found.keyIds;
    if (length === 0) return;
    this.key ??= await this.tools.secrets.sealingKey();
    const { id } = this.key;
    if (this.renewal === 'rekey' && found.keyIds.every((each) => each === id)) return;
    const deed = await this.orLeaveOut(name, () => this.renew(file, secure));
    if (deed === null) return;
    const size = deed.kind === 'SetParameters' ? Buffer.byteLength(deed.content) : 0;
    this.isFull = this.deeds.length === MAX_DEEDS || (this.deeds.length > 0 && this.size + size > SET_BYTES);
    if (this.isFull) return;
    // It is judged as the set will be, so that one file does not refuse all others.
    const judged = await this.orLeaveOut(name, async () => {
      await this.proposing.take(deed, '');
      return deed;
    });
    if (judged === null) return;
    this.deeds.push(deed);
    this.size += size;
  }

  private async secureNames(
    { configuration: { name }, ref: { version } }: NewestFile,
    known: Map<Major | null, SecretNames>,
  ): Promise<SecretNames> {
    const file = { configurationName: name, version, caller: this.principal.userId };
    const names = known.get(majorOf(version)) ?? (await secureNamesFor(this.tools, file));
    known.set(majorOf(version), names);
    return names;
  }

  /** What the file holds of secrets; null where it skips its scope. */
  private async look({ configuration: { name }, ref }: NewestFile, secure: SecretNames) {
    const { parameters, documents } = this.tools;
    const document = await parameters.source(name, ref);
    return document && documents.run(this.principal.userId, 'judgeSecrets', { document, secure });
  }

  /**
   * The deed that publishes the file anew, as the next version that is free.
   * @throws HawserError why it cannot be published anew
   */
  private async renew(file: NewestFile, secure: SecretNames): Promise<RenewingDeed> {
    const { configuration, scope, index, ref, above } = file;
    const { name: configurationName } = configuration;
    await this.requireOpen(file);
    const content = await this.contentOf(configurationName, ref);
    const { series, version: before } = ref;
    const sealed = { configurationName, series, version: before, caller: this.principal.userId };
    const incoming = await surveyContent(this.tools, sealed, content, secure);
    const named = { configurationName, scopeTypeName: scope.scopeType, scopeValue: scope.value };
    for (const version of followingVersions(before)) {
      if (above && compareVersions(version, above.version) >= 0) break;
      const taken = index.findSame(version);
      if (taken?.status === 'Published') continue;
      const earlier = [taken, index.published[0]].filter((each) => each !== undefined);
      const isRekeyed = this.renewal === 'rekey';
      const { bytes, type } = await sealContent(this.tools, sealed, incoming, earlier, isRekeyed);
      const contentType = MEDIA_TYPES[type];
      if (taken === undefined)
        return { kind: 'SetParameters', ...named, version, content: bytes.toString(), contentType };
      // A set that was not made after all may have left its draft.
      const draft = await this.contentOf(configurationName, taken);
      if (draft.type === type && draft.bytes.equals(bytes))
        return { kind: 'PublishParameters', ...named, version: taken.version };
    }
    const limit = above ? ` below ${above.version}, which other nodes get` : '';
    throw conflict('version_exists', `No version is free${limit}; publish another one by hand`);
  }

  /** @throws HawserError conflict for a file that not all nodes may get, as another version of it would be open to all */
  private async requireOpen({ configuration: { name }, ref }: NewestFile): Promise<void> {
    const { store } = this.tools;
    const running = fileBlocker(await store.versions({ kind: 'configurations', name }));
    if (running) throw running;
    const { rollout } = await store.parameters.details(name, ref);
    if (rollout === null || rollout.record.state === 'Completed') return;
    const message =
      'Its rollout was not completed, so only some nodes get it; publish or roll out a higher version';
    throw conflict('rollout_halted', message);
  }

  private async contentOf(configurationName: string, ref: VersionRef): Promise<ReadContent> {
    const stored = await this.tools.parameters.stored(configurationName, ref);
    const { bytes, type } = stored ?? { bytes: new Uint8Array(), type: 'yaml' as const };
    return newContent(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), type);
  }

  /** @returns null for what cannot be published anew as it is, which is noted */
  private async orLeaveOut<T>(name: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HawserError) || !isOfFile(error)) throw error;
      this.leftOut.push({ name, error });
      return null;
    }
  }
}

const EVERY_SCOPE =
  'This needs Modify on the parameters of every scope; leave the name out for those that you may change';

const isWriter = (level: GrantLevel | null) => level !== null && reaches(level, 'Modify');

/** What is wrong with one file, and says nothing of others. */
function isOfFile({ kind, code }: HawserError): boolean {
  return (
    REFUSALS.has(kind) || ['secret_key_missing', 'repository_damaged', 'repository_missing'].includes(code)
  );
}

/** The node to which the files of a scope belong; null for the name of a node that is gone, whose files nobody gets. */
async function ownersIn(
  db: Db,
  index: SeriesIndex,
): Promise<(scope: ParameterScope) => FileOwner | null | undefined> {
  const type = await SCOPE_TYPES.find(db, NODE_SCOPE_TYPE_ID);
  const scopes = type === undefined ? [] : scopesIn(index, type.name);
  const fqdns = scopes.flatMap(({ value }) => value ?? []);
  const owners = fqdns.length === 0 ? new Map<string, FileOwner>() : await ownersOf(db, fqdns);
  return ({ scopeType, value }) =>
    scopeType === type?.name && value !== null ? (owners.get(value) ?? null) : undefined;
}
