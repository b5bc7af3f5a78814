// full: SQLite, PostgreSQL
import { X509Certificate } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sha256Hex } from '../../src/lib/hash.ts';
import { createAuthority, issueServerCertificate } from '../../src/security/certificate-authority.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { type Machine, makeMachine } from '../support/join-line.ts';
import { describeWith, itWith } from '../support/optional-tools.ts';
import { steadyPort } from '../support/ports.ts';
import { buildOnce } from '../support/program.ts';
import { ok } from '../support/replies.ts';
import { startTamperingProxy, type Tamper } from '../support/tampering-proxy.ts';

const KEYS = '/api/v1/admin/registration-keys';
const AGENT = '/download/hawser-agent.mjs';
const CA = '/api/v1/ca.pem';
/** A terminal may take no more in one line. */
const LINE = 4095;

interface Made {
  id: string;
  key: string;
  joinCommand: string;
}

/** Starts a server that knows its own address. */
async function startKnown(settings: Record<string, string> = {}): Promise<{ hawser: Hawser; url: string }> {
  const port = await steadyPort();
  const url = `https://localhost:${port}`;
  const hawser = await startHawser({ HAWSER_PORT: String(port), HAWSER_PUBLIC_URL: url, ...settings });
  return { hawser, url };
}

describe('the line that joins a machine', () => {
  let hawser: Hawser;
  let url: string;
  let fingerprint: string;
  let machine: Machine;
  let made: Made;
  let count = 0;

  before(async () => {
    buildOnce();
    ({ hawser, url } = await startKnown());
    fingerprint = new X509Certificate(hawser.target().ca).fingerprint256.replaceAll(':', '').toLowerCase();
  });
  after(() => hawser.close());
  beforeEach(async () => {
    count += 1;
    machine = makeMachine(`machine-${count}.example.org`);
    made = await ok(201, hawser.admin.post(KEYS, { maxUses: 1 }));
  });
  afterEach(() => machine.remove());

  const uses = async () => {
    const all: (Made & { currentUses: number })[] = await ok(200, hawser.admin.get(KEYS));
    return all.find(({ id }) => id === made.id)?.currentUses;
  };
  const expectRefusal = async (line: string, message: RegExp, variables: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await machine.run(line, variables);
    expect(code, stdout + stderr).to.equal(3);
    expect(stderr).to.match(message);
    // Node itself warns of an environment that verifies nothing.
    expect(stderr.replace(/^\(.*\n/gm, '')).to.match(/^hawser: [^\n]+\n$/);
    expect(existsSync(join(machine.folder, 'hawser-agent'))).to.equal(false);
    expect(await uses()).to.equal(0);
  };
  const withProxy = async (tamper: Tamper, work: (line: string) => Promise<void>) => {
    const proxy = await startTamperingProxy(hawser, tamper);
    try {
      await work(made.joinCommand.replace(url, `https://localhost:${proxy.target.port}`));
    } finally {
      await proxy.close();
    }
  };
  /** Runs the line with another agent, which the line expects. */
  const withAgent = async (text: string, variables: Record<string, string> = {}) => {
    const tamper: Tamper = (path, reply) => (path === AGENT ? { ...reply, bytes: Buffer.from(text) } : reply);
    const proxy = await startTamperingProxy(hawser, tamper);
    try {
      const line = made.joinCommand
        .replace(url, `https://localhost:${proxy.target.port}`)
        .replace(/'[0-9a-f]{64}'$/, `'${sha256Hex(text)}'`);
      return await machine.run(line, variables);
    } finally {
      await proxy.close();
    }
  };

  it('is one line that every shell takes as it is, with the key, the fingerprint and the digest', async () => {
    const { joinCommand, key } = made;
    expect(joinCommand).to.have.length.below(LINE);
    // Between single quotes a shell changes nothing but these.
    expect(joinCommand)
      .to.match(/^[\x20-\x7e]+$/)
      .and.not.match(/[\\!]/);
    const etag = String((await hawser.client().call('HEAD', AGENT)).headers['etag']);
    expect(joinCommand.startsWith(`HAWSER_AGENT_REGISTRATION_KEY='${key}' node -e '`)).to.equal(true);
    expect(joinCommand).to.include(` '${url}' '${fingerprint}' '${etag.slice(1, -1)}`);
  });

  for (const shell of ['dash', 'bash'] as const) {
    describeWith([shell], `in ${shell}`, () => {
      it('gets what the machine needs, and registers it', async () => {
        const { code, stdout, stderr } = await machine.run(made.joinCommand, {}, shell);
        expect(code, stdout + stderr).to.equal(0);
        const nodes = await ok(200, hawser.admin.get(`/api/v1/nodes?fqdn=machine-${count}.example.org`));
        expect(nodes).to.have.lengthOf(1);
        expect(await uses()).to.equal(1);
      });
    });
  }

  it('does the same as a script', async () => {
    const { id, key } = made;
    const wanted = { key, shell: 'sh', agent: 'hawser' };
    const { line, script } = await ok(200, hawser.admin.post(`${KEYS}/${id}/join-line`, wanted));
    expect(line).to.equal(made.joinCommand);
    writeFileSync(join(machine.folder, 'join.sh'), script);
    const { code, stdout, stderr } = await machine.run('sh join.sh');
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout).to.include(`machine-${count}.example.org is registered at ${url}`).and.not.include(key);
    expect(await uses()).to.equal(1);
  });

  it('leaves the agent, the authority and settings in a folder of their own, and the key nowhere', async () => {
    const { code, stdout, stderr } = await machine.run(made.joinCommand);
    expect(code, stdout + stderr).to.equal(0);
    expect(statSync(join(machine.folder, 'hawser-agent')).mode & 0o777).to.equal(0o700);
    expect(JSON.parse(machine.read('hawser-agent/settings.json'))).to.deep.equal({
      ...{ server: url, name: `machine-${count}.example.org`, stateDir: 'state', caFile: 'ca.pem' },
    });
    expect(new X509Certificate(machine.read('hawser-agent/ca.pem')).fingerprint256).to.equal(
      new X509Certificate(hawser.target().ca).fingerprint256,
    );
    expect(machine.read('hawser-agent/hawser-agent.mjs')).to.equal(
      (await hawser.client().get(AGENT)).bytes.toString(),
    );
    const found = await machine.run(`grep -rlF '${made.key}' . || true`);
    expect(found.stdout).to.equal('');
    expect(stdout + stderr).to.not.include(made.key);
    // What it has left is enough for the agent.
    const again = await machine.run(
      'node hawser-agent/hawser-agent.mjs run --once --config hawser-agent/settings.json',
    );
    expect(again.code, again.stdout + again.stderr).to.equal(0);
    expect(again.stdout).to.include(
      `hawserctl node assign machine-${count}.example.org --configuration NAME`,
    );
  });

  it('names the key in no argument of a program', async () => {
    const shim = join(machine.folder, 'node');
    writeFileSync(shim, `#!/bin/sh\nprintf '%s ' "$@" >arguments\nexec '${process.execPath}' "$@"\n`);
    chmodSync(shim, 0o755);
    const path = `${machine.folder}:${process.env['PATH']}`;
    const { code, stderr } = await machine.run(made.joinCommand, { PATH: path });
    expect(code, stderr).to.equal(0);
    expect(machine.read('arguments')).to.include(fingerprint).and.not.include(made.key);
  });

  it('trusts no other authority than the one of its fingerprint', async () => {
    const other = fingerprint.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    await expectRefusal(made.joinCommand.replace(fingerprint, other), /the authority of .* is not the one/);
  });

  it('is not led by a second authority behind the right one, nor by an environment that verifies nothing', async () => {
    const another = await createAuthority(Date.now());
    const { certificate: cert, key } = await issueServerCertificate(another, ['localhost'], Date.now());
    const paths: string[] = [];
    const impostor = createServer({ cert, key }, (request, response) => {
      paths.push(request.url ?? '');
      response.end(hawser.target().ca + another.certificate);
    });
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
    try {
      const there = `https://localhost:${(impostor.address() as AddressInfo).port}`;
      await expectRefusal(made.joinCommand.replace(url, there), /unable to verify|certificate/, {
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      });
      // It has got nowhere near the agent, and nothing was sent that somebody could use.
      expect(paths).to.deep.equal([CA]);
    } finally {
      impostor.closeAllConnections();
      impostor.close();
    }
  });

  it('lets no environment keep the agent from verifying the server', async () => {
    const { code, stdout } = await withAgent('process.stdout.write(JSON.stringify(process.env))', {
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      HAWSER_AGENT_SERVER: 'https://elsewhere.example.org',
      HAWSER_AGENT_CA_FILE: '/etc/another.pem',
    });
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.not.have.any.keys(
      ...['NODE_TLS_REJECT_UNAUTHORIZED', 'HAWSER_AGENT_SERVER', 'HAWSER_AGENT_CA_FILE'],
    );
    const settings = JSON.parse(machine.read('hawser-agent/settings.json'));
    expect(settings).to.include({ caFile: 'ca.pem' });
    expect(settings.server).to.match(/^https:\/\/localhost:/);
  });

  it('fails where the agent was killed', async () => {
    expect((await withAgent("process.kill(process.pid, 'SIGKILL')")).code).to.equal(1);
  });

  it('keeps only the certificate that it has compared', async () => {
    const another = await createAuthority(Date.now());
    const tamper: Tamper = (path, reply) =>
      path === CA
        ? { ...reply, bytes: Buffer.concat([reply.bytes, Buffer.from(another.certificate)]) }
        : reply;
    await withProxy(tamper, async (line) => {
      await machine.run(line);
      expect(machine.read('hawser-agent/ca.pem').match(/BEGIN CERTIFICATE/g)).to.have.lengthOf(1);
    });
  });

  it('runs no agent of another digest', async () => {
    const tamper: Tamper = (path, reply) =>
      path === AGENT ? { ...reply, bytes: Buffer.concat([reply.bytes, Buffer.from('\n')]) } : reply;
    await withProxy(tamper, (line) => expectRefusal(line, /the agent at .* is not the one/));
  });

  it('says what is wrong with the way to the server', async () => {
    const failing: [Tamper, RegExp][] = [
      [(path, reply) => (path === AGENT ? null : reply), /socket hang up|ECONNRESET/],
      [
        (path, reply) => (path === AGENT ? { ...reply, status: 404 } : reply),
        /hawser-agent\.mjs answers 404/,
      ],
      [(_, reply) => ({ ...reply, bytes: Buffer.from('no certificate') }), /^hawser: https:/],
    ];
    for (const [tamper, message] of failing) await withProxy(tamper, (line) => expectRefusal(line, message));
    const nowhere = made.joinCommand.replace(url, `https://localhost:${await steadyPort()}`);
    await expectRefusal(nowhere, /ECONNREFUSED/);
    const misnamed = made.joinCommand.replace(url, url.replace('localhost', '127.0.0.2'));
    await expectRefusal(misnamed, /IP: 127\.0\.0\.2|ECONNREFUSED/);
  });

  it('refuses a folder that is a link, or that others can change, and touches nothing in it', async () => {
    mkdirSync(join(machine.folder, 'elsewhere'), { mode: 0o700 });
    symlinkSync('elsewhere', join(machine.folder, 'hawser-agent'));
    const expectUntouched = async () => {
      const { code, stderr } = await machine.run(made.joinCommand);
      expect(code).to.equal(3);
      expect(stderr).to.match(/^hawser: the folder hawser-agent is a link, .* Go to another folder/);
      expect(readdirSync(join(machine.folder, 'hawser-agent'))).to.deep.equal([]);
      expect(await uses()).to.equal(0);
    };
    await expectUntouched();
    rmSync(join(machine.folder, 'hawser-agent'));
    mkdirSync(join(machine.folder, 'hawser-agent'));
    chmodSync(join(machine.folder, 'hawser-agent'), 0o777);
    await expectUntouched();
  });

  const root = { isMet: process.getuid?.() === 0, otherwise: 'only root can give a folder to another user' };
  itWith([root], 'refuses the folder of another user', async () => {
    mkdirSync(join(machine.folder, 'hawser-agent'), { mode: 0o700 });
    chownSync(join(machine.folder, 'hawser-agent'), 1, 1);
    const { code, stderr } = await machine.run(made.joinCommand);
    expect(code).to.equal(3);
    expect(stderr).to.include('belongs to somebody else');
    expect(readdirSync(join(machine.folder, 'hawser-agent'))).to.deep.equal([]);
  });

  it('runs nothing that stands in the folder, but what it has compared', async () => {
    mkdirSync(join(machine.folder, 'hawser-agent'), { mode: 0o700 });
    for (const name of ['hawser-agent.mjs', 'settings.json', 'ca.pem'])
      writeFileSync(join(machine.folder, 'hawser-agent', name), 'process.exit(66);');
    const { code, stdout, stderr } = await machine.run(made.joinCommand);
    expect(code, stdout + stderr).to.equal(0);
    expect(await uses()).to.equal(1);
    expect(sha256Hex(machine.read('hawser-agent/hawser-agent.mjs'))).to.equal(
      sha256Hex((await hawser.client().get(AGENT)).bytes.toString()),
    );
  });

  it('leaves nothing behind a failed join that stops the next one, whatever its name and key', async () => {
    await ok(204, hawser.admin.delete(`${KEYS}/${made.id}`));
    const failed = await machine.run(made.joinCommand, { HAWSER_AGENT_NAME: 'wrong.example.org' });
    expect(failed.code).to.equal(1);
    expect(failed.stderr)
      .to.include('registration_key_rejected')
      .and.include('hawserctl key create --join')
      .and.not.include(made.key);
    expect((await machine.run(made.joinCommand)).code).to.equal(1);
    const next = await ok(201, hawser.admin.post(KEYS, { maxUses: 1 }));
    const { code, stdout, stderr } = await machine.run(next.joinCommand);
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout).to.include(`machine-${count}.example.org is registered at ${url} as `);
  });

  it('says what to do about a state that is damaged', async () => {
    const damaged = (name: string) => {
      mkdirSync(join(machine.folder, 'hawser-agent/state'), { recursive: true, mode: 0o700 });
      writeFileSync(join(machine.folder, 'hawser-agent/state', name), 'x');
      return machine.run(made.joinCommand);
    };
    const identity = await damaged('identity.pem');
    expect(identity.code).to.equal(1);
    expect(identity.stderr).to.match(/state\/identity\.pem is damaged\. Remove this folder, and register/);
    rmSync(join(machine.folder, 'hawser-agent'), { recursive: true });
    const node = await damaged('node.json');
    expect(node.code).to.equal(3);
    expect(node.stderr).to.include('a node of an unknown server. Go to another folder');
    expect(await uses()).to.equal(0);
  });

  describe('on a machine that has joined', () => {
    let id: string;
    beforeEach(async () => {
      const { code, stdout, stderr } = await machine.run(made.joinCommand);
      expect(code, stdout + stderr).to.equal(0);
      [{ id }] = await ok(200, hawser.admin.get(`/api/v1/nodes?fqdn=machine-${count}.example.org`));
    });
    const expectKnown = async (line: string) => {
      const { code, stdout, stderr } = await machine.run(line, { HAWSER_AGENT_NAME: 'other.example.org' });
      expect(code, stdout + stderr).to.equal(0);
      expect(stdout).to.include(`machine-${count}.example.org was registered before at ${url} as ${id}\n`);
    };

    it('says who it is, and uses no key', async () => {
      const other = await ok(201, hawser.admin.post(KEYS, { maxUses: 1 }));
      await ok(204, hawser.admin.delete(`${KEYS}/${made.id}`));
      await expectKnown(made.joinCommand);
      await expectKnown(other.joinCommand);
      const keys: { id: string; currentUses: number }[] = await ok(200, hawser.admin.get(KEYS));
      expect(keys.find((key) => key.id === other.id)?.currentUses).to.equal(0);
    });

    it('says so also while its agent runs', async () => {
      const agent = machine.start(
        'exec node hawser-agent/hawser-agent.mjs run --config hawser-agent/settings.json',
      );
      await eventually(async () => expect(agent.stdout()).to.include('waits for its first assignment'));
      await expectKnown(made.joinCommand);
      agent.child.kill('SIGTERM');
      expect((await agent.ended).code).to.equal(0);
    });

    it('refuses the line of another server, and says what to do', async () => {
      const { hawser: another, url: there } = await startKnown();
      try {
        const { joinCommand } = await ok(201, another.admin.post(KEYS, {}));
        const { code, stderr } = await machine.run(joinCommand);
        expect(code).to.equal(3);
        expect(stderr).to.include(`holds a node of ${url}. Go to another folder`).and.not.include(there);
      } finally {
        await another.close();
      }
      await expectKnown(made.joinCommand);
    });
  });

  it('keeps the command and the name that were given with it', async () => {
    const command = ['sh', '-c', 'true'];
    const { code, stderr } = await machine.run(made.joinCommand, {
      HAWSER_AGENT_COMMAND: JSON.stringify(command),
    });
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(machine.read('hawser-agent/settings.json'))).to.deep.include({
      ...{ name: `machine-${count}.example.org`, command },
    });
    const other = makeMachine('faulty.example.org');
    const faulty = await other.run(made.joinCommand, { HAWSER_AGENT_COMMAND: 'sh -c true' });
    other.remove();
    expect(faulty.code).to.equal(78);
    expect(faulty.stderr).to.match(/settings\.json, command: not a list; allowed: /);
  });

  it('sends the key to no other server that the environment names', async () => {
    const elsewhere = `https://localhost:${await steadyPort()}`;
    const { code, stderr } = await machine.run(made.joinCommand, { HAWSER_AGENT_SERVER: elsewhere });
    expect(code, stderr).to.equal(0);
    expect(await uses()).to.equal(1);
  });

  it('ends as the agent ends, such as with a key that was revoked', async () => {
    await ok(204, hawser.admin.delete(`${KEYS}/${made.id}`));
    const { code, stdout, stderr } = await machine.run(made.joinCommand);
    expect(code, stdout + stderr).to.equal(1);
    expect(stdout + stderr)
      .to.match(/key/)
      .and.not.include(made.key);
  });

  it('is shown once, and stands in no list, log or entry of the audit trail', async () => {
    const { joinCommand, key, id } = made;
    const listed = await hawser.admin.get(KEYS);
    expect(listed.json.find((row: Made) => row.id === id)).to.not.have.property('joinCommand');
    const changed = await hawser.admin.put(`${KEYS}/${id}`, { description: 'Rack 12' });
    expect(changed.json).to.not.have.property('joinCommand');
    const audit = await hawser.admin.get('/api/v1/audit?take=1000');
    for (const text of [listed.text, changed.text, audit.text, hawser.log()])
      expect(text.includes(key) || text.includes(joinCommand.slice(-64)), text.slice(0, 80)).to.equal(false);
  });
});

