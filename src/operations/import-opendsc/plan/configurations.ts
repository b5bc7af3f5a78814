/** Configurations and their versions. */

import { NewConfiguration } from '../../../api/configurations/schemas.ts';
import { UploadTree } from '../../../domain/upload-tree.ts';
import { isVersion, isVersionName } from '../../../domain/version-order.ts';
import { overLimit, tooLarge } from '../../../lib/errors.ts';
import { checkDraft } from '../../../versions/rules.ts';
import type { HereVersion } from '../here.ts';
import type { SourceConfiguration, SourceVersion } from '../source/site.ts';
import { KnownVersions } from './known-versions.ts';
import { Clash, here, LeftOut, made, type Plan, requireFreeId, requireSame, type Standing } from './plan.ts';
import { requiresSemVer } from './settings.ts';
import { judgeVersionHere } from './versions.ts';

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
    requireSame(row, { name, useServerManagedParameters, description }, { id: row.id, name });
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
  const { entryPoint, files } = checkedContent(plan, source, { configuration, managed });
  const own = plan.input.here.configurations.find(({ name }) => name === configuration.name);
  const { id: versionId, version } = source;
  return judgeVersionHere(plan, 'versions', {
    ...{ source, series: configuration.name, there: own?.versions.get(version) },
    requireSame: (there) => requireSameContent(there, { entryPoint, files }),
    deed: (written) => ({ do: 'writeVersion', versionId, configuration, entryPoint, ...written }),
    standing: { id: versionId, name: version },
  });
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

/** @throws Clash that names the first difference */
function requireSameContent(
  there: HereVersion,
  { entryPoint, files }: { entryPoint: string; files: readonly { path: string; sha256: string }[] },
): void {
  if (there.entryPoint !== entryPoint) throw new Clash(`Its entry point is ${there.entryPoint} here`);
  const differs = files.find(({ path, sha256 }) => there.files.get(path) !== sha256);
  if (differs) throw new Clash(`Its file ${differs.path} is another one here`);
  if (there.files.size !== files.length) throw new Clash('It has more files here');
}
