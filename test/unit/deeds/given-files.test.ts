import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Database, Db } from '../../../src/db/database.ts';
import { insertNode } from '../../../src/db/nodes.ts';
import { markScope, saveScopeGrant } from '../../../src/db/scope-grants.ts';
import { openSqlite } from '../../../src/db/sqlite/open.ts';
import type { AssignmentTools } from '../../../src/deeds/assign.ts';
import { GivenFiles } from '../../../src/deeds/handing-out.ts';
import { TagGate } from '../../../src/deeds/tag-gate.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import type { UserPrincipal } from '../../../src/security/principal.ts';

const IDS = { user: 'u', web: 'w', type: 't', value: 'v', node: 'n' };
const PRINCIPAL = { userId: IDS.user, permissions: new Set(), scopes: null } as unknown as UserPrincipal;
const PROD = { configurationId: IDS.web, scopeTypeId: IDS.type, scopeValueId: IDS.value };
const ASSIGNED = {
  ...{ configurationId: IDS.web, compositeId: null },
  ...{ majorVersion: null, prereleaseChannel: null, version: null },
};

/** What repositories tell is read before a transaction, and what may be read in it. */
describe('what somebody hands out', () => {
  let folder: string;
  let database: Database;
  let tools: AssignmentTools;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-given-'));
    database = await openSqlite(folder);
    await database.write.transaction().execute(makeRows);
    const files = (series: string) => ({
      published: series === 'Environment/prod' ? [{}] : [],
      versions: [],
    });
    const parameters = { index: async () => ({ of: files, series: ['Environment/prod'] }) };
    const planner = {
      byVersions: (_assignment: unknown, make: (given: unknown) => unknown) =>
        make({ repository: { name: 'web' }, composite: null }),
    };
    const store = { parameters, list: async () => ['web'] };
    tools = { database, store, planner } as unknown as AssignmentTools;
  });

  afterEach(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const codeOf = (work: (trx: Db) => Promise<void>) =>
    database.write
      .transaction()
      .execute(work)
      .then(
        () => null,
        (error) => (error instanceof HawserError ? error.code : error),
      );
  const mark = (isMarked: boolean) =>
    database.write.transaction().execute((trx) => markScope(trx, PROD, isMarked));

  it('goes by a mark that was set after it was looked at, and before it is given', async () => {
    const files = await GivenFiles.of(tools, PRINCIPAL, ['web']);
    const give = () => codeOf((trx) => files.require(trx, { nodeIds: [IDS.node] }));
    expect(await give()).to.equal(null);
    await mark(true);
    expect(await give()).to.equal('beyond_own_permissions');
    const inOne = codeOf(async (trx) => {
      await markScope(trx, PROD, false);
      await files.require(trx, { nodeIds: [IDS.node] });
      await markScope(trx, PROD, true);
    });
    expect(await inOne).to.equal(null);
    expect(await give()).to.equal('beyond_own_permissions');
  });

  it('is so for tags too, also in the same transaction', async () => {
    const gate = await TagGate.of(tools, PRINCIPAL, { scopeValueIds: [IDS.value], nodeIds: [IDS.node] });
    const require = (trx: Db) => gate.require(trx, ASSIGNED, async () => false);
    expect(await codeOf(require)).to.equal(null);
    expect(
      await codeOf(async (trx) => {
        await require(trx);
        await markScope(trx, PROD, true);
        await require(trx);
      }),
    ).to.equal('beyond_own_permissions');
    expect(await codeOf(require)).to.equal(null);
    await mark(true);
    expect(await codeOf(require)).to.equal('beyond_own_permissions');
    expect(await codeOf((trx) => gate.requireAll(trx))).to.equal('beyond_own_permissions');
    const holder = { principalType: 'User', principalId: IDS.user } as const;
    const grant = { level: 'Read', grantedBy: null, now: 1 } as const;
    await database.write.transaction().execute((trx) => saveScopeGrant(trx, PROD, holder, grant));
    expect(await codeOf(require)).to.equal(null);
  });

  it('reaches nodes that have the tag, and those that may have it when they come', async () => {
    const files = await GivenFiles.of(tools, PRINCIPAL, ['web']);
    await mark(true);
    const code = (receivers: Parameters<GivenFiles['require']>[1]) =>
      codeOf((trx) => files.require(trx, receivers));
    expect(await code({ nodeIds: ['another'] })).to.equal(null);
    expect(await code({ tags: ['another'] })).to.equal(null);
    expect(await code({ tags: [IDS.value] })).to.equal('beyond_own_permissions');
    expect(await code('any')).to.equal('beyond_own_permissions');
  });
});

async function makeRows(trx: Db): Promise<void> {
  const times = { created_at: 1, updated_at: 1 };
  await trx
    .insertInto('configurations')
    .values({
      id: IDS.web,
      name: 'web',
      name_key: 'web',
      use_server_managed_parameters: 1,
      description: null,
      ...times,
    } as never)
    .execute();
  const holder = { principal_type: 'User', principal_id: IDS.user } as const;
  const general = { resource_kind: 'configuration', resource_id: IDS.web, level: 'Read' } as const;
  await trx
    .insertInto('grants')
    .values({ ...general, ...holder, granted_at: 1, granted_by: null })
    .execute();
  const type = { id: IDS.type, name: 'Environment', name_key: 'environment', precedence: 1, ...times };
  await trx
    .insertInto('scope_types')
    .values({ ...type, description: null, is_system: 0, is_enabled: 1, value_mode: 'Unrestricted' } as never)
    .execute();
  const value = { id: IDS.value, scope_type_id: IDS.type, value: 'prod', value_key: 'prod', ...times };
  await trx
    .insertInto('scope_values')
    .values({ ...value, description: null } as never)
    .execute();
  await insertNode(trx, { id: IDS.node, fqdn: 'one.example.org', now: 1, settings: { is_awaiting: 0 } });
  await trx
    .insertInto('node_tags')
    .values({ node_id: IDS.node, scope_type_id: IDS.type, scope_value_id: IDS.value, assigned_at: 1 })
    .execute();
}
