import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeToken } from '../../scripts/fleet/operator.ts';
import { readOptions } from '../../scripts/fleet/options.ts';
import { type FleetReport, runFleet } from '../../scripts/fleet/run.ts';
import { PROJECT } from '../../scripts/support/project.ts';
import type { Target } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { ADMIN_PASSWORD, type Hawser, startHawser } from '../support/hawser.ts';
import { startTamperingProxy, type Tamper } from '../support/tampering-proxy.ts';

const SHORT = ['--nodes', '5', '--seconds', '1.5', '--poll-every', '0.2', '--publish-every', '0.5'];
const ALIKE = ['--rotate', '0', '--configurations', '1'];

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function run(command: string, ...args: string[]): Promise<Ended> {
  return new Promise((ended) => {
    execFile(command, args, { cwd: PROJECT, timeout: 100_000 }, (error, stdout, stderr) => {
      ended({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

const runScript = (...args: string[]) => run(process.execPath, 'scripts/run.js', 'scripts/fleet.ts', ...args);

describe('the fleet simulator', () => {
  it('lets a fleet register, poll, pull, report and rotate against a server of its own, and finds no fault', async () => {
    const size = ['--nodes', '20', '--seconds', '4', '--poll-every', '0.5', '--publish-every', '1'];
    const more = ['--rotate', '0.25', '--configurations', '2'];
    const { code, stdout, stderr } = await run('npm', 'run', 'fleet', '--', ...size, ...more);
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout).to.include('20 of 20 nodes registered');
    expect(stdout).to.match(/[3-9] versions of 2 configurations published, 5 certificates rotated/);
    expect(stdout).to.match(/server CPU [\d.]+ s, [\d.]+ cores; .*; memory [1-9]\d* MiB/);
    const kinds = ['checksum 304', 'bundle 200', 'lcm-status 204', 'report 201', 'retired certificate 401'];
    for (const kind of kinds) expect(stdout).to.match(new RegExp(`^${kind} +[1-9]`, 'm'));
    expect(stdout).to.include('Every answer was right.');
  });

  it('says what is wrong with an option, or with a fleet too large for this machine', async () => {
    const [negative, many] = await Promise.all([
      runScript('--nodes', '0'),
      runScript('--nodes', '50000', '--handshakes', '5000'),
    ]);
    expect(negative).to.include({ code: 1, stdout: '' });
    expect(negative.stderr).to.equal('fleet: --nodes: expected a whole number from 1 to 50000, not "0"\n');
    expect(many).to.include({ code: 1, stdout: '' });
    expect(many.stderr).to.match(/^fleet: --nodes: at most \d+ here, by the limits of open files/);
  });

  describe('against a server that does wrong', () => {
    let hawser: Hawser;
    let token: string;

    before(async () => {
      hawser = await startHawser();
      token = await makeToken(hawser.target(), ADMIN_PASSWORD);
    });

    after(() => hawser.close());

    const live = (target: Target): Promise<FleetReport> => {
      const server = { target, token, pid: null, close: async () => undefined };
      return runFleet(readOptions([...SHORT, ...ALIKE]), server, () => undefined);
    };

    async function faultsUnder(tamper: Tamper): Promise<string[]> {
      const proxy = await startTamperingProxy(hawser, tamper);
      try {
        return (await live(proxy.target)).measurements.faults;
      } finally {
        await proxy.close();
      }
    }

    it('finds no fault where nothing is changed on the way', async () => {
      expect(await faultsUnder((_path, reply) => reply)).to.deep.equal([]);
    });

    const isChecksum = (path: string) => path.endsWith('/checksum');

    it('notices a bundle that does not have its digest', async () => {
      const faults = await faultsUnder((path, reply) => {
        if (path.endsWith('/bundle')) reply.bytes.writeUInt8(reply.bytes.readUInt8(100) ^ 1, 100);
        return reply;
      });
      expect(faults[0]).to.include('the digest of the bundle is sha-256=:').and.include('GET /api/v1/nodes/');
    });

    it('notices a 304 with an ETag that was not sent', async () => {
      const faults = await faultsUnder((_path, reply) =>
        reply.status === 304 ? { ...reply, headers: { ...reply.headers, etag: '"other"' } } : reply,
      );
      expect(faults[0]).to.include('a 304 whose ETag is not the one sent').and.include('< etag: "other"');
    });

    it('notices that two nodes are told different checksums of one version', async () => {
      let asked = 0;
      const faults = await faultsUnder((path, reply) => {
        asked += 1;
        if (!isChecksum(path) || reply.status !== 200 || asked % 2 === 0) return reply;
        const { etag } = reply.headers;
        const checksum = String(etag).slice(1, -1);
        const other = 'f'.repeat(64);
        const bytes = Buffer.from(reply.bytes.toString('utf8').replace(checksum, other));
        return { ...reply, headers: { ...reply.headers, etag: `"${other}"` }, bytes };
      });
      expect(faults.join()).to.match(/version 1\.\d\.0 has checksum .+, to another node it was /);
    });

    it('notices a version that another one has followed already', async () => {
      let first: Parameters<Tamper>[1] | null = null;
      const faults = await faultsUnder((path, reply) => {
        if (!isChecksum(path) || reply.status !== 200) return reply;
        first ??= reply;
        return first;
      });
      expect(faults.join()).to.match(/version 1\.0\.0, although 1\.\d\.0 was published before/);
    });

    it('notices another status than that of the contract', async () => {
      const faults = await faultsUnder((path, reply) =>
        path.endsWith('/lcm-status') ? { ...reply, status: 200 } : reply,
      );
      expect(faults[0]).to.match(/^node-0000\d\.\S+: expected 204, not 200/);
    });

    it('counts a connection that ends without an answer', async () => {
      const faults = await faultsUnder((path, reply) => (path.endsWith('/reports') ? null : reply));
      expect(faults[0]).to.match(/^node-0000\d\.\S+: report: /);
    });

    it('ends with exit code 1 and shows the answer when nodes get what its author has not published', async () => {
      const files = { ca: join(hawser.folder, 'ca.crt'), token: join(hawser.folder, 'token') };
      writeFileSync(files.ca, hawser.target().ca);
      writeFileSync(files.token, token);
      const before = await names();
      const ended = runScript(
        ...['--nodes', '5', '--seconds', '8', '--poll-every', '0.2', '--publish-every', '60', ...ALIKE],
        ...['--url', `https://localhost:${hawser.server.port}`],
        ...['--ca', files.ca, '--token-file', files.token],
      );
      const name = await eventually(async () => {
        const made = (await names()).find((known) => !before.includes(known));
        expect(made).to.be.a('string');
        return String(made);
      });
      await publishBehindItsBack(name);
      const { code, stdout, stderr } = await ended;
      expect(code, stdout + stderr).to.equal(1);
      expect(stdout).to.match(/\d+ wrong answers or errors; the first ones:/);
      expect(stdout).to.include('version 9.0.0 was never published here').and.include('< 200');
    });

    async function names(): Promise<string[]> {
      const { json } = await hawser.admin.get('/api/v1/configurations');
      return json.map((configuration: { name: string }) => configuration.name);
    }

    async function publishBehindItsBack(name: string): Promise<void> {
      const path = `/api/v1/configurations/${name}/versions`;
      const files = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };
      const drafted = await hawser.admin.upload(path, { fields: { version: '9.0.0' }, files });
      expect(drafted.status, drafted.text).to.equal(201);
      expect((await hawser.admin.put(`${path}/9.0.0/publish`)).status).to.equal(200);
    }
  });
});
