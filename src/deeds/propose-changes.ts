/**
 * Takes the changes of a preview one by one, each against the stored state with those before it. The rules are those of
 * the deeds themselves. Nothing is written.
 */

import type { Database } from '../db/database.ts';
import type { Assignment } from '../db/node-lookup.ts';
import { requireNodes } from '../db/nodes.ts';
import type { Finding } from '../domain/findings.ts';
import { scopeKey } from '../domain/scopes.ts';
import type { Signing } from '../domain/signing.ts';
import type { Clock } from '../lib/clock.ts';
import { conflict, type HawserError, notFound } from '../lib/errors.ts';
import { CompositeReader } from '../resolve/composites.ts';
import type { Documents } from '../resolve/documents.ts';
import type { EntryPoints } from '../resolve/entry-points.ts';
import { OPEN_TO_ANYONE } from '../resolve/open-versions.ts';
import type { ParameterFileLookup } from '../resolve/parameter-files-of-scopes.ts';
import { ParameterReader } from '../resolve/parameters.ts';
import { Planner } from '../resolve/plans.ts';
import type { Proposal } from '../resolve/proposal.ts';
import {
  type ProposedFile,
  type ProposedOffer,
  ProposedVersions,
  type PublishedDraft,
} from '../resolve/proposed-versions.ts';
import { registryOf } from '../resolve/registry.ts';
import { CompatibilityGuard } from '../resolve/schema-compatibility.ts';
import { SchemaReader } from '../resolve/schemas.ts';
import type { SeriesPlaces } from '../resolve/series-places.ts';
import type { GrantedResource } from '../security/access.ts';
import type { UserPrincipal } from '../security/principal.ts';
import type { SecretStore } from '../security/secrets/secret-store.ts';
import { checkDraft, KINDS } from '../versions/kinds.ts';
import { contentOf, seriesOf } from '../versions/parameter-files.ts';
import { type ConfigurationRow, requireRow } from '../versions/rows.ts';
import { findDraft, type PublishRules, refuseSameVersion } from '../versions/rules.ts';
import type { GitStore, ParameterScope } from '../versions/store.ts';
import { ONLY_SERIES, type VersionIndex } from '../versions/types.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { requireEligible } from './assign.ts';
import { requireManageable } from './change-configuration.ts';
import { wouldChange } from './change-lcm-config.ts';
import { requireScopeOrder, requireSwitchable } from './change-scope-type.ts';
import type { Change, ChangeOf } from './changes.ts';
import { readEffectiveSettings } from './configuration-settings.ts';
import type { FormerState } from './former-state.ts';
import { assignmentOf } from './handing-out.ts';
import { keyOf, type Resources } from './named-changes.ts';
import { type CheckTools, FileChecks } from './parameter-checks.ts';
import { contentTypeNamed, readText } from './parameter-content.ts';
import { ownerOf, requireScopeType, scopeNamed } from './parameter-scopes.ts';
import { ownerIn, proposeRollout, rolloutInTheWay } from './propose-rollout.ts';
import { ProposedTags } from './proposed-tags.ts';
import { judgeDraft as judgeConfiguration } from './publish.ts';
import { judgeDraft as judgeComposite } from './publish-composite.ts';
import { findingsInHistory, requirePublishable } from './publish-obstacles.ts';
import {
  checkFile,
  type FileName,
  judgeContent,
  judgeFile,
  requireFile,
  scopeToPublish,
} from './put-parameters.ts';
import { requireSigned } from './required-signatures.ts';
import { type IncomingContent, sealContent } from './secret-content.ts';
import { requireProtectable } from './set-protection.ts';
import { requireSettable } from './set-signing.ts';

export interface ProposingTools {
  database: Database;
  store: GitStore;
  documents: Documents;
  places: SeriesPlaces;
  secrets: SecretStore;
  entryPoints: EntryPoints;
  hasParameterFiles: ParameterFileLookup;
  clock: Clock;
}

/** Who asks, and what the changes name. */
interface Asked {
  principal: UserPrincipal;
  resources: Resources;
  /** What a freeze that lasts answers; null without one. */
  frozen: HawserError | null;
  /** What was before the set that these changes take back. Default: they take none back. */
  former?: FormerState;
}

