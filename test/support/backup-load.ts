/** Clients that write without a pause while a backup is taken, and a record of what the server has acknowledged. */

import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Client, makeClient, type Reply, type Target } from './client.ts';
import { type ClientCertificate, makeClientCertificate } from './client-certificates.ts';
import { CONFIGURATIONS, MAIN, publish } from './configurations.ts';
import { testedService, testOutput } from './dsc-results.ts';
import { DEFAULT_ID } from './scopes.ts';
import { withdraw } from './withdrawals.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };

/** One acknowledged write, in a form with which it can be read later. */
export type Written =
  | { what: 'version'; name: string; version: string }
  | { what: 'withdrawn'; name: string; version: string }
  | { what: 'parameters'; version: string }
  | { what: 'composite'; name: string }
  | { what: 'node'; nodeId: string; identity: ClientCertificate }
  | { what: 'report'; id: string }
  | { what: 'deleted'; name: string };

export interface Site {
  target: Target;
  token: string;
  registrationKey: string;
  reposDir: string;
  /** A configuration that gets parameters, and its id. */
  base: { name: string; id: string };
  /** A node that reports. */
  reporter: { nodeId: string; identity: { cert: string; key: string } };
}

export class Load {
  readonly written: Written[] = [];
  private readonly site: Site;
  private readonly clients: Client[] = [];
  private readonly running: Promise<void>[];
  private stopped = false;
  private counter = 0;

  constructor(site: Site) {
    this.site = site;
    const jobs = [
      this.publishVersions,
      this.writeParameters,
      this.makeComposites,
      this.registerNodes,
      this.sendReports,
      this.makeAndDelete,
      this.makeAndDeleteOneName,
      this.repack,
    ];
    this.running = jobs.map((job) => this.repeat(job.bind(this)));
    // `stop` reports the errors.
    for (const run of this.running) run.catch(() => undefined);
  }

  /** Resolves when this many more writes have been acknowledged. */
  async more(count: number): Promise<void> {
    const goal = this.written.length + count;
    while (this.written.length < goal) await Promise.race([sleep(20), ...this.running]);
  }

  /**
   * Lets each client finish its current write.
   * @throws the error of a client that failed
   */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.running);
    for (const client of this.clients) client.close();
  }

  private async repeat(job: (admin: Client) => Promise<void>): Promise<void> {
    const admin = this.connect().with({ Authorization: `Bearer ${this.site.token}` });
    while (!this.stopped) await job(admin);
  }

  private connect(identity?: { cert: string; key: string }): Client {
    const client = makeClient(this.site.target, identity);
    this.clients.push(client);
    return client;
  }

  private next(): number {
    this.counter += 1;
    return this.counter;
  }

  private async publishVersions(admin: Client): Promise<void> {
    const name = `work-${this.next()}`;
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
      const [path, named] =
        version === '1.0.0' ? [CONFIGURATIONS, { name }] : [`${CONFIGURATIONS}/${name}/versions`, {}];
      const files = { ...FILES, 'lib/own.txt': `${name} ${version}` };
      expectStatus(201, await admin.upload(path, { fields: { ...named, version }, files }));
      const edited = `${CONFIGURATIONS}/${name}/versions/${version}/files/lib/edited.txt`;
      expectStatus(201, await admin.call('PUT', edited, { body: version }));
      expectStatus(200, await publish(admin, name, version));
      this.written.push({ what: 'version', name, version });
    }
    expectStatus(200, await withdraw(admin, name, '1.1.0', `${name} is bad`));
    this.written.push({ what: 'withdrawn', name, version: '1.1.0' });
  }

  private async writeParameters(admin: Client): Promise<void> {
    const version = `1.${this.next()}.0`;
    const path = `/api/v1/parameters/${DEFAULT_ID}/${this.site.base.id}`;
    const content = `parameters:\n  size: ${this.counter}\n`;
    expectStatus(201, await admin.put(path, { version, content }));
    expectStatus(200, await admin.put(`${path}/versions/${version}/publish`));
    this.written.push({ what: 'parameters', version });
  }

  private async makeComposites(admin: Client): Promise<void> {
    const name = `composite-${this.next()}`;
    expectStatus(201, await admin.post('/api/v1/composite-configurations', { name }));
    this.written.push({ what: 'composite', name });
    await sleep(100);
  }

  private async registerNodes(): Promise<void> {
    const fqdn = `late-${this.next()}.example.org`;
    const identity = await makeClientCertificate({ commonName: fqdn });
    const client = makeClient(this.site.target, identity);
    const { registrationKey } = this.site;
    const reply = await client.post('/api/v1/nodes/register', { registrationKey, fqdn });
    client.close();
    expectStatus(200, reply);
    this.written.push({ what: 'node', nodeId: reply.json.nodeId, identity });
  }

  private async sendReports(): Promise<void> {
    const { nodeId, identity } = this.site.reporter;
    const client = makeClient(this.site.target, identity);
    const report = { operation: 'Test', result: testOutput([testedService(true)]) };
    const reply = await client.post(`/api/v1/nodes/${nodeId}/reports`, report);
    client.close();
    expectStatus(201, reply);
    this.written.push({ what: 'report', id: reply.json.id });
    // With shorter pauses the server would refuse the requests as too many.
    await sleep(500);
  }

  private async makeAndDelete(admin: Client): Promise<void> {
    const name = `gone-${this.next()}`;
    await this.make(admin, name);
    await sleep(50);
    expectStatus(204, await admin.delete(`${CONFIGURATIONS}/${name}`));
    this.written.push({ what: 'deleted', name });
  }

  /** Uses the same name each time. Each configuration of this name has an id of its own. */
  private async makeAndDeleteOneName(admin: Client): Promise<void> {
    await this.make(admin, 'again');
    await sleep(20);
    expectStatus(204, await admin.delete(`${CONFIGURATIONS}/again`));
  }

  private async make(admin: Client, name: string): Promise<void> {
    expectStatus(201, await admin.upload(CONFIGURATIONS, { fields: { name }, files: FILES }));
    const { id } = (await admin.get(`${CONFIGURATIONS}/${name}`)).json;
    const parameters = { version: '1.0.0', content: 'parameters: {}\n' };
    expectStatus(201, await admin.put(`/api/v1/parameters/${DEFAULT_ID}/${id}`, parameters));
  }

  /** Repacks a repository, as an operator may do at any time. */
  private async repack(): Promise<void> {
    const { reposDir, base } = this.site;
    // This runs asynchronously, unlike elsewhere, because the other clients go on meanwhile.
    await promisify(execFile)('git', ['-C', `${reposDir}/parameters/${base.name}.git`, 'gc', '--quiet']);
    await sleep(300);
  }
}

function expectStatus(status: number, reply: Reply): void {
  if (reply.status !== status) throw new Error(`expected ${status}, got ${reply.status} ${reply.text}`);
}
