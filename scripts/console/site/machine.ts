/** One simulated node of the seeded site. It makes the calls of a DSC v3 agent over mTLS. */

import { DAY } from '../../../src/lib/clock.ts';
import { type Client, makeUncheckedClient, type Target } from '../../../test/support/client.ts';
import { makeClientCertificate } from '../../../test/support/client-certificates.ts';
import { ok } from '../../../test/support/replies.ts';
import type { Plan } from './plan.ts';
import { type Outcome, reportOf, type SeedReport } from './reports.ts';

export class Machine {
  readonly plan: Plan;
  /** Empty until the node is registered. */
  id = '';
  private readonly client: Client;
  /** The checksum of what it has downloaded. */
  private held: string | null = null;
  private configuration = '';
  private reports = 0;

  private constructor(plan: Plan, client: Client) {
    this.plan = plan;
    this.client = client;
  }

  /** Makes the machine with a key and a certificate of its own. */
  static async make(target: Target, plan: Plan): Promise<Machine> {
    const identity = await makeClientCertificate({
      ...{ commonName: plan.fqdn, notBefore: Date.now() - 2 * DAY },
      ...(plan.isExpiring && { notAfter: Date.now() + 12 * DAY }),
    });
    return new Machine(plan, makeUncheckedClient(target, identity));
  }

  async register(registrationKey: string): Promise<void> {
    const settings = {
      ...{ configurationSource: 'Pull', configurationMode: 'Monitor', reportCompliance: true },
      configurationModeInterval: this.plan.isStale ? '00:00:01' : '00:15:00',
    };
    const body = { registrationKey, fqdn: this.plan.fqdn, ...settings };
    this.id = (await ok(200, this.client.post('/api/v1/nodes/register', body))).nodeId;
  }

  /**
   * Asks for the checksum.
   * @returns `New` if there is something to download, `Nothing` if the node gets nothing
   */
  async poll(): Promise<'New' | 'Same' | 'Nothing'> {
    const headers: Record<string, string> = this.held === null ? {} : { 'If-None-Match': `"${this.held}"` };
    const reply = await this.client.get(this.path('/configuration/checksum'), headers);
    if (reply.status === 401) throw new Error(`${this.plan.fqdn} is no node any more`);
    if (reply.status === 304) return 'Same';
    if (reply.status !== 200) return 'Nothing';
    this.configuration = reply.json.configurationName;
    return 'New';
  }

  async download(): Promise<void> {
    const reply = await this.client.get(this.path('/configuration/bundle'));
    if (reply.status === 200) this.held = String(reply.headers['etag']).slice(1, -1);
  }

  async setStatus(lcmStatus: string): Promise<void> {
    await ok(204, this.client.put(this.path('/lcm-status'), { lcmStatus }));
  }

  /** @returns the id of the report */
  async report(report: SeedReport): Promise<string> {
    this.reports += 1;
    const body = { ...report, ...(this.held !== null && { configurationChecksum: this.held }) };
    return (await ok(201, this.client.post(this.path('/reports'), body))).id;
  }

  /** What the agent does every few minutes, as far as the plan lets it come. */
  async cycle(outcome = this.plan.outcome): Promise<void> {
    const { reach } = this.plan;
    if (reach === 'Registered') return;
    const found = await this.poll();
    if (reach === 'Told' || found === 'Nothing') return;
    if (found === 'New') await this.download();
    if (reach === 'Declared') await this.check(outcome);
  }

  /** Takes what is new, and says by its next call that it has it. */
  async update(): Promise<void> {
    if ((await this.poll()) !== 'New' || this.plan.reach === 'Told') return;
    await this.download();
    if (this.plan.reach === 'Declared') await this.poll();
  }

  /** What it does in a fleet that is looked at: all steps, whatever the plan says. */
  async live(outcome: Outcome): Promise<void> {
    const found = await this.poll();
    if (found === 'Nothing') return;
    if (found === 'New') {
      await this.setStatus('Downloading');
      await this.download();
    }
    await this.check(outcome);
  }

  private async check(outcome: Outcome): Promise<void> {
    await this.setStatus('Testing');
    await this.report(reportOf(this.configuration, outcome, this.reports));
    await this.setStatus(outcome === 'Error' ? 'Error' : 'Idle');
  }

  close(): void {
    this.client.close();
  }

  private path(end: string): string {
    return `/api/v1/nodes/${this.id}${end}`;
  }
}