/** What is found in a version. One of the two names is null. */
export interface FoundInVersion {
  configurationName: string | null;
  compositeName: string | null;
  version: string;
  findings: readonly Finding[];
}

/** Why a deed would be refused at the moment, although nothing is wrong with it. */
export interface PreviewWarning {
  code: string;
  message: string;
  /** JSON Pointer to the change in the body. */
  path: string;
}

type Resource = Pick<GrantedResource, 'id' | 'name'>;

export class Proposing {
  private readonly tools: ProposingTools;
  private readonly asked: Asked;
  /** What is found in the versions that are published, in the order of the changes. */
  readonly findings: FoundInVersion[] = [];
  /** What is in the way of the deeds at the moment, in the order of the changes. */
  readonly warnings: PreviewWarning[] = [];
  private readonly published: PublishedDraft[] = [];
  private readonly files: ProposedFile[] = [];
  private readonly offers: ProposedOffer[] = [];
  private readonly assignments = new Map<string, Assignment | null>();
  private scopeOrder: readonly string[] | null = null;
  /** Whether the server manages the parameters of configurations, by the ids of those for which it changes. */
  private readonly managed = new Map<string, boolean>();
  /** The ids of nodes whose desired settings change. */
  private readonly reset = new Set<string>();
  private readonly tags: ProposedTags;
  /** Who may sign versions, by the ids of the configurations for which it changes. */
  private readonly signing = new Map<string, Signing>();
  private readonly replacing = new Map<string, boolean>();
  /** The values that files define on the way, as the first of them spells each. The key has no case. */
  private readonly spellings = new Map<string, string>();
  /** The versions after the changes that were taken. */
  private source: VersionSource;
  private planner: Planner | null = null;
  /** What parameter files are checked by, for each configuration as it is after these. */
  private readonly checks = new Map<string, Promise<FileChecks>>();

  constructor(tools: ProposingTools, asked: Asked) {
    this.tools = tools;
    this.asked = asked;
    this.source = tools.store;
    this.tags = new ProposedTags(tools.database.read);
  }

  /** What was taken, as a thread gets it. */
  get proposal(): Proposal {
    const { published, files, offers, assignments, scopeOrder, managed, replacing, reset } = this;
    const tags = this.tags.byNode;
    return { published, files, offers, assignments, tags, scopeOrder, managed, replacing, reset };
  }

  /**
   * @param path of the change in the body
   * @throws HawserError what the deed itself would answer, but for what is in its way only at the moment
   */
  async take(change: Change, path: string): Promise<void> {
    const warn = (obstacle: HawserError | null) => {
      if (obstacle) this.warnings.push({ code: obstacle.code, message: obstacle.message, path });
    };
    warn(this.asked.frozen);
    warn(await rolloutInTheWay(this.source, change, (on, name) => this.resource(on, name).name));
    await this.carryOut(change);
  }

  private async carryOut(change: Change): Promise<void> {
    switch (change.kind) {
      case 'PublishConfiguration':
        return this.publishConfiguration(change);
      case 'PublishComposite':
        return this.publishComposite(change);
      case 'PublishParameters':
        return this.publishParameters(change);
      case 'SetParameters':
        return this.setParameters(change);
      case 'Assign':
        return this.assign(change);
      case 'Unassign':
        return this.unassign(change);
      case 'Tag':
        return this.tags.tag(change);
      case 'Untag':
        return this.tags.untag(change);
      case 'SetTags':
        return this.tags.replace(change);
      case 'Withdraw':
      case 'Restore':
        return this.offer(change);
      case 'WithdrawParameters':
      case 'RestoreParameters':
        return this.offerFile(change);
      case 'ReorderScopeTypes':
        return this.reorder(change);
      case 'EnableScopeType':
      case 'DisableScopeType':
        return this.switchScopeType(change);
      case 'SetLcmConfig':
        return this.setLcmConfig(change);
      case 'SetServerManaged':
        return this.setServerManaged(change);
      case 'SetProtection':
        return void (await requireProtectable(this.tools.database.read, change));
      case 'SetSettings':
        return this.setSettings(change);
      case 'StartRollout':
        return proposeRollout(
          {
            ...{ database: this.tools.database, source: () => this.source },
            take: (part) => this.carryOut(part),
          },
          this.offeredIn(change),
          change,
        );
    }
  }

