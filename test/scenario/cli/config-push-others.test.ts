// everyday: SQLite
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiReply, type ApiServer, startApiServer } from '../../support/api-server.ts';
import { type Cli, expectFailed, makeCli } from '../../support/cli.ts';
import { makeZip } from '../../support/zip.ts';

const YAML = '$schema: x\nresources: []\n';
const DRAFT = {
  version: '1.0.0',
  status: 'Draft',
  withdrawn: null,
  entryPoint: 'main.dsc.yaml',
  commit: 'a',
  findings: [],
};

describe('hawserctl config push --publish, while somebody else changes the draft', () => {
  let server: ApiServer;
  let cli: Cli;
  /** What is there when the draft is looked at again, and how publishing it is answered. */
  let found: object;
  let published: ApiReply;
  before(async () => {
    server = await startApiServer(({ path }) => {
      if (path.endsWith('/publish')) return published;
      if (path.includes('/versions?')) return { headers: { 'X-Total-Count': '1' }, body: [DRAFT] };
      if (path.endsWith('/archive')) return { body: makeZip([{ name: 'main.dsc.yaml', content: YAML }]) };
      return { headers: { ETag: '"seen"' }, body: found };
    });
    cli = await makeCli();
    cli.signIn({ port: Number(new URL(server.url).port), ca: server.ca }, 'pat_x');
    mkdirSync(join(cli.home, 'web'));
    cli.write('web/main.dsc.yaml', YAML);
  });
  after(async () => {
    cli.close();
    await server.close();
  });

  const push = () => cli.run(['config', 'push', 'web', '--publish']);

  it('publishes nothing that it has not seen', async () => {
    found = { ...DRAFT, commit: 'b' };
    expectFailed(
      await push(),
      1,
      'Somebody has changed the draft web 1.0.0 meanwhile. It was not published.',
    );
    expect(server.seen.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
  });

  it('lets the server refuse what has changed since it looked', async () => {
    found = DRAFT;
    published = { status: 412, body: { code: 'precondition_failed', detail: 'It was changed' } };
    expectFailed(await push(), 1, /\nhawserctl: precondition_failed: It was changed\n$/);
    expect(server.seen.at(-1)?.headers['if-match']).to.equal('"seen"');
  });

  it('says that it could not be read whether something is wrong, and publishes', async () => {
    found = { ...DRAFT, findings: null };
    published = { body: { ...DRAFT, status: 'Published' } };
    const { code, stderr } = await push();
    expect(code).to.equal(0);
    expect(stderr).to.match(
      /^Whether something is wrong with web 1\.0\.0 could not be read; "hawserctl config show web 1\.0\.0" asks again\.$/m,
    );
    expect(server.seen.at(-1)?.path).to.match(/\/publish$/);
  });

  it('shows what the server says without obeying it as a terminal', async () => {
    published = {
      status: 409,
      body: {
        code: 'x',
        detail: 'bad \u001b[2J',
        compatibilityReport: { breakingChanges: [{ description: 'gone\u001b[1A' }] },
      },
    };
    const { stderr } = await push();
    expect(stderr).to.include('Breaking: gone\\u001b[1A\n').and.include('bad \\u001b[2J');
    expect(stderr).to.not.include('\u001b');
  });
});
