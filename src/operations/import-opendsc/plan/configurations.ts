/** Configurations and their versions. */

import { NewConfiguration } from '../../../api/configurations/schemas.ts';
import { UploadTree } from '../../../domain/upload-tree.ts';
import { isVersion, isVersionName } from '../../../domain/version-order.ts';
import { overLimit, tooLarge } from '../../../lib/errors.ts';
import { checkDraft, versionExists } from '../../../versions/rules.ts';
import type { HereVersion } from '../here.ts';
import type { SourceConfiguration, SourceVersion } from '../source/site.ts';
import { KnownVersions } from './known-versions.ts';
import { Clash, here, LeftOut, made, type Plan, requireFreeId, requireSame, type Standing } from './plan.ts';
import { requiresSemVer } from './settings.ts';

export function planConfigurations(plan: Plan): void {
  const { site, here: own } = plan.input;
  plan.judge('configurations', site.configurations, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    judge: (configuration) => judgeConfiguration(plan, configuration),
  });
  for (const { name, versions } of own.configurations)
    plan.versions.set(name, new KnownVersions(versions.values()));
}

function judgeConfiguration(plan: Plan, configuration: SourceConfiguration) {
  const { here: own, now } = plan.input;
  const { id, name, description, useServerManagedParameters, createdAt } = configuration;
  NewConfiguration.pick({ name: true, description: true }).parse({ name, description: description ?? '' });
  const key = name.toLowerCase();
  plan.once('configurations', key);
  const row = own.configurations.find((each) => each.name.toLowerCase() === key);
  if (row !== undefined) {
    requireSame(row, { name, description, useServerManagedParameters });
    return here({ id: row.id, name });
  }
  requireFreeId(id, own.configurations, (each) => each.name);
  const settings = { description, useServerManagedParameters, entryPoint: null };
  const resource = { kind: 'configurations', id, name, ...settings, draft: null } as const;
  return made({ do: 'createResource', resource, madeAt: createdAt ?? now }, { id, name });
}

export function planVersions(plan: Plan): void {
  const { site } = plan.input;
  const byId = new Map(site.configurations.map((each) => [each.id, each]));
  plan.judge('versions', site.versions, {
    id: ({ id }) => id,
    name: ({ configurationId, version }) =>
      `${byId.get(configurationId)?.name ?? configurationId} ${version}`,
    judge(version) {
      const configuration = plan.require('configurations', version.configurationId);
      const managed = byId.get(version.configurationId)?.useServerManagedParameters ?? true;
      return judgeVersion(plan, version, { configuration, managed });
    },
  });
}

function judgeVersion(
  plan: Plan,
  source: SourceVersion,
  { configuration, managed }: { configuration: Standing; managed: boolean },
) {
  const { now } = plan.input;
  const { version, status, createdAt, createdBy } = source;
  const { entryPoint, files } = checkedContent(plan, source, { configuration, managed });
  const known = plan.versionsOf(configuration.name);
  const own = plan.input.here.configurations.find(({ name }) => name === configuration.name);
  const there = own?.versions.get(version);
  const same = known.findSame(version);
  if (same) throw versionExists(same.version);
  const standing = { id: source.id, name: version };
  const deed = {
    ...({ do: 'writeVersion', versionId: source.id, configuration, version, entryPoint } as const),
    ...{ author: createdBy, madeAt: createdAt ?? now, isPublished: status === 'Published' },
  };
  if (there === undefined) {
    known.add({ version, status, isWithdrawn: false, createdAt: deed.madeAt });
    return made({ ...deed, isThere: false }, standing);
  }
  requireSameVersion(there, { entryPoint, files, status });
  if (there.status === status) return here(standing);
  const draft = known.get(version);
  if (draft) draft.status = 'Published';
  return made({ ...deed, isThere: true }, standing);
}

/** Applies the rules of an upload. */
function checkedContent(
  plan: Plan,
  { id, version, entryPoint, configurationId }: SourceVersion,
  { configuration, managed }: { configuration: Standing; managed: boolean },
) {
  const { files: states, limits } = plan.input;
  const { fault, files: found } = states.versions.get(id) ?? { fault: null, files: [] };
  if (fault !== null) throw new LeftOut(fault);
  if (!isVersion(version) && !isVersionName(version)) throw new LeftOut('The text cannot name a version');
  const tree = new UploadTree(limits.uploadFiles);
  const files = found.map((file) => ({ ...file, path: tree.add(file.path) }));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.uploadBytes)
    throw tooLarge(`The version is ${overLimit(limits.uploadBytes, 'HAWSER_UPLOAD_LIMIT')}`);
  const named = { version, entryPoint, prereleaseChannel: undefined, files };
  const requireSemVer = requiresSemVer(plan, configurationId, configuration);
  return checkDraft({ ...named, useServerManagedParameters: managed, requireSemVer });
}

interface Content {
  entryPoint: string;
  files: readonly { path: string; sha256: string }[];
  status: 'Draft' | 'Published';
}

/** A draft that is here may be one that was to be published when an import ended. */
function requireSameVersion(there: HereVersion, { entryPoint, files, status }: Content): void {
  if (there.entryPoint !== entryPoint) throw new Clash(`Its entry point is ${there.entryPoint} here`);
  const differs = files.find(({ path, sha256 }) => there.files.get(path) !== sha256);
  if (differs) throw new Clash(`Its file ${differs.path} is another one here`);
  if (there.files.size !== files.length) throw new Clash('It has more files here');
  if (there.status === 'Published' && status === 'Draft') throw new Clash('It is published here');
}
