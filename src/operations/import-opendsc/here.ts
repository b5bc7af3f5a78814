/** What is here before an import: the rows, and the versions of all that the source has too. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Selectable } from 'kysely';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/database.ts';
import type { Assignment } from '../../db/node-lookup.ts';
import type { Schema } from '../../db/schema.ts';
import { keepsSecrets, readSecret } from '../../db/secrets.ts';
import { findOwnSettings, type OwnSettings } from '../../deeds/configuration-settings.ts';
import type { CompositeDocument } from '../../domain/composite-document.ts';
import type { RepositoryKind } from '../../git/types.ts';
import { groupBy } from '../../lib/group-by.ts';
import { CompositeReader } from '../../resolve/composites.ts';
import { SEALED_BEGIN } from '../../resolve/secret-leaves.ts';
import { type AwaitedCertificate, isAwaiting } from '../../security/awaiting-certificates.ts';
import { PASSWORD_FILE } from '../../security/built-ins.ts';
import { readProviders } from '../../security/openid/providers-file.ts';
import type { GitStore, VersionRef } from '../../versions/store.ts';
import { ONLY_SERIES } from '../../versions/types.ts';
import type { SourceSite } from './source/site.ts';

type Row<T extends keyof Schema> = Selectable<Schema[T]>;

interface AnyVersion {
  version: string;
  status: 'Draft' | 'Published';
  isWithdrawn: boolean;
  createdAt: number;
}

export interface HereVersion extends AnyVersion {
  entryPoint: string;
  /** The SHA-256 of each file, by its path. */
  files: ReadonlyMap<string, string>;
}

export interface HereCompositeVersion extends AnyVersion {
  document: CompositeDocument | null;
}

export interface HereParameterFile extends AnyVersion {
  isPassthrough: boolean;
  sha256: string;
  /** Whether something in it is encrypted. */
  holdsSecrets: boolean;
}

export interface HereConfiguration {
  id: string;
  name: string;
  description: string | null;
  useServerManagedParameters: boolean;
  /** Empty where the source has no configuration of this name. */
  versions: ReadonlyMap<string, HereVersion>;
  /** The versions of each series. */
  parameters: ReadonlyMap<string, ReadonlyMap<string, HereParameterFile>>;
}

export interface HereComposite {
  id: string;
  name: string;
  description: string | null;
  entryPoint: string;
  versions: ReadonlyMap<string, HereCompositeVersion>;
}

export interface HereNode {
  fqdn: string;
  desired: {
    configurationMode: string | null;
    configurationModeInterval: string | null;
    reportCompliance: number | null;
  };
  /** Null for a node that has shown its certificate. */
  awaited: AwaitedCertificate | null;
}

/** The keys of sets and maps of two or more ids have a space between them. */
export interface Here {
  scopeTypes: readonly Row<'scope_types'>[];
  scopeValues: readonly Row<'scope_values'>[];
  users: readonly Row<'users'>[];
  groups: readonly Row<'groups'>[];
  roles: readonly { row: Row<'roles'>; permissions: ReadonlySet<string> }[];
  /** The id of the group or user, and that of the user or role. */
  memberships: Record<'group_members' | 'user_roles' | 'group_roles', ReadonlySet<string>>;
  mappings: readonly Row<'external_group_mappings'>[];
  identities: readonly Row<'identities'>[];
  /** The issuers of the identity providers, by their names. */
  providers: ReadonlyMap<string, string>;
  /** The settings that were set, by name. */
  settings: ReadonlyMap<string, unknown>;
  ownSettings: ReadonlyMap<string, OwnSettings>;
  registrationKeys: readonly Row<'registration_keys'>[];
  configurations: readonly HereConfiguration[];
  composites: readonly HereComposite[];
  nodes: ReadonlyMap<string, HereNode>;
  /** The SHA-1 of the certificates that nodes have. */
  certificates: ReadonlySet<string>;
  /** The id of the value, by those of the node and the scope type. */
  tags: ReadonlyMap<string, string>;
  assignments: ReadonlyMap<string, Assignment>;
  /** The level, by kind, resource, type of principal and principal. */
  grants: ReadonlyMap<string, string>;
  /** Whether the password of `admin` is still the one that the first start made. */
  hasFirstPassword: boolean;
}

