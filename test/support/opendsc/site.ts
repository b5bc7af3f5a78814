/** Builds the database and the data folder of an OpenDSC server, as a test needs them. */

import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, partsOf } from './create-table.ts';
import { addFreshRows } from './fresh.ts';
import type {
  GrantOptions,
  Mode,
  Named,
  NodeOptions,
  ParameterOptions,
  Row,
  Status,
  UserOptions,
  VersionOptions,
} from './options.ts';
import { TABLES } from './schema.ts';
import { hashPassword, NEVER, randomCertificate, storedCertificate, type Value } from './values.ts';
import { type WrittenSite, writeSite } from './write.ts';

export type { Named, Row } from './options.ts';
export { NEVER } from './values.ts';

const STATUSES: readonly Status[] = ['Draft', 'Published'];
const MODES: readonly Mode[] = ['Monitor', 'Remediate'];
/** The time of the first row. Each row is a second later than the one before. */
const START = Date.UTC(2026, 0, 5, 8);

/** What stands in a column for which nothing is given, where it cannot be null. */
const EMPTY: Record<string, (at: { now: number; rows: number }) => Value> = {
  time: ({ now }) => now,
  serial: ({ rows }) => rows + 1,
  guid: () => randomUUID(),
  text: () => '',
  bool: () => false,
  int: () => 0,
  real: () => 0,
  duration: () => 0,
};

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

export class OpenDscSite {
  /** Rows by table. A test may change them before they are written. */
  readonly rows: Map<string, Row[]> = new Map(Object.keys(TABLES).map((name) => [name, []]));
  /** Contents of the data folder by path. */
  readonly files: Map<string, string | Uint8Array> = new Map();
  readonly defaultScope: Named;
  readonly nodeScope: Named;
  readonly admin: Named;
  private now = START;

  /** A server that has just been started for the first time. */
  constructor() {
    ({ defaultScope: this.defaultScope, nodeScope: this.nodeScope, admin: this.admin } = addFreshRows(this));
  }

  /** Adds a row with what is given, and with something fit in all other columns. */
  add(table: string, given: Row = {}): Row & { Id: string } {
    this.now += 1_000;
    const row: Row = {};
    const at = { now: this.now, rows: this.rowsOf(table).length };
    for (const [column, form] of Object.entries(TABLES[table] ?? {})) {
      const { type, isNullable } = partsOf(form);
      row[column] = given[column] ?? (isNullable ? null : (EMPTY[type]?.(at) ?? null));
    }
    const unknown = Object.keys(given).find((column) => !(column in row));
    if (unknown !== undefined) throw new Error(`${table} has no column ${unknown}`);
    this.rowsOf(table).push(row);
    return row as Row & { Id: string };
  }

  rowsOf(table: string): Row[] {
    const rows = this.rows.get(table);
    if (rows === undefined) throw new Error(`There is no table ${table}`);
    return rows;
  }

  /** Changes the only row of a table of settings. */
  settings(table: 'ServerSettings' | 'ValidationSettings', changes: Row): void {
    Object.assign(this.rowsOf(table)[0] ?? {}, changes);
  }

  configuration({ name, columns = {} }: { name: string; columns?: Row }): Named {
    return this.named('Configurations', { Name: name, UseServerManagedParameters: true, ...columns });
  }

  /** The files stand in the data folder too. Without any there is one `main.dsc.yaml`. */
  version(configuration: Named, options: VersionOptions = {}): Named {
    const { version = '1.0.0', files = { 'main.dsc.yaml': '$schema: x\nresources: []\n' } } = options;
    const { Id } = this.add('ConfigurationVersions', {
      ConfigurationId: configuration.id,
      EntryPoint: options.entryPoint ?? 'main.dsc.yaml',
      ...this.versionColumns({ ...options, version }),
    });
    for (const [path, content] of Object.entries(files)) {
      this.add('ConfigurationFiles', { VersionId: Id, RelativePath: path, Checksum: sha256(content) });
      this.files.set(`configurations/${configuration.name}/v${version}/${path}`, content);
    }
    return { id: Id, name: version };
  }

