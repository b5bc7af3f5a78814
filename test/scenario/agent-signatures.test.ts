// full: SQLite
/** The agent that has a list of those who may sign, before a server that lies. */

import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { HashedFile } from '../../src/domain/signed-tag.ts';
import { sha256Hex } from '../../src/lib/hash.ts';
import { type AgentUnderTest, makeAgent } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeAnswer, type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { newSshKey, type SshKey, signedTag, type TagOf } from '../support/ssh-keys.ts';
import { makeZip, unixMode, type ZipEntry } from '../support/zip.ts';

const MAIN = { name: 'main.dsc.yaml', content: '$schema: x\nresources: []\n' };
const RUN = { name: 'run.sh', content: '#!/bin/sh\n', attributes: unixMode(0o100755) };
const PARAMETERS = { name: 'parameters.yaml', content: 'parameters: {}\n' };
const SIGNATURE = 'GET configuration/signature';
const CHECKSUM = 'GET configuration/checksum';
const BUNDLE = 'GET configuration/bundle';
const [ADA, BOB] = [newSshKey(), newSshKey()];

interface SentReport {
  configurationChecksum?: string;
  result: { hadErrors: boolean; messages: { level: string; message: string }[] };
}

describe('hawser-agent with signers', () => {
  let server: FakeServer;
  let agent: AgentUnderTest;
  /** What the server says of each call, in place of what the support would say. */
  let lies: Record<string, (answer: FakeAnswer) => FakeAnswer>;
  let version: string;

  beforeEach(async () => {
    server = await startFakeServer();
    lies = {};
    version = '1.0.0';
    server.intercept = (call, answer) => {
      const known = call === CHECKSUM && answer.status === 200 ? withVersion(answer) : answer;
      return lies[call]?.(known) ?? known;
    };
    agent = makeAgent({ SERVER: server.url, REGISTRATION_KEY: 'rk_secret' });
    const ca = join(agent.folder, 'ca.crt');
    writeFileSync(ca, server.ca);
    agent.settings['CA_FILE'] = ca;
    agent.settings['SIGNERS'] = join(agent.folder, 'signers');
    allow(ADA);
  });
  afterEach(async () => {
    agent.remove();
    await server.close();
  });

  const withVersion = (answer: FakeAnswer) => ({
    ...answer,
    body: JSON.stringify({ ...JSON.parse(String(answer.body)), version }),
  });
  const allow = (...keys: SshKey[]) =>
    writeFileSync(
      join(agent.folder, 'signers'),
      keys.map(({ publicLine }) => `ada@example.com ${publicLine}\n`).join(''),
    );
  const checksum = () => sha256Hex(server.bundle);
  const hashed = (entries: ZipEntry[]): HashedFile[] =>
    entries.map(({ name, content, attributes }) => ({
      ...{ path: String(name), isExecutable: attributes !== undefined },
      sha256: sha256Hex(content ?? ''),
    }));
  /** Offers a version, whose tag lists these files unless another tag is given. */
  const offer = (entries: ZipEntry[], tag: TagOf & { key?: SshKey; more?: ZipEntry[] } = {}) => {
    version = tag.version ?? '1.0.0';
    server.bundle = makeZip([...entries, ...(tag.more ?? [])]);
    const raw = signedTag(tag.key ?? ADA, {
      configurationName: 'web',
      version,
      files: hashed(entries),
      ...tag,
    });
    const part = { configurationName: 'web', version, folder: '', tagObject: raw.toString('base64') };
    const answer = {
      checksum: checksum(),
      configurationName: 'web',
      version,
      isComposite: false,
      parts: [part],
    };
    lies[SIGNATURE] = () => ({ status: 200, body: JSON.stringify(answer) });
  };
  const reports = (): SentReport[] =>
    server.seen
      .filter(({ call }) => call === 'POST reports')
      .map(({ body }) => JSON.parse(body) as SentReport);
  const lastStatus = () =>
    server.seen
      .filter(({ call }) => call === 'PUT lcm-status')
      .map(({ body }) => JSON.parse(body).lcmStatus as string)
      .at(-1);
  const calls = (call: string) => server.seen.filter((seen) => seen.call === call).length;
  const inUse = () => {
    const link = join(agent.stateDir, 'current');
    return existsSync(link) ? readlinkSync(link).replace('bundles/', '') : null;
  };
  const until = (check: () => boolean) => eventually(async () => expect(check()).to.equal(true));
  const expectRefused = (reason: string, before: string | null = null) => {
    expect(inUse()).to.equal(before);
    const report = reports().at(-1);
    expect(report?.result.hadErrors).to.equal(true);
    expect(report?.result.messages[0]).to.include({ level: 'error' });
    expect(report?.result.messages[0]?.message).to.match(new RegExp(`^signature_refused: ${reason}\\b`));
    expect(report?.configurationChecksum ?? null).to.equal(before);
    expect(lastStatus()).to.equal('Error');
  };

  it('runs what a signer has signed, and goes on with it without the server', async () => {
    offer([MAIN, RUN], { more: [PARAMETERS] });
    server.parametersFile = PARAMETERS.name;
    await agent.cycle(0);
    expect(inUse()).to.equal(checksum());
    expect(agent.runs()).to.have.length(1);
    expect(reports().at(-1)).to.deep.include({ configurationChecksum: checksum() });
    await agent.cycle(0);
    expect([calls(BUNDLE), calls(SIGNATURE)]).to.deep.equal([1, 1]);
    await server.close();
    await agent.once();
    expect(agent.runs()).to.have.length(3);
  });

  const LIES: [name: string, reason: string, lie: () => void][] = [
    ['swaps a file', 'wrong_files', () => offer([MAIN], { files: hashed([RUN]) })],
    [
      'adds an executable bit',
      'wrong_files',
      () => offer([{ ...MAIN, attributes: unixMode(0o100755) }], { files: hashed([MAIN]) }),
    ],
    ['adds a file', 'wrong_files', () => offer([MAIN], { more: [RUN] })],
    [
      'swaps the version',
      'wrong_version',
      () => {
        offer([MAIN], { version: '0.9.0' });
        version = '1.0.0';
      },
    ],
    [
      'swaps the tag for one of another configuration',
      'wrong_name',
      () => offer([MAIN], { configurationName: 'db' }),
    ],
    ['swaps the tag for one of another signer', 'unknown_signer', () => offer([MAIN], { key: BOB })],
    ['swaps the entry point', 'wrong_entry_point', () => offer([MAIN, RUN], { entryPoint: 'run.sh' })],
    [
      'swaps the checksum',
      'wrong_checksum',
      () => {
        offer([MAIN]);
        const honest = lies[SIGNATURE];
        lies[SIGNATURE] = (answer) => {
          const { body } = honest?.(answer) ?? answer;
          return {
            status: 200,
            body: JSON.stringify({ ...JSON.parse(String(body)), checksum: 'd'.repeat(64) }),
          };
        };
      },
    ],
    [
      'names signers of its own',
      'unknown_signer',
      () => {
        offer([MAIN], { key: BOB });
        const honest = lies[SIGNATURE];
        lies[SIGNATURE] = (answer) => {
          const { body } = honest?.(answer) ?? answer;
          const signers = `bob@example.com ${BOB.publicLine}\n`;
          return {
            status: 200,
            body: JSON.stringify({ ...JSON.parse(String(body)), signers, allowedSigners: signers }),
          };
        };
      },
    ],
    [
      'has no such route',
      'no_signature',
      () => {
        offer([MAIN]);
        lies[SIGNATURE] = () => ({ status: 404, body: JSON.stringify({ code: 'not_found', detail: '' }) });
      },
    ],
    [
      'says something else',
      'bad_format',
      () => {
        offer([MAIN]);
        lies[SIGNATURE] = () => ({ status: 200, body: '{"parts": "none"}' });
      },
    ],
  ];
  for (const [name, reason, lie] of LIES)
    it(`takes nothing into use from a server that ${name}`, async () => {
      lie();
      await agent.cycle(1);
      expectRefused(reason);
      expect(agent.runs()).to.deep.equal([]);
      expect(readdirSync(join(agent.stateDir, 'bundles'))).to.deep.equal([]);
      await agent.cycle(1);
      expect(reports()).to.have.length(1);
    });

  it('goes on with what it has, tells of the refusal in each report, and takes what is signed then', async () => {
    offer([MAIN]);
    await agent.cycle(0);
    const before = checksum();
    offer([MAIN, RUN], { version: '1.1.0', key: BOB });
    await agent.cycle(1);
    await agent.cycle(1);
    expectRefused('unknown_signer', before);
    expect(agent.runs()).to.have.length(3);
    expect(reports()).to.have.length(3);
    offer([MAIN, RUN], { version: '1.2.0', more: [PARAMETERS] });
    await agent.cycle(0);
    expect(inUse()).to.equal(checksum());
    expect(reports().at(-1)?.result).to.deep.include({ hadErrors: false });
    expect(lastStatus()).to.equal('Idle');
  });

  it('tries a refused bundle again when its own file of signers has changed, and not before an hour else', async () => {
    agent.settings['INTERVAL'] = 'PT1S';
    offer([MAIN]);
    // The tags are good, and the files are not those that they list.
    server.bundle = makeZip([{ ...MAIN, content: 'resources: [evil]\n' }]);
    const honest = lies[SIGNATURE];
    lies[SIGNATURE] = (answer) => {
      const { body } = honest?.(answer) ?? answer;
      return { status: 200, body: JSON.stringify({ ...JSON.parse(String(body)), checksum: checksum() }) };
    };
    const { child, ended, stdout } = agent.start('run');
    await until(() => calls(CHECKSUM) > 2);
    expect([calls(BUNDLE), calls(SIGNATURE), reports().length]).to.deep.equal([1, 1, 1]);
    allow(ADA, BOB);
    await until(() => calls(BUNDLE) === 2 && lastStatus() === 'Error');
    writeFileSync(join(agent.folder, 'signers'), 'no signer\n');
    await until(() => stdout().includes('the cycle failed'));
    const polls = calls(CHECKSUM);
    await until(() => stdout().split('the cycle failed').length > 2);
    expect(calls(CHECKSUM)).to.equal(polls);
    child.kill('SIGTERM');
    await ended;
    expectRefused('wrong_files');
  });

  it('checks a bundle of before, and the one in use by another file of signers', async () => {
    const { SIGNERS: path = '', ...without } = agent.settings;
    agent.settings = without;
    offer([MAIN]);
    await agent.cycle(0);
    expect(calls(SIGNATURE)).to.equal(0);
    agent.settings['SIGNERS'] = path;
    await agent.cycle(0);
    expect([calls(SIGNATURE), calls(BUNDLE)]).to.deep.equal([1, 1]);
    allow(BOB);
    await agent.cycle(1);
    expect(agent.runs()).to.have.length(2);
    expect(reports().at(-1)?.result.messages[0]?.message).to.match(/^signature_refused: unknown_signer/);
    expect(reports().at(-1)?.configurationChecksum).to.equal(undefined);
    expect(lastStatus()).to.equal('Error');
    allow(BOB, ADA);
    await agent.cycle(0);
    expect(agent.runs()).to.have.length(3);
  });

  it('does not run a bundle of before whose files nobody has signed', async () => {
    const { SIGNERS: path = '', ...without } = agent.settings;
    agent.settings = without;
    offer([MAIN], { files: hashed([RUN]) });
    await agent.cycle(0);
    agent.settings['SIGNERS'] = path;
    await agent.cycle(1);
    expect(agent.runs()).to.have.length(1);
    expect(reports().at(-1)?.result.messages[0]?.message).to.match(/^signature_refused: wrong_files/);
    await server.close();
    await agent.once();
    expect(agent.runs()).to.have.length(1);
  });

  it('refuses an older version where it is told to', async () => {
    offer([MAIN], { version: '2.0.0' });
    await agent.cycle(0);
    const before = checksum();
    offer([MAIN, RUN], { version: '1.0.0' });
    await agent.cycle(1, '--refuse-older');
    expectRefused('older', before);
    offer([MAIN, RUN], { version: '2.0.1', more: [PARAMETERS] });
    await agent.cycle(0, '--refuse-older');
    offer([MAIN, RUN], { version: '1.0.0' });
    await agent.cycle(0);
    expect(inUse()).to.equal(checksum());
  });

  it('ends with 78 where the file cannot be read, is faulty or names nobody', async () => {
    offer([MAIN]);
    const path = join(agent.folder, 'signers');
    for (const [text, message] of [
      ['ada@example.com ssh-dss AAAA\n', /line 1/],
      ['# nobody\n', /names nobody/],
    ] as const) {
      writeFileSync(path, text);
      const { code, stderr } = await agent.once();
      expect(code).to.equal(78);
      expect(stderr).to.match(message);
    }
    agent.settings['SIGNERS'] = join(agent.folder, 'missing');
    expect((await agent.once()).code).to.equal(78);
    expect((await agent.once('--signers', join(agent.folder, 'absent'))).stderr).to.contain('absent');
    expect(server.seen).to.deep.equal([]);
  });

  it('keeps a copy of what register was given, which counts where nothing else is given', async () => {
    const { SIGNERS: path = '', ...without } = agent.settings;
    agent.settings = without;
    writeFileSync(path, 'faulty\n');
    expect((await agent.start('register', '--signers', path).ended).code).to.equal(78);
    expect(server.seen).to.deep.equal([]);
    allow(ADA);
    const { code, stderr } = await agent.start('register', '--signers', path).ended;
    expect(code, stderr).to.equal(0);
    expect(readFileSync(join(agent.stateDir, 'signers'), 'utf8')).to.equal(readFileSync(path, 'utf8'));
    offer([MAIN], { key: BOB });
    await agent.cycle(1);
    expectRefused('unknown_signer');
    allow(BOB);
    await agent.cycle(0, '--signers', path);
    expect(inUse()).to.equal(checksum());
  });
});
