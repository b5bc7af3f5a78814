/** One machine of the fleet. It makes the calls of a DSC v3 agent in the same order, and checks every answer. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Identity, Target } from '../../test/support/client.ts';
import { setOutput, testedService, testOutput } from '../../test/support/dsc-results.ts';
import { announce } from '../../test/support/rotation.ts';
import { type Answer, NodeConnection, type Question, WrongAnswer } from './connection.ts';
import type { Measurements } from './measurements.ts';
import { ENTRY_POINT, type Offer, type Published } from './published.ts';
import type { Random } from './random.ts';

/** The share of reports that say that the machine is in its desired state. */
const COMPLIANT_SHARE = 0.9;

/** What all nodes share. */
export interface World {
  target: Target;
  measurements: Measurements;
  /** Milliseconds after which all of several servers know of a change. */
  lag: number;
}

/** Whether a machine breaks with a version, is not well in any case, reports nothing of new versions, or does not come. */
export type Temper = 'Well' | 'Breaks' | 'Bad' | 'Silent' | 'Absent';

/** What a machine is in a rollout. */
export interface RolloutPart {
  /** Null without a tag, which is the last ring. */
  ring: string | null;
  temper: Temper;
  mode: 'Monitor' | 'Remediate';
}

export interface Machine {
  fqdn: string;
  identity: Identity;
  random: Random;
  /** Without one, a machine is in its desired state by chance. */
  part?: RolloutPart;
}

export class FleetNode {
  readonly fqdn: string;
  readonly random: Random;
  /** The configuration that is assigned to the node. */
  readonly published: Published;
  /** Empty until the node is registered. */
  id = '';
  readonly part: RolloutPart | null;
  /** What the last report makes of the node; null before the first report. */
  status: 'Compliant' | 'NonCompliant' | 'Error' | null = null;
  hasRotated = false;
  private readonly past = new Set<string>();
  private readonly world: World;
  private connection: NodeConnection;
  private held: Offer | null = null;

  constructor(world: World, published: Published, { fqdn, identity, random, part }: Machine) {
    this.world = world;
    this.published = published;
    this.fqdn = fqdn;
    this.random = random;
    this.part = part ?? null;
    this.connection = new NodeConnection(world.target, identity, world.measurements);
  }

  /** @throws Error if the registration fails; a node without an id cannot go on */
  async register(registrationKey: string): Promise<void> {
    const answer = await this.connection.ask({
      kind: 'register',
      method: 'POST',
      path: '/api/v1/nodes/register',
      json: {
        ...{ registrationKey, fqdn: this.fqdn, configurationSource: 'Pull' },
        ...this.reported,
      },
      expected: [200],
    });
    const { nodeId } = readJson(answer);
    if (typeof nodeId !== 'string' || !UUID.test(nodeId)) throw new WrongAnswer(answer, 'no node id');
    this.id = nodeId;
  }

  /** Polls. If there is something new, also pulls and reports it. */
  async cycle(): Promise<void> {
    const offer = await this.poll();
    if (offer === null) return;
    await this.setStatus('Downloading');
    this.held = await this.pull();
    this.past.add(this.held.version);
    // Polls once more, as the agent does. There may be a newer version by now; the next cycle takes it.
    await this.poll();
    await this.setStatus('Testing');
    await this.report();
    await this.setStatus('Idle');
    await this.ask(
      { kind: 'reported-config', method: 'PUT', path: '/reported-config', json: this.reported },
      204,
    );
  }

  /** The version that it runs; null before the first one. */
  get version(): string | null {
    return this.held?.version ?? null;
  }

  hasRun(version: string): boolean {
    return this.past.has(version);
  }

  /** Announces another certificate, uses it, and checks that the old one no longer works. */
  async rotate(next: Identity): Promise<void> {
    // An announcement has several forms. This uses two of them: the agent's own, and PEM.
    const json = this.random() < 0.5 ? announce(next) : { certificate: next.cert };
    await this.ask({ kind: 'rotate-certificate', method: 'POST', path: '/rotate-certificate', json }, 200);
    const before = this.connection;
    this.connection = new NodeConnection(this.world.target, next, this.world.measurements);
    try {
      const question = { kind: 'lcm-config', method: 'GET', path: '/lcm-config' };
      await this.ask(question, 200);
      await sleep(this.world.lag);
      await before.ask({ ...this.own(question), kind: 'retired certificate', expected: [401] });
      this.hasRotated = true;
    } finally {
      before.close();
    }
  }

  close(): void {
    this.connection.close();
  }

