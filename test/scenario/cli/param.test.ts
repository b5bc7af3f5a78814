// everyday: SQLite
import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { expectFailed, type RunOptions, rowsOf } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { createToken, publishConfiguration, startHawser } from '../../support/hawser.ts';
import { assign, saveParameters } from '../../support/parameter-files.ts';
import { makeUser } from '../../support/people.ts';
import { ok } from '../../support/replies.ts';
import { createScopeType, createScopeValue } from '../../support/scopes.ts';
import { started } from '../../support/started.ts';

const PROD = ['--scope', 'Environment/prod'];

describe('hawserctl param', () => {
  const hawser = started(startHawser);
  const cli = started(() => signedInCli(hawser));

  const run = (words: readonly string[], options?: RunOptions) => cli.run(['param', ...words], options);
  const setProd = (version: string, content: string) =>
    run(['set', 'web', ...PROD, '--version', version, '-f', '-'], { stdin: content });
  const getProd = async (version: string) =>
    (await run(['get', 'web', ...PROD, '--version', version])).stdout;
  /** An editor that runs this program. */
  const editor = (program: string) => ({
    env: { EDITOR: `${process.execPath} ${cli.write('editor.mjs', program)}` },
  });
  const writing = (text: string) =>
    editor(`import fs from 'node:fs'; fs.writeFileSync(process.argv[2], ${JSON.stringify(text)});`);

  before(async () => {
    await createScopeValue(hawser, await createScopeType(hawser, 'Environment'), 'prod');
  });

  beforeEach(async () => {
    // Each test has a configuration of its own name to begin with.
    await hawser.admin.delete('/api/v1/configurations/web');
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
  });

  it('lists files of a node that was deleted as such', async () => {
    const fqdn = 'web-01.example.org';
    const { nodeId } = await hawser.registerNode(fqdn);
    const scope = { scopeType: 'Node', value: fqdn };
    await saveParameters(hawser, {
      configuration: 'web',
      version: '1.0.0',
      content: 'parameters: {}',
      ...scope,
    });
    const listed = async () =>
      rowsOf((await run(['list', 'web'])).stdout)
        .slice(1)
        .map(([name, , status]) => [name, status]);
    expect(await listed()).to.deep.equal([[`Node/${fqdn}`, 'Published']]);
    await hawser.admin.delete(`/api/v1/nodes/${nodeId}`);
    expect(await listed()).to.deep.equal([[`Node/${fqdn}`, 'Published, of a deleted node']]);
  });

  it('shares the parameters of a scope, restricts them, and takes the grant away', async () => {
    const { username } = await makeUser(hawser, { username: 'keeper' });
    const given = await run(['grant', 'web', username, 'Modify', ...PROD, '--restricted']);
    expect(given).to.deep.include({
      ...{ code: 0, stderr: '' },
      stdout: 'keeper holds Modify on the parameters of Environment/prod of web now.\n',
    });
    await run(['grant', 'web', username, 'Read']);
    const shown = async () =>
      rowsOf((await run(['grants', 'web'])).stdout)
        .slice(1)
        .map((row) => row.slice(0, -1));
    expect(await shown()).to.deep.equal([
      ['keeper', 'user', 'Read', 'all', '-'],
      ['keeper', 'user', 'Modify', 'Environment/prod', 'yes'],
    ]);
    await run(['grant', 'web', username, 'Read', ...PROD, '--open']);
    expect((await shown())[1]).to.deep.equal(['keeper', 'user', 'Read', 'Environment/prod', '-']);
    await run(['grant', 'web', username, 'None', ...PROD]);
    expect(await shown()).to.have.length(1);
    for (const [words, message] of [
      [['--restricted', '--open', ...PROD], /Say --restricted or --open/],
      [['--restricted'], /go with a level and a --scope/],
    ] as const)
      expectFailed(await run(['grant', 'web', username, 'Read', ...words]), 2, message);
    expectFailed(
      await run(['grant', 'web', username, 'Read', '--scope', 'Environment', '--restricted']),
      1,
      'validation_failed',
    );
  });

  it('makes a draft, replaces it, publishes it and says what is next', async () => {
    const file = cli.write('values.yaml', 'parameters:\n  port: 1\n');
    const words = ['set', 'web', ...PROD, '--version', '1.2.0', '-m', 'why'];
    const made = await run([...words, '-f', 'values.yaml']);
    expect(made).to.deep.equal({
      code: 0,
      stdout: 'The draft 1.2.0 of the parameters of web for Environment/prod is made.\n',
      stderr: 'Next: "hawserctl param publish web --scope Environment/prod --version 1.2.0" publishes it.\n',
    });
    expect(await getProd('1.2.0')).to.equal(readFileSync(file, 'utf8'));
    const again = await run([...words, '-f', 'values.yaml']);
    expect(again.stdout).to.equal(
      'Version 1.2.0 of the parameters of web for Environment/prod has this content already. Nothing was changed.\n',
    );
    expect((await setProd('1.2.0', 'parameters:\n  port: 2\n')).stdout).to.match(/ is replaced\.\n$/);
    expect(await getProd('1.2.0')).to.equal('parameters:\n  port: 2\n');

    const published = await run(['publish', 'web', ...PROD, '--version', '1.2.0']);
    expect(published).to.include({ code: 0 });
    expect(published.stdout).to.match(
      /^Version 1\.2\.0 of the parameters of web for Environment\/prod is published\./m,
    );
    expectFailed(
      await setProd('1.2.0', 'parameters: {}\n'),
      1,
      /^hawserctl: published_version: .*Say another version/,
    );
    const twice = await run(['publish', 'web', ...PROD, '--version', '1.2.0']);
    expect(twice).to.include({ code: 1 });
    expect(twice.stderr).to.match(/^hawserctl: already_published: /);
  });

  it('keeps JSON as JSON, skips a scope on purpose, and prints what the API answers', async () => {
    cli.write('values.json', '{"parameters": {"port": 1}}');
    const words = ['set', 'web', '--scope', 'default', '--version', '1.0.0'];
    const saved = await run([...words, '-f', 'values.json', '--json']);
    expect(JSON.parse(saved.stdout)).to.include({ contentType: 'application/json', status: 'Draft' });
    expect((await run([...words, '--passthrough'])).code).to.equal(0);
    const got = await run(['get', 'web', '--scope', 'Default']);
    expect(got).to.include({ code: 0, stdout: '' });
    expect(got.stderr).to.match(/passthrough/);
  });

  it('lists the files of all scopes', async () => {
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {}' });
    await setProd('1.0.0', 'parameters: {a: 1}\n');
    const listed = rowsOf((await run(['list', 'web'])).stdout);
    expect(listed.map((cells) => cells.slice(0, 3))).to.deep.equal([
      ['SCOPE', 'VERSION', 'STATUS'],
      ['Default', '1.0.0', 'Published'],
      ['Environment/prod', '1.0.0', 'Draft'],
    ]);
    const { text } = await hawser.admin.get('/api/v1/configurations/web/parameter-files');
    expect(JSON.parse((await run(['list', 'web', '--json'])).stdout)).to.deep.equal(JSON.parse(text));
    expect(rowsOf((await run(['list', 'web', '--scope', 'Environment'])).stdout)).to.have.length(2);
    expect(rowsOf((await run(['list', 'web', '--filter', 'status=Draft'])).stdout)).to.have.length(2);
    expectFailed(await run(['list', 'none']), 1, /^hawserctl: not_found: /);
  });

  it('prints the highest published version unless another is said', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0'])
      await setProd(version, `parameters: {v: ${version}}\n`);
    const draft = await run(['get', 'web', ...PROD]);
    expect(draft).to.deep.include({ code: 0, stdout: 'parameters: {v: 1.2.0}\n' });
    expect(draft.stderr).to.equal('This is version 1.2.0 (Draft).\n');
    await run(['publish', 'web', ...PROD, '--version', '1.1.0']);
    expect((await run(['get', 'web', ...PROD])).stdout).to.equal('parameters: {v: 1.1.0}\n');
    expect(await getProd('1.0.0')).to.equal('parameters: {v: 1.0.0}\n');
    const json = JSON.parse((await run(['get', 'web', ...PROD, '--json'])).stdout);
    expect(json).to.include({ version: '1.1.0', content: 'parameters: {v: 1.1.0}\n' });
    expect((await run(['get', 'web', ...PROD, '--version', '9.0.0'])).code).to.equal(1);
    const nothing = await run(['get', 'web', '--scope', 'Default']);
    expect(nothing.stderr).to.equal(
      'hawserctl: not_found: There are no versions of the parameters of web for Default.\n',
    );
  });

  it('withdraws what is published after it has said whom that concerns, and offers it again', async () => {
    const { nodeId } = await hawser.registerNode(`taken-back-${Math.random()}.example.org`);
    await assign(hawser, { nodeId }, 'web');
    for (const version of ['1.0.0', '1.1.0'])
      await saveParameters(hawser, {
        configuration: 'web',
        version,
        content: `parameters: {v: ${version}}\n`,
      });
    const named = ['web', '--scope', 'Default', '--version', '1.1.0'];
    const label = 'ersion 1.1.0 of the parameters of web for Default';
    expect((await run(['withdraw', ...named, '--dry-run'])).stdout).to.equal(
      `V${label} is offered to 1 node. Nothing was changed.\nWOULD GET  NODES\n1.0.0      1\n`,
    );
    expectFailed(await run(['withdraw', ...named]), 2, /Say why it is withdrawn by -m/);
    expectFailed(
      await run(['withdraw', ...named, '-m', 'the port is taken']),
      1,
      /^hawserctl: Version 1\.1\.0 of .* is offered to 1 node: 1 would get 1\.0\.0\. Withdraw it\? Nothing was done: /,
    );
    expect((await run(['get', 'web', '--scope', 'Default'])).stdout).to.contain('1.1.0');
    expect(await run(['withdraw', ...named, '-m', 'the port is taken', '--yes'])).to.deep.equal({
      code: 0,
      stdout: `V${label} is withdrawn. Nodes get the next version that fits at their next poll.\n`,
      stderr: '"hawserctl param restore web --scope Default --version 1.1.0" offers it again.\n',
    });
    const statuses = async () => rowsOf((await run(['list', 'web'])).stdout).map((cells) => cells[2]);
    expect(await statuses()).to.deep.equal(['STATUS', 'Withdrawn', 'Published']);
    expect((await run(['get', 'web', '--scope', 'Default'])).stdout).to.contain('1.0.0');
    expect((await run(['restore', ...named])).stdout).to.equal(
      `V${label} is offered again. Nodes that it is for get it at their next poll.\n`,
    );
    expect(await statuses()).to.deep.equal(['STATUS', 'Published', 'Published']);
    expectFailed(await run(['restore', ...named]), 1, /^hawserctl: not_found: /);
    // A configuration that is assigned is not deleted.
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${nodeId}`));
  });

  it('lets a terminal obey nothing of what a file holds', async () => {
    await setProd('1.0.0', 'parameters: {a: "\u009b31m"}\n');
    const { stdout } = await cli.runInTerminal(['param', 'get', 'web', ...PROD], []);
    expect(stdout).to.include('\\u009b31m').and.not.include('\u009b');
  });

  it('says what a schema refuses, and where', async () => {
    const files = { 'main.dsc.yaml': '$schema: x\nparameters:\n  port: {type: int}\nresources: []\n' };
    await hawser.admin.upload('/api/v1/configurations/web/versions', { fields: { version: '2.0.0' }, files });
    await hawser.admin.put('/api/v1/configurations/web/versions/2.0.0/publish');
    expectFailed(
      await setProd('2.0.0', 'parameters: {port: x}\n'),
      1,
      /^hawserctl: validation_failed: .*\n {2}\/parameters\/port: /,
    );
  });

  for (const [words, message] of [
    [['set', 'web', '--version', '1.0.0', '-f', '-'], /Say --scope, such as/],
    [['set', 'web', ...PROD, '-f', '-'], /Say --version, such as/],
    [['set', 'web', ...PROD, '--version', 'v1.0.0', '-f', '-'], /drop the v/],
    [['set', 'web', ...PROD, '--version', '1.0.0'], /-f FILE/],
    [
      ['set', 'web', '--scope', 'Environment', '--version', '1.0.0', '-f', '-'],
      /say Default alone, or the value/,
    ],
    [
      ['set', 'web', '--scope', 'Default/x', '--version', '1.0.0', '-f', '-'],
      /say Default alone, or the value/,
    ],
    [['get', 'web', '--scope', '/prod'], /TYPE\/VALUE/],
    [['edit', 'web', ...PROD], /VISUAL or EDITOR/],
  ] as const)
    it(`calls "param ${words.join(' ')}" wrong usage`, async () => {
      expectFailed(await run(words), 2, message);
    });

  it('names what is not there', async () => {
    for (const [words, message] of [
      [
        ['set', 'web', '--scope', 'Env/prod', '--version', '1.0.0', '-f', '-'],
        /no scope type "Env"\. There are .*Environment/,
      ],
      [['set', 'none', ...PROD, '--version', '1.0.0', '-f', '-'], /no configuration "none"/],
      [
        ['set', 'web', '--scope', 'Node/none.example', '--version', '1.0.0', '-f', '-'],
        /unknown_node|none\.example/,
      ],
      [['set', 'web', ...PROD, '--version', '1.0.0', '-f', 'none.yaml'], /none\.yaml cannot be read: ENOENT/],
      [['explain', 'none.example'], /no node "none\.example"/],
    ] as const) {
      expectFailed(await run(words, { stdin: 'parameters: {}\n' }), 1, message);
    }
    cli.write('latin', Buffer.from([0xe4, 0x0a]));
    const latin = await run(['set', 'web', ...PROD, '--version', '1.0.0', '-f', 'latin']);
    expect(latin).to.include({ code: 1, stderr: 'hawserctl: latin is no text in UTF-8.\n' });
  });

  it('is enough to hold a grant on the parameters alone', async () => {
    await setProd('1.0.0', 'parameters: {a: 1}\n');
    const grants = [{ on: 'parameters', name: 'web', level: 'Modify' }] as const;
    const { session } = await makeUser(hawser, { username: 'setter', grants });
    const token = await createToken(hawser.client(), session, ['parameters.grants']);
    const env = {
      HAWSER_URL: `https://localhost:${hawser.target().port}`,
      HAWSER_TOKEN: token,
      HAWSER_CA_FILE: cli.write('ca.pem', hawser.target().ca),
    };
    const words = ['set', 'web', '--scope', 'Default', '--version', '1.0.0', '-f', '-'];
    const made = await run(words, { env, stdin: 'parameters: {}\n' });
    expect(made).to.include({
      code: 0,
      stdout: 'The draft 1.0.0 of the parameters of web for Default is made.\n',
    });
  });

  describe('edit', () => {
    it('makes a draft above what is published, and then edits that', async () => {
      await saveParameters(hawser, { configuration: 'web', content: 'parameters: {a: 1}\n' });
      const words = ['edit', 'web', '--scope', 'Default'];
      const made = await run(words, writing('parameters: {a: 2}\n'));
      expect(made).to.include({
        code: 0,
        stdout: 'The draft 1.0.1 of the parameters of web for Default is made.\n',
      });
      const changed = await run(words, writing('parameters: {a: 3}\n'));
      expect(changed.stdout).to.equal('The draft 1.0.1 of the parameters of web for Default is replaced.\n');
      const path = await run(['get', 'web', '--scope', 'Default', '--version', '1.0.1']);
      expect(path.stdout).to.equal('parameters: {a: 3}\n');
    });

    it('opens what $VISUAL says with the content that is there, and says if nothing was changed', async () => {
      await setProd('1.0.0', 'parameters: {a: 1}\n');
      const copy = editor(
        `import fs from 'node:fs'; fs.copyFileSync(process.argv[2], ${JSON.stringify(`${cli.home}/seen`)});`,
      );
      const env = { VISUAL: copy.env.EDITOR, EDITOR: 'false' };
      const same = await run(['edit', 'web', ...PROD], { env });
      expect(same).to.deep.equal({ code: 0, stdout: 'Nothing was changed.\n', stderr: '' });
      expect(readFileSync(`${cli.home}/seen`, 'utf8')).to.equal('parameters: {a: 1}\n');
      expect(JSON.parse((await run(['list', 'web', '--json'])).stdout)).to.have.length(1);
    });

    it('sends nothing if the editor fails', async () => {
      expectFailed(
        await run(['edit', 'web', ...PROD], { env: { EDITOR: 'false' } }),
        1,
        /The editor "false" ended with 1\. Nothing was sent/,
      );
    });

    for (const [what, before] of [
      ['changed', true],
      ['made', false],
    ] as const)
      it(`does not overwrite a draft that somebody else has ${what} meanwhile, and keeps the text`, async () => {
        if (before) await setProd('1.0.0', 'parameters: {a: 1}\n');
        const words = ['param', 'set', 'web', ...PROD, '--version', '1.0.0', '-f', '-'];
        const meanwhile = editor(`
          import fs from 'node:fs';
          import { spawnSync } from 'node:child_process';
          const words = ${JSON.stringify([cli.program(), ...words])};
          spawnSync(process.execPath, words, { input: 'parameters: {theirs: 1}\\n' });
          fs.writeFileSync(process.argv[2], 'parameters: {mine: 1}\\n');`);
        // The program that the editor starts needs the environment of a process of its own.
        const edit = ['param', 'edit', 'web', ...PROD];
        const { code, stdout, stderr } = await cli.runProcess(edit, meanwhile);
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr).to.match(
          before ? /^hawserctl: precondition_failed: /m : /^hawserctl: version_exists: /m,
        );
        const [, kept = ''] = /Your text is kept in (.*)\.\n/.exec(stderr) ?? [];
        expect(readFileSync(kept, 'utf8')).to.equal('parameters: {mine: 1}\n');
        rmSync(dirname(kept), { recursive: true });
        expect(await getProd('1.0.0')).to.equal('parameters: {theirs: 1}\n');
      });
  });
});
