/** Parameter files, and the schemas that were uploaded for them. */

import { normalizeHostName } from '../../../domain/names.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID, SCOPE_NAME } from '../../../domain/scopes.ts';
import { isVersion } from '../../../domain/version-order.ts';
import { SCHEMA_SERIES } from '../../../versions/kinds.ts';
import { seriesOf } from '../../../versions/parameter-files.ts';
import type { ParameterScope } from '../../../versions/store.ts';
import type { SourceParameterFile, SourceParameterSchema, SourceScopeType } from '../source/site.ts';
import { KnownVersions } from './known-versions.ts';
import { Clash, here, LeftOut, made, type Plan, requireSame, type Standing } from './plan.ts';
import { findValue, requireFirstSpelling } from './scopes.ts';
import { readUploadedSchema } from './uploaded-schemas.ts';
import { judgeVersionHere } from './versions.ts';

export function planParameters(plan: Plan): void {
  const { site, here: own } = plan.input;
  for (const { name, parameters } of own.configurations)
    for (const [series, versions] of parameters)
      plan.versions.set(`${name} ${series}`, new KnownVersions(versions.values()));
  planSchemas(plan);
  const owners = new Map(site.parameterSchemas.map(({ id, configurationId }) => [id, configurationId]));
  const configurations = new Map(site.configurations.map(({ id, name }) => [id, name]));
  const types = new Map(site.scopeTypes.map(({ id, name }) => [id, name]));
  const scopes = new Scopes(plan);
  const ownerOf = (file: SourceParameterFile) => owners.get(file.parameterSchemaId) ?? '';
  plan.judge('parameter files', site.parameterFiles, {
    name(file) {
      const value = file.scopeValue === null ? '' : `/${file.scopeValue}`;
      return `${configurations.get(ownerOf(file)) ?? '?'} ${types.get(file.scopeTypeId) ?? '?'}${value} ${file.version}`;
    },
    judge: (file) => judgeFile(plan, file, scopes, plan.require('configurations', ownerOf(file))),
  });
}

function judgeFile(plan: Plan, file: SourceParameterFile, scopes: Scopes, configuration: Standing) {
  const { files, here: own } = plan.input;
  const { version, isPassthrough } = file;
  if (!isVersion(version)) throw new LeftOut('Not a SemVer 2.0 version such as 1.2.0');
  const { scope, ...where } = scopes.of(file);
  const state = files.parameters.get(file.id) ?? { fault: null, type: 'yaml' as const, sha256: '' };
  if (state.fault !== null) throw new LeftOut(state.fault);
  const series = seriesOf(scope);
  const owner = own.configurations.find(({ name }) => name === configuration.name);
  return judgeVersionHere(plan, 'parameter files', {
    source: file,
    series: `${configuration.name} ${series}`,
    there: owner?.parameters.get(series)?.get(version),
    requireSame(there) {
      // What was encrypted here has other bytes than there, and nothing tells whether it says the same.
      const isSame = there.holdsSecrets || there.sha256 === state.sha256;
      if (there.isPassthrough !== isPassthrough || (!isPassthrough && !isSame))
        throw new Clash('Its content is another one here');
    },
    deed: (written) => ({
      ...({ do: 'writeParameters', fileId: file.id, configuration, scope, ...where, ...written } as const),
      type: isPassthrough ? null : state.type,
    }),
  });
}

interface FileScope {
  scope: ParameterScope;
  scopeTypeId: string;
  /** Whether the value of an Unrestricted type is known. */
  isDefined: boolean;
}

/**
 * Applies the rules for the scopes that files are written for. Names of values and nodes count letter by letter there, and
 * without regard to case here, so a file goes with the value or node of exactly its name.
 */
class Scopes {
  private readonly plan: Plan;
  private readonly types: ReadonlyMap<string, SourceScopeType>;
  private readonly values: ReadonlyMap<string, string>;
  private readonly nodes: ReadonlyMap<string, string>;
  private readonly nodeNames: ReadonlySet<string | null>;

  constructor(plan: Plan) {
    const { scopeTypes, scopeValues, nodes } = plan.input.site;
    this.plan = plan;
    this.types = new Map(scopeTypes.map((type) => [type.id, type]));
    this.values = new Map(scopeValues.map(({ id, scopeTypeId, value }) => [`${scopeTypeId} ${value}`, id]));
    this.nodes = new Map(nodes.map(({ id, fqdn }) => [fqdn, id]));
    this.nodeNames = new Set(nodes.map(({ fqdn }) => normalizeHostName(fqdn)));
  }

  /** @throws LeftOut */
  of({ scopeTypeId, scopeValue }: SourceParameterFile): FileScope {
    const type = this.plan.require('scope types', scopeTypeId);
    const source = this.types.get(scopeTypeId);
    if (source?.isEnabled === false) throw new LeftOut(`The scope type ${type.name} is switched off`);
    const at = (value: string | null, isDefined = true) => ({
      ...{ scope: { scopeType: type.name, value }, scopeTypeId: type.id, isDefined },
    });
    if (type.id === DEFAULT_SCOPE_TYPE_ID) return at(null);
    if (scopeValue === null) throw new LeftOut(`A value of ${type.name} is required`);
    if (type.id === NODE_SCOPE_TYPE_ID) return at(this.nodeNamed(scopeValue));
    const valueId = this.values.get(`${scopeTypeId} ${scopeValue}`);
    if (valueId !== undefined) return at(this.plan.require('scope values', valueId).name);
    requireFirstSpelling(this.plan, type, scopeValue);
    const own = findValue(this.plan, type, scopeValue);
    if (own !== undefined) return at(own.value);
    if (source?.valueMode === 'Restricted')
      throw new LeftOut(`The scope type ${type.name} has no such value`);
    if (!SCOPE_NAME.test(scopeValue))
      throw new LeftOut('Its value: Not 1 to 64 letters, digits, "_" and "-"');
    return at(scopeValue, false);
  }

  /** A node that is here, or comes with the import. */
  private nodeNamed(value: string): string {
    const id = this.nodes.get(value);
    if (id !== undefined) return this.plan.require('nodes', id).name;
    const fqdn = normalizeHostName(value);
    // The other server gave it to nobody where a node has this name in another case.
    if (fqdn === null || this.nodeNames.has(fqdn) || !this.plan.nodeNames.has(fqdn))
      throw new LeftOut('No node is registered under this name');
    return fqdn;
  }
}

/** Schemas that were uploaded have no time, and no version has them. The others follow from the entry points. */
function planSchemas(plan: Plan): void {
  const { site } = plan.input;
  const names = new Map(site.configurations.map(({ id, name }) => [id, name]));
  const withBlock = site.versions.filter(({ parameterSchemaId }) => parameterSchemaId !== null);
  const ofVersions = new Set(withBlock.map(({ parameterSchemaId }) => parameterSchemaId));
  // Each publish overwrites the first schema of the configuration, which may have been uploaded once.
  const published = new Set(withBlock.map(({ configurationId, version }) => `${configurationId} ${version}`));
  const uploaded = site.parameterSchemas.filter(
    ({ id, configurationId, createdAt, generatedJsonSchema, schemaVersion }) =>
      createdAt === null &&
      generatedJsonSchema !== null &&
      schemaVersion !== null &&
      !ofVersions.has(id) &&
      !published.has(`${configurationId} ${schemaVersion}`),
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
