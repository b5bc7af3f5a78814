/** The rules for a version of a configuration that is pushed: those of an upload, and of publishing. */

import { readValidationSettings } from '../db/settings.ts';
import { findSigning } from '../db/signing.ts';
import { DEFAULT_ENTRY_POINT } from '../domain/bundle-paths.ts';
import type { Signing } from '../domain/signing.ts';
import { invalidField } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { type Compatibility, NOT_COMPARED } from '../resolve/schema-compatibility.ts';
import { grantedResource } from '../security/authorize.ts';
import { lacksFile } from '../versions/kinds.ts';
import { isDeletion, type PushPlan } from '../versions/push-plan.ts';
import type { JudgedPush } from '../versions/pushed-content.ts';
import type { ConfigurationRow } from '../versions/rows.ts';
import { checkDraft } from '../versions/rules.ts';
import { checkTag, digestOf } from '../versions/signature-checks.ts';
import { SortedVersions } from '../versions/sorted-versions.ts';
import { ONLY_SERIES, type SeriesIndex } from '../versions/types.ts';
import { judgingBy, readEffectiveSettings } from './configuration-settings.ts';
import { findingsInHistory } from './publish-obstacles.ts';
import {
  isToBePublished,
  NOTHING_JUDGED,
  type PushCall,
  type PushDeedTools,
  type PushRules,
  type PushSite,
  type Seen,
  textOfVersions,
  type Verdict,
} from './push-rules.ts';
import { blockerOf } from './required-signatures.ts';

/** What a configuration has beside what all that take pushes have. */
type SeenHere = Seen & { signing: Signing };

export class PushedConfiguration implements PushRules<SeenHere> {
  private readonly tools: PushDeedTools;

  constructor(tools: PushDeedTools) {
    this.tools = tools;
  }

  async look(call: PushCall, plan: PushPlan, row: ConfigurationRow, index: SeriesIndex): Promise<SeenHere> {
    const { read } = this.tools.database;
    const { id } = row;
    if (plan.versions.some(isDeletion))
      await grantedResource(read, call.principal, 'configuration', 'Manage', { id });
    const settings = await readEffectiveSettings(read, id);
    const { pushIdentity } = await readValidationSettings(read);
    const versions = new Map([[ONLY_SERIES, index.of(ONLY_SERIES)]]);
    const signing = await findSigning(read, id);
    const rules = [row.name, row.use_server_managed_parameters, settings, pushIdentity, signing];
    const text = JSON.stringify([rules, textOfVersions(plan, versions)]);
    return { row, settings, pushIdentity, signing, versions, text };
  }

  async judge(site: PushSite<SeenHere>, [push]: readonly JudgedPush[]): Promise<Verdict> {
    if (push === undefined) return NOTHING_JUDGED;
    const { row, settings, versions } = site.seen;
    const { content, plan } = push;
    const index = versions.get(ONLY_SERIES) ?? SortedVersions.EMPTY;
    const entryPoint = await this.entryPointOf(site, push);
    checkDraft({
      version: plan.version,
      entryPoint,
      prereleaseChannel: undefined,
      files: content.files,
      useServerManagedParameters: row.use_server_managed_parameters === 1,
      // A version that is there has its name already.
      requireSemVer: settings.requireSemVer && index.get(plan.version) === undefined,
    });
    const { blockers, findings, report } = await this.judgeDocument(site, push, entryPoint);
    for (const blocker of blockers) throw blocker;
    if (isToBePublished(site.plan, plan)) await this.requireSignature(site, push, entryPoint);
    const told = settings.documentChecks === 'None' ? [] : findings;
    const ofHistory = { commit: push.commit, entryPoint };
    return {
      ...NOTHING_JUDGED,
      versions: [{ push, entryPoint, nodeId: undefined, needsMigration: false }],
      findings: async () => [
        ...(await findingsInHistory(this.tools.store, row.name, index, ofHistory)),
        ...told,
      ],
      report,
    };
  }

  async prepare(): Promise<boolean> {
    return true;
  }

  private async entryPointOf({ plan, seen }: PushSite<SeenHere>, { content }: JudgedPush): Promise<string> {
    const path = plan.entryPoint ?? content.entryPoint ?? (await this.inherited(seen)) ?? DEFAULT_ENTRY_POINT;
    if (content.files.some((file) => file.path === path)) return path;
    const message = `${lacksFile(path)}; another entry point is named by the trailer "Entry-Point: <path>"`;
    throw invalidField('/entryPoint', message, 'entry_point_missing');
  }

  private async inherited({ row: { name }, versions }: Seen): Promise<string | null> {
    const below = versions.get(ONLY_SERIES)?.published[0];
    // The one below is told by the index only for versions that are in it.
    if (below === undefined) return null;
    return (await this.tools.store.details({ kind: 'configurations', name }, below)).entryPoint;
  }

  /** @throws HawserError as `blockerOf` gives, where versions must be signed */
  private async requireSignature(
    { call, seen: { row, signing }, gitdir, objects, fresh }: PushSite<SeenHere>,
    { plan, commit, content: { files } }: JudgedPush,
    entryPoint: string,
  ): Promise<void> {
    if (signing.require === 'Off') return;
    const { name } = row;
    const { version, tag: oid } = plan;
    const hashes = async () => {
      const known = files.filter((file) => !fresh.added.has(file.oid));
      const infos = await this.tools.store.fileInfos({ kind: 'configurations', name }, known);
      const found = new Map(known.map((file, at) => [file.oid, infos[at]?.sha256 ?? '']));
      for (const file of files)
        if (!found.has(file.oid)) found.set(file.oid, sha256Hex((await fresh.read(file.oid)).content));
      return files.map((file) => found.get(file.oid) ?? '');
    };
    const checked = oid && {
      oid,
      time: call.actor.at,
      read: () => objects.readBytes(gitdir, oid, 'tag'),
      expected: async () => ({
        ...{ configurationName: name, version, entryPoint },
        filesSha256: await digestOf(commit, files, hashes),
      }),
    };
    const blocker = blockerOf(signing, checked ? await checkTag(checked, signing) : null);
    if (blocker) throw blocker;
  }

  /** What the entry point is, and what publishing it would change, if it is published. */
  private async judgeDocument(
    { call, plan, seen: { row, settings }, gitdir, objects }: PushSite<SeenHere>,
    { plan: named, content: { files } }: JudgedPush,
    entryPoint: string,
  ): Promise<Compatibility> {
    const { version } = named;
    const oid = files.find(({ path }) => path === entryPoint)?.oid ?? '';
    const load = () => objects.readBytes(gitdir, oid, 'blob');
    const pushed = { version, entryPoint, files, oid, load };
    const judging = judgingBy(row, settings, call.principal.userId);
    if (isToBePublished(plan, named)) return this.tools.compatibility.judgeNew(row.name, pushed, judging);
    return { ...NOT_COMPARED, findings: await this.tools.compatibility.lookAtNew(pushed, judging) };
  }
}
