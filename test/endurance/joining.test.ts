/** Kills the server while many machines join by one key: each node has what it should, whole, and the key counts exactly. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, makeClient, type Target } from '../support/client.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { buildProgram, removePrograms } from '../support/crash/programs.ts';
import { ServerProcess } from '../support/crash/server-process.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createKey,
  createToken,
  publishConfiguration,
  signIn,
} from '../support/hawser.ts';
import { KEYS, REGISTER, RULES } from '../support/joining.ts';
import { ok } from '../support/replies.ts';

const NODES = 1_000;
/** They come when the key is used up. */
const TOO_MANY = 40;
const WORKERS = 12;
/** The server is killed when so many were answered, each time. */
const KILLS = [150, 420, 700];
const KINDS = ['web', 'db', 'other'] as const;
const FILES = {
  'main.dsc.yaml': `$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json
resources:
  - name: echo
    type: Microsoft.DSC.Debug/Echo
    properties:
      output: hello
`,
};

interface Machine {
  fqdn: string;
  kind: (typeof KINDS)[number];
  /** Whether it is expected, with an assignment of its own. */
  isExpected: boolean;
}

const MACHINES: readonly Machine[] = Array.from({ length: NODES + TOO_MANY }, (_, at) => {
  const kind = KINDS[at % KINDS.length] ?? 'other';
  return { fqdn: `${kind}-${at}.example.org`, kind, isExpected: at % 20 === 7 };
});

describe('machines that join while the server is killed', () => {
  let folder: string;
  let server: ServerProcess;
  let target: Target;
  let token: string;
  let secret: string;
  const values: Record<string, string> = {};
  /** Names that were answered with 200, and with 403. */
  const [joined, refused] = [new Set<string>(), new Set<string>()];
  /** Resolves when the server listens again. */
  let back: Promise<void> = Promise.resolve();

  before(async function () {
    this.timeout(180_000);
    folder = mkdtempSync(join(tmpdir(), 'hawser-joining-'));
    await buildProgram('server');
    server = new ServerProcess(folder);
    target = await server.start();
    const client = makeClient(target);
    token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    for (const name of ['web', 'db', 'special']) await publishConfiguration(admin, name, { '1.0.0': FILES });
    for (const [name, of] of Object.entries({ Site: ['one'], Role: ['web', 'db'], Region: ['eu'] })) {
      const type = await ok(201, admin.post('/api/v1/scope-types', { name, valueMode: 'Restricted' }));
      for (const value of of)
        values[`${name}/${value}`] = (
          await ok(201, admin.post(`/api/v1/scope-types/${type.id}/values`, { value }))
        ).id;
    }
    const rule = (fqdnPattern: string, tags: readonly string[], configurationName?: string) => ({
      ...{ fqdnPattern, scopeValueIds: tags.map((tag) => values[tag]) },
      assignment: configurationName === undefined ? null : { configurationName },
    });
    const rules = [
      rule('web-*.example.org', ['Role/web'], 'web'),
      rule('db-*.example.org', ['Role/db'], 'db'),
      rule('*.example.org', ['Region/eu']),
    ];
    await ok(200, admin.put(RULES, rules));
    const rows = MACHINES.filter(({ isExpected }) => isExpected).map(({ fqdn }) => ({
      ...{ fqdn, assignment: { configurationName: 'special' } },
    }));
    const made = await ok(200, admin.post('/api/v1/nodes/bulk', { action: 'Expect', rows }));
    expect(made.failed).to.deep.equal([]);
    secret = await createKey(admin, { maxUses: NODES, profile: { scopeValueIds: [values['Site/one']] } });
    client.close();
  });
  after(async () => {
    await server.kill();
    removePrograms();
    rmSync(folder, { recursive: true, force: true });
  });

  const restart = async () => {
    await server.kill();
    target = await server.start();
  };

  /** Tries until it is answered, as an agent does. What was stored without an answer is known by its certificate. */
  async function registerUntilAnswered({ fqdn }: Machine, identity: ClientCertificate): Promise<void> {
    for (;;) {
      await back;
      const client = makeClient(target, identity);
      const reply = await client.post(REGISTER, { registrationKey: secret, fqdn }).catch(() => null);
      client.close();
      if (reply === null) continue;
      expect(reply.status, reply.text).to.be.oneOf([200, 403]);
      (reply.status === 200 ? joined : refused).add(fqdn);
      return;
    }
  }

  async function joinAll(): Promise<void> {
    const left = [...MACHINES];
    const kills = [...KILLS];
    const work = async () => {
      for (let machine = left.shift(); machine !== undefined; machine = left.shift()) {
        await registerUntilAnswered(machine, await makeClientCertificate({ commonName: machine.fqdn }));
        if (joined.size < (kills[0] ?? Number.POSITIVE_INFINITY)) continue;
        kills.shift();
        back = restart();
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    expect(kills).to.deep.equal([]);
  }

  /** The names of all nodes that the list gives, in their order. */
  async function namesOf(admin: Client, query: string): Promise<string[]> {
    const names: string[] = [];
    for (;;) {
      const page = await ok(200, admin.get(`/api/v1/nodes?take=1000&skip=${names.length}&${query}`));
      for (const { fqdn } of page) names.push(fqdn);
      if (page.length < 1_000) return names;
    }
  }

  it('are nodes with the right tags and assignment, as many as the key has uses', async function () {
    this.timeout(600_000);
    await joinAll();
    const client = makeClient(target);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    const key = (await ok(200, admin.get(KEYS)))[0];
    expect(key).to.include({ maxUses: NODES, currentUses: NODES, nodes: NODES });
    const nodes = new Set(await namesOf(admin, 'awaiting=false'));
    expect(nodes.size).to.equal(NODES);
    expect([...joined].filter((fqdn) => !nodes.has(fqdn))).to.deep.equal([]);
    expect(joined.size + refused.size).to.equal(MACHINES.length);
    const wanted = (which: (machine: Machine) => boolean) =>
      MACHINES.filter((machine) => nodes.has(machine.fqdn) && which(machine))
        .map(({ fqdn }) => fqdn)
        .sort();
    const cases: [string, (machine: Machine) => boolean][] = [
      [`registrationKeyId=${key.id}`, () => true],
      [`scopeValueId=${values['Site/one']}`, () => true],
      [`scopeValueId=${values['Region/eu']}`, () => true],
      [`scopeValueId=${values['Role/web']}`, ({ kind }) => kind === 'web'],
      [`scopeValueId=${values['Role/db']}`, ({ kind }) => kind === 'db'],
      ['configurationName=special', ({ isExpected }) => isExpected],
      ['configurationName=web', ({ kind, isExpected }) => kind === 'web' && !isExpected],
      ['configurationName=db', ({ kind, isExpected }) => kind === 'db' && !isExpected],
      ['unassigned=true', ({ kind, isExpected }) => kind === 'other' && !isExpected],
    ];
    for (const [query, which] of cases)
      expect(await namesOf(admin, `awaiting=false&${query}`), query).to.deep.equal(wanted(which));
    const waiting = MACHINES.filter(({ fqdn, isExpected }) => isExpected && !nodes.has(fqdn));
    expect(await namesOf(admin, 'awaiting=true')).to.deep.equal(waiting.map(({ fqdn }) => fqdn).sort());
    expect(server.errors).to.deep.equal([]);
    client.close();
  });
});