  private versionColumns(options: VersionOptions & { version: string }): Row {
    return {
      Version: options.version,
      Status: STATUSES.indexOf(options.status ?? 'Published'),
      PrereleaseChannel: /-([a-z]+)/i.exec(options.version)?.[1] ?? null,
      CreatedAt: options.createdAt ?? null,
      CreatedBy: options.createdBy ?? null,
    };
  }

  composite({ name, columns = {} }: { name: string; columns?: Row }): Named {
    return this.named('CompositeConfigurations', { Name: name, EntryPoint: 'main.dsc.yaml', ...columns });
  }

  /** The children in their order. One without a version follows the newest one. */
  compositeVersion(
    composite: Named,
    options: Omit<VersionOptions, 'files' | 'entryPoint'>,
    ...items: { configuration: Named; version?: string; id?: string }[]
  ): Named {
    const { version = '1.0.0' } = options;
    const { Id } = this.add('CompositeConfigurationVersions', {
      CompositeConfigurationId: composite.id,
      ...this.versionColumns({ ...options, version }),
    });
    items.forEach(({ configuration, version: active, id }, order) => {
      this.add('CompositeConfigurationItems', {
        Id: id ?? null,
        CompositeConfigurationVersionId: Id,
        ChildConfigurationId: configuration.id,
        ActiveVersion: active ?? null,
        Order: order,
      });
    });
    return { id: Id, name: version };
  }

  /** A type with a list of values, unless it is `Unrestricted`. */
  scopeType(options: { name: string; precedence: number; valueMode?: 'Unrestricted' | 'Restricted' }): Named {
    return this.named('ScopeTypes', {
      Name: options.name,
      Precedence: options.precedence,
      IsEnabled: true,
      ValueMode: options.valueMode === 'Unrestricted' ? 0 : 1,
    });
  }

  scopeValue(scopeType: Named, value: string, columns: Row = {}): Named {
    const { Id } = this.add('ScopeValues', { ScopeTypeId: scopeType.id, Value: value, ...columns });
    return { id: Id, name: value };
  }

  /** A schema of a configuration. Without columns it is the one that the first parameter file makes. */
  schema(configuration: Named, columns: Row = {}): Named {
    const { Id } = this.add('ParameterSchemas', { ConfigurationId: configuration.id, ...columns });
    return { id: Id, name: configuration.name };
  }

  /** The file stands in the data folder too, unless it is a passthrough. */
  parameters(options: ParameterOptions): Named {
    const { configuration, scopeType = this.defaultScope, value, version = '1.0.0' } = options;
    const { text = 'parameters: {}\n', isPassthrough = false } = options;
    const { Id } = this.add('ParameterFiles', {
      ParameterSchemaId: this.schemaOf(configuration),
      ScopeTypeId: scopeType.id,
      ScopeValue: value ?? null,
      MajorVersion: Number.parseInt(version, 10),
      ContentType: isPassthrough ? null : 'application/x-yaml',
      Checksum: isPassthrough ? 'passthrough' : sha256(text),
      IsPassthrough: isPassthrough,
      ...this.parameterColumns(options, version),
    });
    const path = [configuration.name, scopeType.name, ...(value === undefined ? [] : [value]), `v${version}`];
    if (!isPassthrough) this.files.set(`parameters/${path.join('/')}/parameters.yaml`, text);
    return { id: Id, name: version };
  }

  private parameterColumns({ status, createdAt }: ParameterOptions, version: string): Row {
    const { PrereleaseChannel: _, ...columns } = this.versionColumns({
      version,
      ...(status && { status }),
      ...(createdAt !== undefined && { createdAt }),
    });
    return columns;
  }

  private schemaOf({ id, name }: Named): string {
    const known = this.rowsOf('ParameterSchemas').find((row) => row['ConfigurationId'] === id);
    return known === undefined ? this.schema({ id, name }).id : String(known['Id']);
  }

  user({ username, password = 'correct horse', accountType = 'User', columns = {} }: UserOptions): Named {
    const { Id } = this.add('Users', {
      Username: username,
      Email: `${username}@example.test`,
      ...(password !== null && hashPassword(password)),
      AccountType: accountType,
      EmailConfirmed: true,
      IsActive: true,
      ...columns,
    });
    return { id: Id, name: username };
  }

  group({ name, columns = {} }: { name: string; columns?: Row }): Named {
    return this.named('Groups', { Name: name, ...columns });
  }

