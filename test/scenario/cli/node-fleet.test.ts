// everyday: SQLite
import { expect } from 'chai';
import { type ApiReply, type ApiServer, startApiServer } from '../../support/api-server.ts';
import { type Cli, makeCli } from '../../support/cli.ts';

describe('hawserctl node, in a fleet of any size', () => {
  const fleet = Array.from({ length: 2_500 }, (_, at) => ({ id: `id-${at}`, fqdn: `web${at}.example` }));
  const queryOf = (path: string) => new URL(path, 'https://x').searchParams;
  let cli: Cli;
  let server: ApiServer;
  /** What the server answers to each change of many nodes. */
  let bulk: (nodeIds: readonly string[]) => ApiReply;
  const run = (...words: string[]) => {
    const env = { HAWSER_URL: server.url, HAWSER_TOKEN: 'pat_x', HAWSER_CA_FILE: `${cli.home}/ca.pem` };
    return cli.run(['node', ...words], { env });
  };

  before(async () => {
    cli = await makeCli();
    server = await startApiServer(({ method, path, body }) => {
      if (method === 'POST') return bulk(JSON.parse(body).nodeIds);
      if (path.startsWith('/api/v1/nodes/')) return { body: fleet[1] };
      const query = queryOf(path);
      const [skip, take] = [Number(query.get('skip')), Number(query.get('take'))];
      const headers = { 'X-Total-Count': String(fleet.length) };
      return { headers, body: fleet.slice(skip, skip + take) };
    });
    cli.write('ca.pem', server.ca);
  });
  beforeEach(() => {
    server.seen.length = 0;
    bulk = ({ length }) => ({ body: { done: length, unchanged: 0, failed: [] } });
  });
  after(async () => {
    cli.close();
    await server.close();
  });

  it('reads a node that is named, and no list', async () => {
    expect((await run('unassign', 'web1.example')).code).to.equal(0);
    expect(server.seen.map(({ path }) => path)).to.deep.equal([
      '/api/v1/nodes/web1.example',
      '/api/v1/nodes/bulk',
    ]);
  });

  it('lets the server filter, and changes nodes in slices', async () => {
    const words = ['unassign', '--filter', 'fqdn=web*.example', '--filter', 'configurationName=web', '--yes'];
    const done = await run(...words);
    expect(done).to.include({ code: 0, stdout: 'Took the configuration from 2500 nodes.\n' });
    const [first, ...others] = server.seen;
    expect(queryOf(first?.path ?? '').get('fqdn')).to.equal('.example');
    expect(queryOf(first?.path ?? '').get('configurationName')).to.equal('web');
    const sizes = others.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body).nodeIds.length]));
    expect(sizes).to.deep.equal([1_000, 1_000, 500]);
  });

  it('says how far it came where it is refused on the way', async () => {
    let calls = 0;
    const refusal = { status: 403, body: { code: 'forbidden', detail: 'No more.' } };
    bulk = ({ length }) => (calls++ === 1 ? refusal : { body: { done: length, unchanged: 0, failed: [] } });
    const { code, stdout, stderr } = await run('delete', '--filter', 'fqdn=*', '--yes');
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.equal(
      'Of 2500 nodes the first 1000 were gone through before this.\nhawserctl: forbidden: No more.\n',
    );
  });

  it('shows no control characters of a server to the terminal', async () => {
    const failed = [{ nodeId: 'x', fqdn: 'web\u001b[2J', code: 'x', message: '\u009b31m' }];
    bulk = () => ({ body: { done: 0, unchanged: 0, failed } });
    const { code, stderr } = await run('delete', 'web1.example');
    expect(code).to.equal(1);
    expect(stderr).to.equal('web\\u001b[2J: x: \\u009b31m\n');
  });
});