  /** @returns what the server offers; null if the node already has the newest version */
  private async poll(): Promise<Offer | null> {
    const { certain } = this.published;
    const sent = this.held && `"${this.held.checksum}"`;
    const answer = await this.ask(
      {
        kind: 'checksum',
        method: 'GET',
        path: '/configuration/checksum',
        ...(sent === null ? {} : { headers: { 'If-None-Match': sent } }),
      },
      ...(sent === null ? [200] : [200, 304]),
    );
    if (answer.status === 304) return this.checkUnchanged(answer, sent, certain);
    const { checksum, version, entryPoint, parametersFile, configurationName } = readJson(answer);
    const offer = { checksum: String(checksum), version: String(version) };
    verify(answer, () => this.published.verify(offer, certain));
    if (answer.headers.etag !== `"${checksum}"`)
      throw new WrongAnswer(answer, 'the ETag is not the checksum');
    if (answer.headers.etag === sent) throw new WrongAnswer(answer, 'the checksum is known: expected 304');
    const isRight =
      configurationName === this.published.configurationName &&
      entryPoint === ENTRY_POINT &&
      parametersFile === null;
    if (!isRight)
      throw new WrongAnswer(answer, 'another name, entry point or parameters file than published');
    return offer;
  }

  private checkUnchanged(answer: Answer, sent: string | null, certain: number): null {
    if (answer.headers.etag !== sent) throw new WrongAnswer(answer, 'a 304 whose ETag is not the one sent');
    if (answer.body.length > 0) throw new WrongAnswer(answer, 'a 304 with a body');
    const { held } = this;
    if (held) verify(answer, () => this.published.verify(held, certain));
    return null;
  }

  /** @returns what the node has now, which may be newer than what it was offered */
  private async pull(): Promise<Offer> {
    const { published } = this;
    const { certain } = published;
    const answer = await this.ask({ kind: 'bundle', method: 'GET', path: '/configuration/bundle' }, 200);
    const { etag = '', 'content-disposition': disposition = '', 'repr-digest': digest } = answer.headers;
    const name = `attachment; filename="${published.configurationName}-v`;
    const version = disposition.startsWith(name) ? disposition.slice(name.length, -'.zip"'.length) : '';
    const offer = { version, checksum: etag.slice(1, -1) };
    verify(answer, () => published.verify(offer, certain));
    await published.verifyBundle(version, answer.body, String(digest)).catch((error: Error) => {
      throw new WrongAnswer(answer, error.message);
    });
    return offer;
  }

  private async report(): Promise<void> {
    const { part } = this;
    const isFirst = this.published.isFirst(this.version);
    if (part?.temper === 'Silent' && !isFirst) return;
    if (part === null) return this.send('Test', { inDesiredState: this.random() < COMPLIANT_SHARE });
    const isWell =
      part.temper !== 'Bad' && !(part.temper === 'Breaks' && this.published.breaks(this.version));
    if (part.mode === 'Remediate') {
      await this.send('Set', { inDesiredState: null });
      return this.send('Test', { inDesiredState: isWell });
    }
    // Whoever only watches finds a new desired state not fulfilled, and is well nevertheless.
    await this.send('Test', { inDesiredState: isWell && isFirst, hadErrors: !isWell });
  }

  private async send(
    operation: 'Test' | 'Set',
    { inDesiredState, hadErrors = false }: { inDesiredState: boolean | null; hadErrors?: boolean },
  ): Promise<void> {
    const services = [testedService(true, 'Monitoring'), testedService(inDesiredState === true)];
    const result = operation === 'Set' ? setOutput() : testOutput(services, hadErrors);
    const json = { operation, result };
    const answer = await this.ask({ kind: 'report', method: 'POST', path: '/reports', json }, 201);
    const summary = readJson(answer);
    const isRight =
      summary['nodeId'] === this.id &&
      (operation === 'Set' || summary['inDesiredState'] === inDesiredState) &&
      summary['hadErrors'] === hadErrors &&
      answer.headers.location === `/api/v1/reports/${summary['id']}`;
    if (!isRight) throw new WrongAnswer(answer, `not the report that was sent (${inDesiredState})`);
    if (operation === 'Test')
      this.status = hadErrors ? 'Error' : inDesiredState ? 'Compliant' : 'NonCompliant';
  }

  private async setStatus(lcmStatus: string): Promise<void> {
    await this.ask({ kind: 'lcm-status', method: 'PUT', path: '/lcm-status', json: { lcmStatus } }, 204);
  }

  private ask(question: OwnQuestion, ...expected: number[]): Promise<Answer> {
    return this.connection.ask({ ...this.own(question), expected });
  }

  private get reported() {
    return { ...REPORTED, configurationMode: this.part?.mode ?? 'Monitor' };
  }

  private own(question: OwnQuestion): OwnQuestion {
    return { ...question, path: `/api/v1/nodes/${this.id}${question.path}` };
  }
}

/** The path is relative to the node's own path. */
type OwnQuestion = Omit<Question, 'expected'>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const REPORTED = { configurationModeInterval: '00:15:00', reportCompliance: true };

function readJson(answer: Answer): Record<string, unknown> {
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch {
    throw new WrongAnswer(answer, 'no JSON');
  }
}

/** Adds the answer to the error if the check fails. */
function verify(answer: Answer, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new WrongAnswer(answer, (error as Error).message);
  }
}
