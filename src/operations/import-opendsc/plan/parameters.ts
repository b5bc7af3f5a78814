/** Parameter files, and the schemas that were uploaded for them. */

import { normalizeHostName } from '../../../domain/names.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID, SCOPE_NAME } from '../../../domain/scopes.ts';
import { isVersion } from '../../../domain/version-order.ts';
import { SCHEMA_SERIES } from '../../../versions/kinds.ts';
import { seriesOf } from '../../../versions/parameter-files.ts';
import { versionExists } from '../../../versions/rules.ts';
import type { ParameterScope } from '../../../versions/store.ts';
import type { SourceParameterFile, SourceParameterSchema } from '../source/site.ts';
import { KnownVersions } from './known-versions.ts';
import { Clash, here, LeftOut, made, type Plan, requireSame, type Standing } from './plan.ts';
import { findValue } from './scopes.ts';
import { readUploadedSchema } from './uploaded-schemas.ts';

export function planParameters(plan: Plan): void {
  const { site, here: own } = plan.input;
  for (const { name, parameters } of own.configurations)
    for (const [series, versions] of parameters)
      plan.versions.set(`${name} ${series}`, new KnownVersions(versions.values()));
  planSchemas(plan);
  const owners = new Map(site.parameterSchemas.map(({ id, configurationId }) => [id, configurationId]));
  const configurations = new Map(site.configurations.map(({ id, name }) => [id, name]));
  const types = new Map(site.scopeTypes.map(({ id, name }) => [id, name]));
  const ownerOf = (file: SourceParameterFile) => owners.get(file.parameterSchemaId) ?? '';
  plan.judge('parameter files', site.parameterFiles, {
    name(file) {
      const value = file.scopeValue === null ? '' : `/${file.scopeValue}`;
      return `${configurations.get(ownerOf(file)) ?? '?'} ${types.get(file.scopeTypeId) ?? '?'}${value} ${file.version}`;
    },
    judge: (file) => judgeFile(plan, file, plan.require('configurations', ownerOf(file))),
  });
}

function judgeFile(plan: Plan, file: SourceParameterFile, configuration: Standing) {
  const { files, here: own, now } = plan.input;
  const { version, status, isPassthrough, createdAt, createdBy } = file;
  if (!isVersion(version)) throw new LeftOut('Not a SemVer 2.0 version such as 1.2.0');
  const { scope, isDefined, scopeTypeId } = scopeFor(plan, file);
  const state = files.parameters.get(file.id) ?? { fault: null, type: 'yaml' as const, sha256: '' };
  if (state.fault !== null) throw new LeftOut(state.fault);
  const series = seriesOf(scope);
  const known = plan.versionsOf(`${configuration.name} ${series}`);
  const owner = own.configurations.find(({ name }) => name === configuration.name);
  const there = owner?.parameters.get(series)?.get(version);
  const same = known.findSame(version) ?? (there === undefined ? known.get(version) : undefined);
  if (same) throw versionExists(same.version);
  const deed = {
    ...({ do: 'writeParameters', fileId: file.id, configuration, scope, scopeTypeId, isDefined } as const),
    ...{ type: isPassthrough ? null : state.type, version },
    ...{ author: createdBy, madeAt: createdAt ?? now, isPublished: status === 'Published' },
  };
  if (there === undefined) {
    known.add({ version, status, isWithdrawn: false, createdAt: deed.madeAt });
    return made({ ...deed, isThere: false });
  }
  if (there.isPassthrough !== isPassthrough || (!isPassthrough && there.sha256 !== state.sha256))
    throw new Clash('Its content is another one here');
  if (there.status === status) return here();
  if (there.status === 'Published') throw new Clash('It is published here');
  return made({ ...deed, isThere: true });
}

interface FileScope {
  scope: ParameterScope;
  scopeTypeId: string;
  /** Whether the value of an Unrestricted type is known. */
  isDefined: boolean;
}

/** Applies the rules for the scope that a file is written for. */
function scopeFor(plan: Plan, { scopeTypeId, scopeValue }: SourceParameterFile): FileScope {
  const { site } = plan.input;
  const type = plan.require('scope types', scopeTypeId);
  const source = site.scopeTypes.find(({ id }) => id === scopeTypeId);
  if (source?.isEnabled === false) throw new LeftOut(`The scope type ${type.name} is switched off`);
  const scopeType = type.name;
  const given = { scopeTypeId: type.id, isDefined: true };
  if (type.id === DEFAULT_SCOPE_TYPE_ID) return { ...given, scope: { scopeType, value: null } };
  if (scopeValue === null) throw new LeftOut(`A value of ${scopeType} is required`);
  if (type.id === NODE_SCOPE_TYPE_ID)
    return { ...given, scope: { scopeType, value: nodeNamed(plan, scopeValue) } };
  const value = findValue(plan, type, scopeValue)?.value ?? plannedValue(plan, scopeTypeId, scopeValue);
  if (value !== undefined) return { ...given, scope: { scopeType, value } };
  if (source?.valueMode === 'Restricted') throw new LeftOut(`The scope type ${scopeType} has no such value`);
  if (!SCOPE_NAME.test(scopeValue)) throw new LeftOut('Its value: Not 1 to 64 letters, digits, "_" and "-"');
  // Values that differ by case alone are one, in the spelling of the first.
  const spelled = plan.spelling(`${type.id} ${scopeValue.toLowerCase()}`, scopeValue);
  return { ...given, scope: { scopeType, value: spelled }, isDefined: false };
}

function plannedValue(plan: Plan, scopeTypeId: string, value: string): string | undefined {
  const source = plan.input.site.scopeValues.find(
    (each) => each.scopeTypeId === scopeTypeId && each.value.toLowerCase() === value.toLowerCase(),
  );
  return source && plan.require('scope values', source.id).name;
}

/** A node that is here, or comes with the import. */
function nodeNamed(plan: Plan, value: string): string {
  const fqdn = normalizeHostName(value);
  if (fqdn === null || !plan.nodeNames.has(fqdn)) throw new LeftOut('No node is registered under this name');
  return fqdn;
}

/** Schemas that were uploaded have no time, and no version has them. The others follow from the entry points. */
function planSchemas(plan: Plan): void {
  const { site } = plan.input;
  const names = new Map(site.configurations.map(({ id, name }) => [id, name]));
  const uploaded = site.parameterSchemas.filter(
    (schema) =>
      schema.createdAt === null && schema.generatedJsonSchema !== null && schema.schemaVersion !== null,
  );
  plan.judge('schemas', uploaded, {
    name: ({ configurationId, schemaVersion }) => `${names.get(configurationId) ?? '?'} ${schemaVersion}`,
    judge: (schema) => judgeSchema(plan, schema),
  });
}

function judgeSchema(
  plan: Plan,
  { configurationId, generatedJsonSchema, schemaVersion }: SourceParameterSchema,
) {
  const { now, here: own } = plan.input;
  const configuration = plan.require('configurations', configurationId);
  const version = schemaVersion ?? '';
  if (!isVersion(version)) throw new LeftOut('Not a SemVer 2.0 version such as 1.2.0');
  plan.once('schemas', `${configuration.name} ${version}`);
  const content = readUploadedSchema(generatedJsonSchema ?? '');
  const owner = own.configurations.find(({ name }) => name === configuration.name);
  const there = owner?.parameters.get(SCHEMA_SERIES)?.get(version);
  if (there === undefined)
    return made({ do: 'putSchema', configuration, version, content: content.text, madeAt: now });
  requireSame({ content: there.sha256 }, { content: content.sha256 });
  return here();
}