export interface HereTools {
  read: Db;
  store: GitStore;
  dataDir: string;
  config: Pick<Config, 'oidcFile' | 'environment'>;
}

/** Reads all that a plan has to know. */
export async function readHere({ read, store, dataDir, config }: HereTools, site: SourceSite): Promise<Here> {
  const all = <T extends keyof Schema>(table: T) =>
    read.selectFrom(table).selectAll().execute() as unknown as Promise<Row<T>[]>;
  const permissions = groupBy(await all('role_permissions'), (row) => row.role_id);
  const roles = (await all('roles')).map((row) => ({
    row,
    permissions: new Set(permissions.get(row.id)?.map(({ permission }) => permission)),
  }));
  const versions = new VersionReader(store);
  return {
    scopeTypes: await all('scope_types'),
    scopeValues: await all('scope_values'),
    users: await all('users'),
    groups: await all('groups'),
    roles,
    memberships: {
      group_members: pairs(await all('group_members'), 'group_id', 'user_id'),
      user_roles: pairs(await all('user_roles'), 'user_id', 'role_id'),
      group_roles: pairs(await all('group_roles'), 'group_id', 'role_id'),
    },
    mappings: await all('external_group_mappings'),
    identities: await all('identities'),
    providers: readIssuers(config),
    settings: new Map((await all('server_settings')).map(({ name, value }) => [name, JSON.parse(value)])),
    ownSettings: await readOwnSettings(read),
    registrationKeys: await all('registration_keys'),
    configurations: await versions.configurations(await all('configurations'), namesOf(site.configurations)),
    composites: await versions.composites(await all('composites'), namesOf(site.composites)),
    ...(await readFleet(read)),
    hasFirstPassword: await hasFirstPassword(read, dataDir),
  };
}

function readIssuers({ oidcFile, environment }: HereTools['config']): Map<string, string> {
  if (oidcFile === null) return new Map();
  return new Map(
    readProviders(oidcFile, environment === 'development').map((each) => [each.name, each.issuer]),
  );
}

const namesOf = (rows: readonly { name: string }[]) => new Set(rows.map(({ name }) => name));

function pairs<R>(rows: readonly R[], first: keyof R, second: keyof R): Set<string> {
  return new Set(rows.map((row) => `${row[first]} ${row[second]}`));
}

async function readOwnSettings(read: Db): Promise<Map<string, OwnSettings>> {
  const rows = await read.selectFrom('configuration_settings').select('configuration_id').execute();
  const own = new Map<string, OwnSettings>();
  for (const { configuration_id: id } of rows) own.set(id, await findOwnSettings(read, id));
  return own;
}

async function hasFirstPassword(read: Db, dataDir: string): Promise<boolean> {
  if (keepsSecrets(read)) return (await readSecret(read, 'first-password')) !== null;
  return existsSync(join(dataDir, PASSWORD_FILE));
}

async function readFleet(
  read: Db,
): Promise<Pick<Here, 'nodes' | 'certificates' | 'tags' | 'assignments' | 'grants'>> {
  const nodes = await read.selectFrom('nodes').selectAll().execute();
  const certificates = await read.selectFrom('node_certificates').selectAll().execute();
  const awaited = new Map(certificates.filter(isAwaiting).map((row) => [row.node_id, toAwaited(row)]));
  const tags = await read.selectFrom('node_tags').selectAll().execute();
  const assignments = await read.selectFrom('assignments').selectAll().execute();
  const grants = await read.selectFrom('grants').selectAll().execute();
  return {
    nodes: new Map(
      nodes.map((row) => {
        const desired = {
          configurationMode: row.desired_configuration_mode,
          configurationModeInterval: row.desired_configuration_mode_interval,
          reportCompliance: row.desired_report_compliance,
        };
        return [row.id, { fqdn: row.fqdn, desired, awaited: awaited.get(row.id) ?? null }];
      }),
    ),
    certificates: new Set(certificates.flatMap((row) => row.sha1_thumbprint ?? [])),
    tags: new Map(tags.map((row) => [`${row.node_id} ${row.scope_type_id}`, row.scope_value_id])),
    assignments: new Map(assignments.map((row) => [row.node_id, toAssignment(row)])),
    grants: new Map(
      grants.map((row) => {
        const key = [row.resource_kind, row.resource_id, row.principal_type, row.principal_id];
        return [key.join(' '), row.level];
      }),
    ),
  };
}

