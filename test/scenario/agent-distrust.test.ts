// full: SQLite
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AgentUnderTest, dscResult, makeAgent } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeAnswer, type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { makeZip } from '../support/zip.ts';

const MAIN = { name: 'main.dsc.yaml', content: '$schema: x\nresources: []\n' };
const PARAMETERS = { name: 'parameters.yaml', content: 'parameters:\n  port: 8080\n' };
const CHECKSUM = 'GET configuration/checksum';
const BUNDLE = 'GET configuration/bundle';

describe('hawser-agent before a server that errs', () => {
  let server: FakeServer;
  let agent: AgentUnderTest;

  beforeEach(async () => {
    server = await startFakeServer();
    server.bundle = makeZip([MAIN]);
    agent = makeAgent({ SERVER: server.url, REGISTRATION_KEY: 'rk_secret' });
    const ca = join(agent.folder, 'ca.crt');
    writeFileSync(ca, server.ca);
    agent.settings['CA_FILE'] = ca;
  });
  afterEach(async () => {
    agent.remove();
    await server.close();
  });

  const statuses = () =>
    server.seen.filter(({ call }) => call === 'PUT lcm-status').map(({ body }) => JSON.parse(body).lcmStatus);
  const tamper = (change: (answer: FakeAnswer) => FakeAnswer) => {
    server.intercept = (call, answer) => (call === BUNDLE ? change(answer) : null);
  };
  const expectNothingKept = () => {
    expect(agent.runs()).to.deep.equal([]);
    expect(existsSync(join(agent.stateDir, 'current'))).to.equal(false);
    expect(readdirSync(join(agent.stateDir, 'bundles'))).to.deep.equal([]);
    expect(readdirSync(agent.folder)).to.have.members(['answer.json', 'ca.crt', 'recorder.mjs', 'state']);
  };

  it('asks with the checksum it has, and hands the parameters to the command', async () => {
    server.bundle = makeZip([MAIN, PARAMETERS]);
    server.parametersFile = PARAMETERS.name;
    await agent.cycle(0);
    await agent.cycle(0);
    const polls = server.seen
      .filter(({ call }) => call === CHECKSUM)
      .map(({ headers }) => headers['if-none-match']);
    const checksum = readlinkSync(join(agent.stateDir, 'current')).replace('bundles/', '');
    expect(polls).to.deep.equal([undefined, `"${checksum}"`]);
    expect(server.seen.filter(({ call }) => call === BUNDLE)).to.have.length(1);
    expect(statuses()).to.deep.equal(['Downloading', 'Testing', 'Idle', 'Testing', 'Idle']);
    const [run] = agent.runs();
    expect(run).to.include({ parameters: PARAMETERS.content });
    expect(run?.parametersFile).to.equal(join(run?.cwd ?? '', PARAMETERS.name));
  });

  it('only keeps the files up to date where it has no command', async () => {
    agent.settings['COMMAND'] = '[]';
    await agent.cycle(0);
    await agent.cycle(0);
    expect(readdirSync(join(agent.stateDir, 'current'))).to.deep.equal([MAIN.name]);
    expect(statuses()).to.deep.equal(['Downloading', 'Idle']);
    expect(server.seen.filter(({ call }) => call === 'POST reports')).to.deep.equal([]);
  });

  const TAMPERED: [string, (answer: FakeAnswer) => FakeAnswer, string][] = [
    [
      'a bundle whose bytes were changed on the way',
      (answer) => ({ ...answer, body: makeZip([{ ...MAIN, content: 'resources: [evil]\n' }]) }),
      'not what its Repr-Digest says',
    ],
    [
      'a bundle without a digest',
      ({ status, headers, body }) => ({
        status,
        headers: { ETag: headers?.['ETag'] ?? '' },
        body: body ?? '',
      }),
      'not what its Repr-Digest says',
    ],
    [
      'a bundle that is cut off',
      (answer) => ({ ...answer, headers: { ...answer.headers, 'Content-Length': '100000' } }),
      'aborted',
    ],
  ];
  for (const [what, change, fault] of TAMPERED) {
    it(`refuses ${what}, and takes the good one the next time`, async () => {
      tamper(change);
      expect(await agent.cycle(1)).to.include(fault);
      expectNothingKept();
      expect(statuses()).to.deep.equal(['Downloading', 'Error']);
      server.intercept = () => null;
      await agent.cycle(0);
      expect(agent.runs()).to.have.length(1);
    });
  }

  it('keeps to the bundle it has when the next one is no good', async () => {
    await agent.cycle(0);
    const link = readlinkSync(join(agent.stateDir, 'current'));
    server.bundle = Buffer.from('no ZIP at all');
    await agent.cycle(1);
    expect(readlinkSync(join(agent.stateDir, 'current'))).to.equal(link);
    expect(agent.runs()).to.have.length(1);
  });

  it('refuses a bundle that climbs out of its folder, and keeps nothing of it', async () => {
    server.bundle = makeZip([MAIN, { name: '../../../escaped', content: 'x' }]);
    await agent.cycle(1);
    expectNothingKept();
  });

  it('polls again when a publish comes between poll and download', async () => {
    const [old, fresh] = [makeZip([MAIN]), makeZip([{ ...MAIN, content: 'resources: [fresh]\n' }])];
    server.bundle = old;
    server.intercept = (call) => {
      if (call === 'PUT lcm-status') server.bundle = fresh;
      return null;
    };
    await agent.cycle(0);
    expect(agent.runs().map((run) => run.document)).to.deep.equal(['resources: [fresh]\n']);
  });

  it('keeps a report that the server cannot take now, and sends it the next time', async () => {
    server.intercept = (call) =>
      call === 'POST reports' ? { status: 429, headers: { 'Retry-After': '60' } } : null;
    await agent.cycle(1);
    agent.settings['COMMAND'] = '[]';
    server.intercept = () => null;
    await agent.cycle(0);
    const reports = server.seen.filter(({ call }) => call === 'POST reports').map(({ body }) => body);
    expect(reports).to.have.length(2);
    expect(reports[1]).to.equal(reports[0]);
    expect(readdirSync(join(agent.stateDir, 'reports'))).to.deep.equal([]);
  });

  for (const [why, status] of [
    ['has no room for reports', 507],
    ['fails on a report', 500],
  ] as const) {
    it(`gets its configuration from a server that ${why}, and asks it once in a cycle`, async () => {
      server.intercept = (call) =>
        call === 'POST reports' ? { status, headers: { 'Retry-After': '60' } } : null;
      expect(await agent.cycle(1))
        .to.include('the server takes no reports')
        .and.not.to.include('is away');
      server.bundle = makeZip([{ ...MAIN, content: 'resources: [next]\n' }]);
      server.seen.length = 0;
      await agent.cycle(1);
      expect(agent.runs().map((run) => run.document)).to.deep.equal([MAIN.content, 'resources: [next]\n']);
      expect(server.seen.filter(({ call }) => call === 'POST reports')).to.have.length(1);
      server.intercept = () => null;
      await agent.cycle(0);
      expect(readdirSync(join(agent.stateDir, 'reports'))).to.deep.equal([]);
    });
  }

  it('drops a report that the server refuses for good, with a line in its log, and sends the others', async () => {
    server.intercept = (call) => (call === 'POST reports' ? { status: 503 } : null);
    for (const word of ['first', 'second', 'third']) {
      agent.answer(dscResult(true, { word }));
      await agent.cycle(1);
    }
    // What will never be taken must not keep the others back. What may be taken later must.
    const refusals: Record<string, number> = { first: 413, second: 201, third: 408 };
    server.seen.length = 0;
    server.intercept = (call) => {
      const body = call === 'POST reports' ? (server.seen.at(-1)?.body ?? '') : '';
      const status = Object.entries(refusals).find(([word]) => body.includes(word))?.[1];
      return status === undefined ? null : { status };
    };
    agent.settings['COMMAND'] = '[]';
    const stdout = await agent.cycle(1);
    expect(
      stdout.split('\n').filter((line) => line.includes('the report is refused and dropped')),
    ).to.have.length(1);
    const folder = join(agent.stateDir, 'reports');
    expect(readdirSync(folder)).to.have.length(1);
    refusals['third'] = 401;
    await agent.cycle(1);
    expect(readdirSync(folder), 'a 401 is about the certificate').to.have.length(1);
    refusals['third'] = 201;
    await agent.cycle(0);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('leaves the server alone for as long as it asks, in seconds or until a date of its own clock', async () => {
    agent.settings['LOG_LEVEL'] = 'debug';
    const refusals = [
      { 'Retry-After': '1' },
      { 'Retry-After': 'Sat, 01 Jan 2000 00:00:02 GMT', Date: 'Sat, 01 Jan 2000 00:00:00 GMT' },
    ];
    server.intercept = (call) => {
      if (call !== 'GET lcm-config') return null;
      const headers = refusals.shift();
      return headers === undefined ? null : { status: 503, headers: headers as Record<string, string> };
    };
    const running = agent.start();
    await eventually(async () => expect(agent.runs()).to.have.length(1));
    running.child.kill('SIGTERM');
    const { code, stdout } = await running.ended;
    expect(code).to.equal(0);
    const waits = [...stdout.matchAll(/"milliseconds":(\d+)/g)].map((match) => Number(match[1]));
    expect(waits[0]).to.be.within(1_000, 1_100);
    expect(waits[1]).to.be.within(2_000, 2_200);
  });
});