  private async publishConfiguration({ configurationName, version }: ChangeOf<'PublishConfiguration'>) {
    const { id, name } = this.resource('configuration', configurationName);
    const { database, store } = this.tools;
    const { source } = this;
    const row = await this.rowOf(id);
    const repository = { kind: 'configurations', name } as const;
    const index = await source.versions(repository);
    await requirePublishable(index, version, async (draft) => {
      const { schemas, ...readers } = this.checkTools();
      const composites = new CompositeReader(source);
      const compatibility = new CompatibilityGuard(schemas, { ...readers, database, composites });
      const tools = { ...this.tools, compatibility, signing: this.signing };
      const judged = await judgeConfiguration(tools, row, draft, this.asker);
      const details = await source.details(repository, draft);
      const inHistory = await findingsInHistory(store, name, index, details);
      const findings = [...inHistory, ...judged.findings];
      this.findings.push({ configurationName: name, compositeName: null, version, findings });
      return judged.blockers;
    });
    this.publish({ kind: 'configurations', name, series: ONLY_SERIES, version });
  }

  private get asker() {
    return { principal: this.asked.principal, now: this.tools.clock.now() };
  }

  private async setSettings(change: ChangeOf<'SetSettings'>) {
    await requireSettable(change);
    const { id } = this.resource('configuration', change.configurationName);
    if (change.signing) this.signing.set(id, change.signing);
    if (!change.variables) return;
    this.replacing.set(id, change.variables === 'On');
    this.checks.delete(id);
    this.planner = null;
  }

  private async publishComposite({ compositeName, version }: ChangeOf<'PublishComposite'>) {
    const { name } = this.resource('composite', compositeName);
    const store = this.source;
    const tools = { ...this.checkTools(), store, composites: new CompositeReader(store) };
    const index = await store.versions({ kind: 'composites', name });
    await requirePublishable(index, version, async (draft) => {
      const judged = await judgeComposite(tools, name, draft, this.asked.principal);
      this.findings.push({
        configurationName: null,
        compositeName: name,
        version,
        findings: judged.findings,
      });
      return judged.blockers;
    });
    this.publish({ kind: 'composites', name, series: ONLY_SERIES, version });
  }

  private async publishParameters(change: ChangeOf<'PublishParameters'>) {
    const { configurationName, scopeTypeName, scopeValue, version } = change;
    const resource = this.resource('parameters', configurationName);
    const tools = this.checkTools();
    const { type, scope } = await scopeToPublish(tools, { type: { name: scopeTypeName }, scopeValue });
    const series = seriesOf(this.spelled(scope));
    const index = (await this.source.parameters.index(resource.name)).of(series);
    const target = { resource, principal: this.asked.principal, checks: await this.checksOf(resource) };
    const rules: PublishRules = async (draft) => (await judgeFile(tools, target, draft)).blockers;
    await requirePublishable(index, version, rules, 'The scope has no such version');
    const nodeId = await ownerOf(tools.database.read, type, scope);
    this.publish({ kind: 'parameters', name: resource.name, series, version, nodeId });
  }

  /** It is refused as PUT of the file is, and then as the publishing of that draft is. */
  private async setParameters(change: ChangeOf<'SetParameters'>) {
    const { configurationName, scopeTypeName, scopeValue, version } = change;
    const { principal } = this.asked;
    const resource = this.resource('parameters', configurationName);
    const reader = { documents: this.tools.documents, caller: principal.userId };
    const contentType = contentTypeNamed(change.contentType ?? '') ?? 'yaml';
    const content = await readText(reader, change.content, contentType);
    const asked = { type: { name: scopeTypeName }, scopeValue, version, status: 'Draft' } as const;
    const target = {
      resource,
      principal,
      checks: await this.checksOf(resource),
      admit: (found: IncomingContent) => this.requireMaySet(resource, asked, found),
    };
    const tools = this.checkTools();
    const { type, wanted, incoming } = await checkFile(tools, target, asked, content);
    const series = seriesOf(this.spelled(wanted.scope));
    const index = (await this.source.parameters.index(resource.name)).of(series);
    if (!findDraft(index, version)) {
      await checkDraft(KINDS.parameters, { series, version, status: 'Draft' }, contentOf(series, content));
      refuseSameVersion(index, version);
    }
    const file = { configurationName: resource.name, series, version, caller: principal.userId };
    const earlier = [findDraft(index, version), index.published[0]].filter((ref) => ref !== undefined);
    const sealed = incoming ? await sealContent(tools, file, incoming, earlier) : content;
    const place = await tools.parameters.placeOf(resource.name, series);
    const document = tools.parameters.opened(sealed.document, place);
    const [blocker] = (await judgeContent(tools, target, version, document)).blockers;
    if (blocker !== undefined) throw blocker;
    const bytes = new Uint8Array(sealed.bytes);
    const nodeId = await ownerOf(this.tools.database.read, type, wanted.scope);
    this.files.push({
      ...{ configurationName: resource.name, series, version, nodeId },
      content: { type: contentType, bytes },
    });
    this.renew();
  }