  role({
    name,
    permissions = [],
    columns = {},
  }: {
    name: string;
    permissions?: readonly string[];
    columns?: Row;
  }): Named {
    return this.named('Roles', { Name: name, Permissions: JSON.stringify(permissions), ...columns });
  }

  /** Two of the three: a user in a group, a user with a role, or a group with a role. */
  member({ user, group, role }: { user?: Named; group?: Named; role?: Named }): void {
    if (user && group) this.add('UserGroups', { UserId: user.id, GroupId: group.id });
    else if (user && role) this.add('UserRoles', { UserId: user.id, RoleId: role.id });
    else if (group && role) this.add('GroupRoles', { GroupId: group.id, RoleId: role.id });
    else throw new Error('A membership has two of user, group and role');
  }

  /** A grant on a configuration, a composite, or the parameters of a configuration, to a user or a group. */
  grant(options: GrantOptions): void {
    const { configuration, composite, parametersOf, user, group, level } = options;
    const row = {
      PrincipalType: user === undefined ? 'Group' : 'User',
      PrincipalId: user?.id ?? group?.id ?? null,
      PermissionLevel: level,
    };
    if (configuration) this.add('ConfigurationPermissions', { ConfigurationId: configuration.id, ...row });
    if (composite)
      this.add('CompositeConfigurationPermissions', { CompositeConfigurationId: composite.id, ...row });
    if (parametersOf) this.add('ParameterPermissions', { ParameterId: this.schemaOf(parametersOf), ...row });
  }

  /** @param columns such as `MaxUses`; without `ExpiresAt` it ends in 2027 */
  registrationKey(key: string, columns: Row = {}): void {
    this.add('RegistrationKeys', { Key: key, ExpiresAt: Date.UTC(2027, 0, 5), ...columns });
  }

  node(options: NodeOptions): Named {
    const { fqdn, assignment, tags = [], mode, source = 'Pull' } = options;
    const { certificate = randomCertificate(fqdn) } = options;
    const { Id } = this.add('Nodes', {
      Id: options.id ?? null,
      Fqdn: fqdn,
      ConfigurationName: assignment?.configuration?.name ?? assignment?.composite?.name ?? null,
      ConfigurationSource: source === 'Pull' ? 1 : 0,
      ConfigurationMode: mode === undefined ? null : MODES.indexOf(mode),
      ...certificateColumns(certificate),
      Status: 'Unknown',
      LcmStatus: 'Unknown',
      ...options.columns,
    });
    if (assignment !== undefined)
      this.add('NodeConfigurations', {
        NodeId: Id,
        ConfigurationId: assignment.configuration?.id ?? null,
        CompositeConfigurationId: assignment.composite?.id ?? null,
        MajorVersion: assignment.majorVersion ?? null,
        PrereleaseChannel: assignment.prereleaseChannel ?? null,
        AssignedAt: NEVER,
      });
    for (const { id } of tags) this.add('NodeTags', { NodeId: Id, ScopeValueId: id });
    return { id: Id, name: fqdn };
  }

  /** The node has replaced its certificate. */
  replaceCertificate({ id }: Named, certificate: string): void {
    Object.assign(this.rowsOf('Nodes').find(({ Id }) => Id === id) ?? {}, certificateColumns(certificate));
  }

  private named(table: string, row: Row & { Name: string }): Named {
    return { id: this.add(table, row).Id, name: row.Name };
  }

  /**
   * Writes the database and the files. It may be called again, for the other engine or another folder.
   * @param folder the data folder; a new one in the temporary folder otherwise
   */
  async write({
    engine = 'sqlite',
    folder,
  }: {
    engine?: Engine;
    folder?: string;
  } = {}): Promise<WrittenSite> {
    return writeSite(this, engine, folder ?? mkdtempSync(join(tmpdir(), 'opendsc-')));
  }
}

function certificateColumns(certificate: NonNullable<NodeOptions['certificate']>): Row {
  const stored = typeof certificate === 'string' ? storedCertificate(certificate) : certificate;
  return {
    CertificateThumbprint: stored.thumbprint,
    CertificateSubject: stored.subject,
    CertificateNotAfter: stored.notAfter,
  };
}