describe('the line that joins a machine, with a certificate of another authority', () => {
  let folder: string;
  let hawser: Hawser;
  let caFile: string;
  let line: string;

  before(async () => {
    buildOnce();
    folder = mkdtempSync(join(tmpdir(), 'hawser-join-'));
    const file = (name: string, content: string) => {
      const path = join(folder, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    };
    const authority = await createAuthority(Date.now());
    const { certificate, key } = await issueServerCertificate(authority, ['localhost'], Date.now());
    // The clients of the tests trust the authority in this folder.
    mkdirSync(join(folder, 'data/tls'), { recursive: true });
    caFile = file('data/tls/ca.crt', authority.certificate);
    file('data/tls/ca.key', authority.key);
    const own = { HAWSER_TLS_CERT: file('own.crt', certificate), HAWSER_TLS_KEY: file('own.key', key) };
    ({ hawser } = await startKnown({ ...own, HAWSER_DATA_DIR: join(folder, 'data') }));
    line = (await ok(201, hawser.admin.post(KEYS, {}))).joinCommand;
  });
  after(async () => {
    await hawser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds no fingerprint, says so, and trusts whom Node trusts', async () => {
    expect(line).to.include(" 'system' ");
    const machine = makeMachine('machine-a.example.org');
    try {
      const { code, stderr } = await machine.run(line);
      expect(code, stderr).to.equal(3);
      expect(stderr).to.match(
        /^hawser: this line holds no fingerprint of https:.*\nhawser: https:.*certificate.*\n$/,
      );
    } finally {
      machine.remove();
    }
  });

  it('takes an authority that the machine names, and keeps it for the agent', async () => {
    const machine = makeMachine('machine-b.example.org');
    try {
      const { code, stdout, stderr } = await machine.run(line, { HAWSER_AGENT_CA_FILE: caFile });
      expect(code, stdout + stderr).to.equal(0);
      expect(JSON.parse(machine.read('hawser-agent/settings.json'))).to.include({ caFile: 'ca.pem' });
      expect(machine.read('hawser-agent/ca.pem')).to.include('BEGIN CERTIFICATE');
    } finally {
      machine.remove();
    }
  });
});