  /** Whoever may set a value can test a guess of another one by the answers, and whoever may read cannot. */
  private async requireMaySet(
    resource: Resource,
    file: Omit<FileName, 'version'>,
    { survey }: IncomingContent,
  ): Promise<void> {
    if (survey.clear.length === 0) return;
    await requireFile(this.tools, { resource, principal: this.asked.principal }, file, 'Modify');
  }

  private async assign(change: ChangeOf<'Assign'>) {
    const kind = change.isComposite ? 'composite' : 'configuration';
    const assignment = assignmentOf(change, this.resource(kind, change.configurationName).id);
    await requireNodes(this.tools.database.read, change.nodeIds);
    if (!this.asked.former?.wasAssigned(change)) await requireEligible(this.eligibility(), assignment);
    for (const nodeId of change.nodeIds) this.assignments.set(nodeId, assignment);
  }

  /** It stays for the assignments that follow each other, as making one takes long. */
  private eligibility(): Planner {
    const { parameters, schemas } = this.checkTools();
    this.planner ??= new Planner(registryOf(this.tools.database), this.source, {
      ...{ composites: new CompositeReader(this.source), parameters, schemas },
      openness: { of: () => OPEN_TO_ANYONE },
    });
    return this.planner;
  }

  private async unassign({ nodeIds }: ChangeOf<'Unassign'>) {
    await requireNodes(this.tools.database.read, nodeIds);
    for (const nodeId of nodeIds) this.assignments.set(nodeId, null);
  }

  private async offer(change: ChangeOf<'Withdraw' | 'Restore'>) {
    const { version } = change;
    const repository = this.offeredIn(change);
    const index = await this.source.versions(repository);
    const ref = index.get(version);
    if (change.kind === 'Restore' && repository.kind === 'configurations' && ref?.withdrawn) {
      const resource = this.resource('configuration', repository.name);
      const tools = { ...this.tools, signing: this.signing };
      await requireSigned(tools, { resource, ref, now: this.asker.now });
    }
    this.setOffered(index, {
      ...repository,
      ...{ series: ONLY_SERIES, version, isOffered: change.kind === 'Restore' },
    });
  }

  /** As the deeds on the file do it, of a scope type that is switched off too. */
  private async offerFile(change: ChangeOf<'WithdrawParameters' | 'RestoreParameters'>) {
    const { configurationName, scopeTypeName, scopeValue, version } = change;
    const { read } = this.tools.database;
    const { name } = this.resource('parameters', configurationName);
    const type = await requireScopeType(read, { name: scopeTypeName });
    const series = seriesOf(this.spelled(await scopeNamed(read, type, scopeValue)));
    const index = (await this.source.parameters.index(name)).of(series);
    const isOffered = change.kind === 'RestoreParameters';
    this.setOffered(index, { kind: 'parameters', name, series, version, isOffered });
  }

  /** Withdrawing what is withdrawn changes nothing. */
  private setOffered(index: VersionIndex, offer: ProposedOffer): void {
    const ref = index.get(offer.version);
    if (ref === undefined) throw notFound('No such version');
    if (offer.isOffered && ref.withdrawn === null) throw notFound('There is no such withdrawn version');
    if (!offer.isOffered && ref.status !== 'Published')
      throw conflict('not_published', 'The version is a draft');
    this.offers.push(offer);
    if (offer.kind !== 'parameters') this.checks.clear();
    this.renew();
  }

