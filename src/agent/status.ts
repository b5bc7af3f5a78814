/** The command `status`: what this node runs. It only reads, so it may be used while the agent runs. */

import { existsSync } from 'node:fs';
import { toOptionalTimestamp, toTimestamp } from '../lib/clock.ts';
import { readVersion } from '../lib/version.ts';
import { BundleStore } from './bundles.ts';
import { termOf, thumbprintOf } from './certificates.ts';
import { Outbox } from './outbox.ts';
import { planFor } from './plan.ts';
import { lookForCommand, type Registered } from './register.ts';
import type { AgentSettings } from './settings.ts';
import { hasAgent, type LastReport, StateFolder } from './state.ts';

/** What `--json` prints. Times are RFC 3339. */
export interface Status {
  agentVersion: string;
  server: string;
  name: string;
  /** Null while the node is not registered. */
  nodeId: string | null;
  isRunning: boolean;
  mode: AgentSettings['mode'];
  interval: string;
  configuration: {
    name: string;
    version: string;
    checksum: string;
    since: string;
    isAssigned: boolean;
  } | null;
  lastReport: LastReport | null;
  keptReports: { count: number; oldestAt: string | null };
  certificate: { thumbprint: string; notBefore: string; notAfter: string } | null;
  command: Registered['command'];
  stateDir: string;
}

/** Reads the state. It changes the working folder, because the socket of the agent is found there. */
export async function readStatus(settings: AgentSettings): Promise<Status> {
  const { stateDir, server, name } = settings;
  const isThere = existsSync(stateDir);
  if (isThere) process.chdir(stateDir);
  const state = StateFolder.at(stateDir);
  const wishes = await state.wishes();
  const { mode, interval } = planFor(settings, wishes);
  const { count, oldestAt } = await Outbox.look(stateDir);
  return {
    agentVersion: readVersion(),
    server: server.origin,
    name,
    nodeId: await state.nodeId(),
    isRunning: isThere && (await hasAgent()),
    mode,
    interval: interval.text,
    configuration: await readConfiguration(stateDir, wishes?.isAssigned ?? false),
    lastReport: await state.lastReport(),
    keptReports: { count, oldestAt: toOptionalTimestamp(oldestAt) },
    certificate: await readCertificate(state),
    command: await lookForCommand(settings),
    stateDir,
  };
}

async function readConfiguration(stateDir: string, isAssigned: boolean): Promise<Status['configuration']> {
  const bundles = BundleStore.at(stateDir);
  const bundle = await bundles.current();
  if (bundle === null) return null;
  const { configurationName: name, version, checksum } = bundle;
  return { name, version, checksum, since: toTimestamp(await bundles.usedSince(bundle)), isAssigned };
}

async function readCertificate(state: StateFolder): Promise<Status['certificate']> {
  const identity = await state.identity('current');
  if (identity === null) return null;
  const { notBefore, notAfter } = termOf(identity.certificate);
  return {
    thumbprint: thumbprintOf(identity.certificate),
    notBefore: toTimestamp(notBefore),
    notAfter: toTimestamp(notAfter),
  };
}

/** The status as lines for a person. */
export function describeStatus(status: Status, now: number): string {
  const { configuration, certificate, keptReports, command } = status;
  const lines: [string, string][] = [
    ['node', `${status.name}, ${status.nodeId ?? 'not registered'}`],
    ['server', status.server],
    ['agent', `${status.agentVersion}, ${status.isRunning ? 'runs' : 'does not run'}`],
    ['mode', `${status.mode}, every ${status.interval}`],
    ['command', describeCommand(command)],
    ['configuration', configuration === null ? 'none' : `${configuration.name} ${configuration.version}`],
  ];
  if (configuration !== null) {
    lines.push(['checksum', configuration.checksum], ['since', configuration.since]);
    if (!configuration.isAssigned) lines.push(['assignment', 'none: the files stay, and are not run']);
  }
  lines.push(['last report', describeReport(status.lastReport)]);
  const since = keptReports.oldestAt === null ? '' : `, the oldest of ${keptReports.oldestAt}`;
  lines.push(['kept reports', `${keptReports.count}${since}`]);
  lines.push(['certificate', certificate === null ? 'none' : describeEnd(certificate.notAfter, now)]);
  return lines.map(([name, value]) => `${name.padEnd(WIDTH)}${value}\n`).join('');
}

const WIDTH = 'configuration'.length + 2;

function describeCommand(command: Status['command']): string {
  if (command === null) return 'none: bundles are only unpacked';
  return command.isFound ? command.program : `${command.program}, which is not on this machine`;
}

function describeReport(report: LastReport | null): string {
  if (report === null) return 'none';
  return `${report.madeAt}, ${report.operation}: ${verdictOf(report)}`;
}

function verdictOf({ hadErrors, inDesiredState }: LastReport): string {
  if (hadErrors) return 'had errors';
  if (inDesiredState === null) return 'says nothing of the desired state';
  return inDesiredState ? 'in the desired state' : 'not in the desired state';
}

function describeEnd(notAfter: string, now: number): string {
  return Date.parse(notAfter) <= now ? `ended at ${notAfter}` : `ends at ${notAfter}`;
}
