// full: SQLite
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import { publishWithChildren } from '../support/composites.ts';
import { CONFIGURATIONS } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { assign, configurationPath, saveParameters } from '../support/parameter-files.ts';
import { publishBlocks } from '../support/parameter-schemas.ts';
import { expectInvalid, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';

const NODES = '/api/v1/nodes';
/** A node that gets it without a file lacks two parameters. */
const DECLARED = { port: { type: 'int' }, name: { type: 'string' } };

interface Listed {
  id: string;
  fqdn: string;
  parameterProblems: number | null;
}

describe('the list of nodes', () => {
  let hawser: Hawser;

  afterEach(() => hawser.close());

  async function list(query = ''): Promise<{ nodes: Listed[]; total: number; next: string | undefined }> {
    const reply = await hawser.admin.get(`${NODES}${query}`);
    const nodes = await ok(200, reply);
    const next = /<([^>]*)>; rel="next"/.exec(String(reply.headers['link'] ?? ''))?.[1];
    return { nodes, total: Number(reply.headers['x-total-count']), next };
  }

  /** The counts by the first part of the nodes' names. */
  async function counts(): Promise<Record<string, number | null>> {
    const { nodes } = await list();
    return Object.fromEntries(nodes.map((node) => [node.fqdn.split('.')[0], node.parameterProblems]));
  }

  /** The first parts of the names of all that match, which are on one page. */
  async function names(query: string): Promise<string> {
    const { nodes, total } = await list(query);
    expect(total, query).to.equal(nodes.length);
    return nodes.map(({ fqdn }) => fqdn.split('.')[0]).join(' ');
  }

  const withProblems = () => names('?hasParameterProblems=true');
  const withoutProblems = () => names('?hasParameterProblems=false');

  describe('of a small fleet', () => {
    let production: string;
    let nodes: Record<'app' | 'db' | 'own' | 'web', NodeUnderTest>;

    beforeEach(async () => {
      hawser = await startHawser();
      const environment = await createScopeType(hawser, 'Environment');
      production = await createScopeValue(hawser, environment, 'prod');
      await publishBlocks(hawser.admin, 'site', { '1.0.0': DECLARED });
      await publishBlocks(hawser.admin, 'base', { '1.0.0': { size: { type: 'int' } } });
      const register = (name: string) => hawser.registerNode(`${name}.example.org`);
      nodes = {
        app: await register('app'),
        db: await register('db'),
        own: await register('own'),
        web: await register('web'),
      };
      await saveParameters(hawser, { configuration: 'base', content: 'parameters: {size: 3}' });
      await assign(hawser, nodes.app, 'site');
      await assign(hawser, nodes.db, 'base');
    });

    it('shows the number of problems of each node, as its details do', async () => {
      expect(await counts()).to.deep.equal({ app: 2, db: 0, own: 0, web: 0 });
      for (const [name, count] of Object.entries(await counts())) {
        const { nodeId } = nodes[name as keyof typeof nodes];
        expect((await ok(200, hawser.admin.get(`${NODES}/${nodeId}`))).parameterProblems).to.equal(count);
      }
      await publishWithChildren(hawser.admin, 'suite', '1.0.0', ['site', 'base']);
      await assign(hawser, nodes.web, 'suite', { isComposite: true });
      const wish = { configuration: 'base', scopeType: 'Node', value: nodes.web.fqdn };
      await ok(200, hawser.admin.put(`${CONFIGURATIONS}/base/settings`, { parameterValidationMode: 'Warn' }));
      await saveParameters(hawser, { ...wish, content: 'parameters: {size: large}' });
      expect(await counts()).to.deep.equal({ app: 2, db: 0, own: 0, web: 3 });
    });

    itOnSqlite(
      'shows none where the configuration brings its own parameters, or no version fits any more',
      async () => {
        await publishBlocks(hawser.admin, 'free', { '1.0.0': DECLARED });
        await assign(hawser, nodes.own, 'free');
        await assign(hawser, nodes.web, 'free');
        expect(await withProblems()).to.equal('app own web');
        await ok(
          200,
          hawser.admin.call('PATCH', `${CONFIGURATIONS}/free`, {
            json: { useServerManagedParameters: false },
          }),
        );
        expect(await withProblems()).to.equal('app');
        hawser.git('configurations/site.git', 'tag', '-d', 'v1.0.0');
        await eventually(async () => expect(await counts()).to.deep.equal({ app: 0, db: 0, own: 0, web: 0 }));
        expect(await withProblems()).to.equal('');
      },
    );

    it('takes a filter by problems, beside all others', async () => {
      await assign(hawser, nodes.web, 'site');
      await tagNode(hawser, nodes.web.nodeId, production);
      expect(await withProblems()).to.equal('app web');
      expect(await withoutProblems()).to.equal('db own');
      expect(await names('?hasParameterProblems=true&fqdn=EB')).to.equal('web');
      expect(await names('?hasParameterProblems=false&fqdn=w')).to.equal('own');
      expect(await names('?hasParameterProblems=true&configurationName=site')).to.equal('app web');
      expect(await names('?hasParameterProblems=true&configurationName=base')).to.equal('');
      expect(await names('?hasParameterProblems=false&configurationName=base')).to.equal('db');
      expect(await names(`?hasParameterProblems=true&scopeValueId=${production}`)).to.equal('web');
      expect(await names(`?hasParameterProblems=false&scopeValueId=${production}`)).to.equal('');
      expect(await names('?hasParameterProblems=true&status=Unknown&lcmStatus=Unknown')).to.equal('app web');
      expect(await names('?hasParameterProblems=true&status=Error')).to.equal('');
      expect(await names('?hasParameterProblems=true&stale=true')).to.equal('');
      expect(await names('?hasParameterProblems=true&stale=false')).to.equal('app web');
      for (const value of ['', 'yes', '1', 'null', 'true&hasParameterProblems=true'])
        await expectInvalid(hawser.admin.get(`${NODES}?hasParameterProblems=${value}`), undefined, value);
    });

    it('knows every change at once', async () => {
      expect(await withProblems()).to.equal('app');
      await assign(hawser, nodes.web, 'site');
      expect(await withProblems()).to.equal('app web');
      const content = 'parameters: {port: 1, name: prod}';
      await saveParameters(hawser, {
        configuration: 'site',
        scopeType: 'Environment',
        value: 'prod',
        content,
      });
      expect(await withProblems()).to.equal('app web');
      await tagNode(hawser, nodes.web.nodeId, production);
      expect(await withProblems()).to.equal('app');
      await ok(204, hawser.admin.delete(`${NODES}/${nodes.web.nodeId}/tags/${production}`));
      expect(await withProblems()).to.equal('app web');
      await saveParameters(hawser, { configuration: 'site', content });
      expect(await withProblems()).to.equal('');
      await publishBlocks(hawser.admin, 'other', { '1.0.0': DECLARED });
      await assign(hawser, nodes.db, 'other');
      expect(await withProblems()).to.equal('db');
      await ok(204, hawser.admin.delete(configurationPath(nodes.db)));
      expect(await withProblems()).to.equal('');
      expect(await withoutProblems()).to.equal('app db own web');
      await hawser.registerNode('new.example.org');
      await ok(204, hawser.admin.delete(`${NODES}/${nodes.own.nodeId}`));
      expect(await withoutProblems()).to.equal('app db new web');
    });

    itOnSqlite('says null of a node whose files cannot be read, until they can', async () => {
      await saveParameters(hawser, { configuration: 'site', content: 'parameters: {port: 1}' });
      expect(await counts()).to.deep.equal({ app: 1, db: 0, own: 0, web: 0 });
      const folder = join(hawser.reposDir, 'parameters', 'site.git');
      renameSync(folder, `${folder}.away`);
      await hawser.restart();
      expect(await counts()).to.deep.equal({ app: null, db: 0, own: 0, web: 0 });
      expect(await withProblems()).to.equal('');
      expect(await withoutProblems()).to.equal('db own web');
      renameSync(`${folder}.away`, folder);
      await eventually(async () => expect(await withProblems()).to.equal('app'));
      expect(await counts()).to.deep.equal({ app: 1, db: 0, own: 0, web: 0 });
    });
  });

  it('of more nodes than fit on a page has each of them once, by name, with the right total', async () => {
    hawser = await startHawser();
    await publishBlocks(hawser.admin, 'site', { '1.0.0': DECLARED });
    await publishBlocks(hawser.admin, 'base', { '1.0.0': {} });
    const ids = await Promise.all(
      ['site', 'base'].map(async (name) => (await ok(200, hawser.admin.get(`${CONFIGURATIONS}/${name}`))).id),
    );
    // Every third node has problems.
    const rows = Array.from({ length: 900 }, (_, at) => ({
      id: newId(),
      fqdn: `n${String((at * 7) % 900).padStart(3, '0')}.example.org`,
      configuration: ids[at % 3 === 0 ? 0 : 1] as string,
    }));
    await insertNodes(hawser, rows);
    const namesOf = (configuration: string | undefined) =>
      rows
        .filter((row) => row.configuration === configuration)
        .map(({ fqdn }) => fqdn)
        .sort();
    for (const [query, expected] of [
      ['hasParameterProblems=true', namesOf(ids[0])],
      ['hasParameterProblems=false', namesOf(ids[1])],
      ['hasParameterProblems=false&fqdn=n1', namesOf(ids[1]).filter((name) => name.startsWith('n1'))],
    ] as const) {
      const found: string[] = [];
      for (let path: string | undefined = `?${query}&take=70`; path !== undefined; ) {
        const page = await list(path);
        expect(page.total, query).to.equal(expected.length);
        found.push(...page.nodes.map(({ fqdn }) => fqdn));
        path = page.next?.slice(page.next.indexOf('?'));
      }
      expect(found, query).to.deep.equal(expected);
    }
    expect((await list('?hasParameterProblems=true&skip=299')).nodes).to.have.length(1);
    expect(await list('?hasParameterProblems=true&skip=300')).to.deep.include({ nodes: [], total: 300 });
    const all = (await list('?take=1000')).nodes;
    expect(all.map(({ parameterProblems }) => parameterProblems)).to.deep.equal(
      all.map(({ fqdn }) => (namesOf(ids[0]).includes(fqdn) ? 2 : 0)),
    );
  });
});

/** Makes nodes in the database, because registering as many would take long. */
function insertNodes(
  hawser: Hawser,
  rows: readonly { id: string; fqdn: string; configuration: string }[],
): Promise<void> {
  const unknown = {
    ...{ configuration_source: null, configuration_mode: null, configuration_mode_interval: null },
    ...{ configuration_mode_interval_ms: null, report_compliance: null, desired_configuration_mode: null },
    ...{ desired_configuration_mode_interval: null, desired_report_compliance: null },
  };
  const term = { not_before: 0, not_after: 9e12, created_at: 1 };
  return withDatabase(hawser, ({ write }) =>
    write.transaction().execute(async (trx) => {
      for (const { id, fqdn, configuration } of rows) {
        const status = { status: 'Unknown', lcm_status: 'Unknown', created_at: 1 };
        await trx
          .insertInto('nodes')
          .values({ id, fqdn, ...status, ...unknown })
          .execute();
        const certificate = { thumbprint: id, node_id: id, state: 'current' as const, subject: 'CN=x' };
        await trx
          .insertInto('node_certificates')
          .values({ ...certificate, ...term })
          .execute();
        const assigned = { configuration_id: configuration, composite_id: null, assigned_at: 1 };
        const any = { major_version: null, prerelease_channel: null };
        await trx
          .insertInto('assignments')
          .values({ node_id: id, ...assigned, ...any })
          .execute();
      }
    }),
  );
}