  /** The repository of the version that is withdrawn, offered again or rolled out. */
  private offeredIn(change: ChangeOf<'Withdraw' | 'Restore' | 'StartRollout'>) {
    return ownerIn(change, (on, name) => this.resource(on, name).name);
  }

  private async reorder({ scopeTypeIds }: ChangeOf<'ReorderScopeTypes'>) {
    await requireScopeOrder(this.tools.database.read, scopeTypeIds);
    this.scopeOrder = scopeTypeIds;
  }

  /** A type that may be switched off has no published files, so no node gets anything else. */
  private async switchScopeType({ kind, scopeTypeId }: ChangeOf<'EnableScopeType' | 'DisableScopeType'>) {
    await requireSwitchable(this.tools, scopeTypeId, kind === 'EnableScopeType');
  }

  private async setLcmConfig({ nodeIds, ...settings }: ChangeOf<'SetLcmConfig'>) {
    const { read } = this.tools.database;
    await requireNodes(read, nodeIds);
    for (const nodeId of nodeIds)
      if (await wouldChange(read, nodeId, settings)) this.reset.add(nodeId);
      else this.reset.delete(nodeId);
  }

  private async setServerManaged(change: ChangeOf<'SetServerManaged'>) {
    const { useServerManagedParameters: isManaged } = change;
    const { id, name } = this.resource('configuration', change.configurationName);
    const row = await this.rowOf(id);
    if (isManaged !== (row.use_server_managed_parameters === 1))
      await requireManageable(this.source, name, isManaged);
    this.managed.set(id, isManaged);
  }

  /** The row of a configuration after the changes that were taken. */
  private async rowOf(id: string): Promise<ConfigurationRow> {
    const row = await requireRow(this.tools.database.read, 'configurations', id);
    const isManaged = this.managed.get(id);
    return isManaged === undefined ? row : { ...row, use_server_managed_parameters: Number(isManaged) };
  }

  private publish(draft: PublishedDraft): void {
    this.published.push(draft);
    // Another version of a configuration may bring another schema.
    if (draft.kind !== 'parameters') this.checks.clear();
    this.renew();
  }

  private renew(): void {
    this.planner = null;
    this.source = new ProposedVersions(this.tools.store, {
      published: [...this.published],
      files: [...this.files],
      offers: [...this.offers],
    });
  }

  private resource(on: Parameters<typeof keyOf>[0], name: string): Resource {
    const resource = this.asked.resources.get(keyOf(on, name));
    if (resource === undefined) throw new Error('a change names what was not looked for');
    return resource;
  }

  /** The scope, with a value that an earlier change defines spelled as there. */
  private spelled({ scopeType, value }: ParameterScope): ParameterScope {
    if (value === null) return { scopeType, value };
    const key = `${scopeType} ${scopeKey(value)}`;
    const spelling = this.spellings.get(key) ?? value;
    this.spellings.set(key, spelling);
    return { scopeType, value: spelling };
  }

  private checksOf(resource: Resource): Promise<FileChecks> {
    const checks = this.checks.get(resource.id) ?? this.newChecks(resource);
    this.checks.set(resource.id, checks);
    return checks;
  }

  private async newChecks(resource: Resource): Promise<FileChecks> {
    const { database } = this.tools;
    const { parameterValidationMode: mode, ...settings } = await readEffectiveSettings(
      database.read,
      resource.id,
    );
    const isReplacing = this.replacing.get(resource.id) ?? settings.variables === 'On';
    const given = {
      mode,
      variables: isReplacing ? 'On' : 'Off',
      caller: this.asked.principal.userId,
    } as const;
    return FileChecks.by(this.checkTools(), resource, given);
  }

  private checkTools(): CheckTools {
    const { database, documents, entryPoints } = this.tools;
    const parameters = this.parameterReader();
    const schemas = new SchemaReader(this.source, { parameters, documents, entryPoints });
    return { database, documents, parameters, schemas, secrets: this.tools.secrets };
  }

  private parameterReader(): ParameterReader {
    return new ParameterReader(this.source, this.tools);
  }
}