function toAwaited(row: Row<'node_certificates'>): AwaitedCertificate {
  return { sha1Thumbprint: row.thumbprint, subject: row.subject, notAfter: row.not_after };
}

function toAssignment(row: Row<'assignments'>): Assignment {
  const { configuration_id: configurationId, composite_id: compositeId, version } = row;
  const { major_version: majorVersion, prerelease_channel: prereleaseChannel } = row;
  return { configurationId, compositeId, majorVersion, prereleaseChannel, version };
}

/** Reads the versions of those configurations and composites that the source has too. */
class VersionReader {
  private readonly store: GitStore;
  private readonly documents: CompositeReader;

  constructor(store: GitStore) {
    this.store = store;
    this.documents = new CompositeReader(store);
  }

  async configurations(
    rows: readonly Row<'configurations'>[],
    wanted: ReadonlySet<string>,
  ): Promise<HereConfiguration[]> {
    const all: HereConfiguration[] = [];
    for (const { id, name, description, use_server_managed_parameters: managed } of rows) {
      const isWanted = wanted.has(name);
      all.push({
        ...{ id, name, description, useServerManagedParameters: managed === 1 },
        versions: isWanted ? await this.versions(name) : new Map(),
        parameters: isWanted ? await this.parameters(name) : new Map(),
      });
    }
    return all;
  }

  async composites(
    rows: readonly Row<'composites'>[],
    wanted: ReadonlySet<string>,
  ): Promise<HereComposite[]> {
    const all: HereComposite[] = [];
    for (const { id, name, description, entry_point: entryPoint } of rows) {
      const repository = { kind: 'composites', name } as const;
      const versions = wanted.has(name)
        ? await this.eachVersion(repository, ONLY_SERIES, async (ref) => ({
            document: await this.documents.document(repository, ref),
          }))
        : new Map();
      all.push({ id, name, description, entryPoint, versions });
    }
    return all;
  }

  private versions(name: string): Promise<Map<string, HereVersion>> {
    const repository = { kind: 'configurations', name } as const;
    return this.eachVersion(repository, ONLY_SERIES, async (ref) => {
      const { entryPoint, files } = await this.store.details(repository, ref);
      const infos = await this.store.fileInfos(repository, files);
      const hashes = files.map(({ path }, at) => [path, infos[at]?.sha256 ?? ''] as const);
      return { entryPoint, files: new Map(hashes) };
    });
  }

  private async parameters(name: string): Promise<Map<string, ReadonlyMap<string, HereParameterFile>>> {
    const { series: all } = await this.store.parameters.index(name);
    const found = new Map<string, ReadonlyMap<string, HereParameterFile>>();
    for (const series of all) {
      const versions = await this.eachVersion({ kind: 'parameters', name }, series, async (ref) => {
        const { isPassthrough, sha256 } = await this.store.parameters.details(name, ref);
        const content = await this.store.parameters.content(name, ref);
        return { isPassthrough, sha256, holdsSecrets: content?.includes(SEALED_BEGIN) ?? false };
      });
      found.set(series, versions);
    }
    return found;
  }

  private async eachVersion<T extends object>(
    repository: { kind: RepositoryKind; name: string },
    series: string,
    read: (ref: VersionRef) => Promise<T>,
  ): Promise<Map<string, T & AnyVersion>> {
    const found = new Map<string, T & AnyVersion>();
    for (const ref of (await this.store.index(repository)).of(series).versions) {
      const { version, status, withdrawn, createdAt = 0 } = ref;
      found.set(version, {
        ...(await read(ref)),
        ...{ version, status, isWithdrawn: withdrawn !== null, createdAt },
      });
    }
    return found;
  }
}
