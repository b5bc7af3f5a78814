/** Runs our own agent in a separate process, in a temporary folder, with a command that records how it was run. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import type { Hawser } from './hawser.ts';
import { programArguments } from './program.ts';
import { type Ended, outputOf } from './spawned.ts';

/** What the command saw when it ran. */
export interface RecordedRun {
  operation: string;
  cwd: string;
  entryPoint: string;
  parametersFile: string | null;
  /** The content of the entry point. */
  document: string;
  parameters: string | null;
  variables: string[];
  /** The files and folders beside the entry point. */
  neighbours: string[];
}

export interface AgentProcess {
  child: ChildProcess;
  stdout(): string;
  ended: Promise<Ended>;
}

export interface AgentUnderTest {
  folder: string;
  stateDir: string;
  /** The environment variables of every start. A test may change them at any time. */
  settings: Record<string, string>;
  /** The variable PATH of every start. */
  path: string;
  /** Other variables of every start. */
  variables: Record<string, string>;
  start(...args: string[]): AgentProcess;
  /** Runs one cycle. */
  once(...args: string[]): Promise<Ended>;
  /** Runs one cycle, which must end with this code. @returns what it has written */
  cycle(code?: number, ...args: string[]): Promise<string>;
  runs(): RecordedRun[];
  /** Sets what the command prints from now on. */
  answer(stdout: string, exitCode?: number): void;
  nodeId(): string;
  remove(): void;
}

const RECORDER = `
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
const [folder, operation, entryPoint, parametersFile = null] = process.argv.slice(2);
const read = (path) => path && readFileSync(path, 'utf8');
appendFileSync(folder + '/runs.jsonl', JSON.stringify({
  operation, entryPoint, parametersFile, cwd: process.cwd(),
  document: read(entryPoint), parameters: read(parametersFile), variables: Object.keys(process.env),
  neighbours: readdirSync('.').sort(),
}) + '\\n');
const { stdout, exitCode } = JSON.parse(read(folder + '/answer.json'));
process.stdout.write(stdout);
process.stderr.write('spoken to stderr');
process.exitCode = exitCode;
`;

/** Makes a DSC result of one resource. */
export function dscResult(inDesiredState: boolean, more: object = {}): string {
  const resource = { name: 'one', type: 'Test/One', result: { inDesiredState } };
  return JSON.stringify({ messages: [], results: [resource], hadErrors: false, ...more });
}

/** @param settings variables without their prefix HAWSER_AGENT_ */
export function makeAgent(settings: Record<string, string>): AgentUnderTest {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-agent-'));
  const stateDir = join(folder, 'state');
  const recorder = join(folder, 'recorder.mjs');
  const answer = (stdout: string, exitCode = 0) =>
    writeFileSync(join(folder, 'answer.json'), JSON.stringify({ stdout, exitCode }));
  writeFileSync(recorder, RECORDER);
  answer(dscResult(true));
  const agent: AgentUnderTest = {
    folder,
    stateDir,
    answer,
    settings: {
      STATE_DIR: stateDir,
      NAME: 'agent-01.example.org',
      COMMAND: JSON.stringify([
        process.execPath,
        recorder,
        folder,
        '{operation}',
        '{entryPoint}',
        '{parametersFile}',
      ]),
      ...settings,
    },
    path: process.env['PATH'] ?? '',
    variables: {},
    start: (...args) => spawnAgent(agent, args),
    once: (...args) => spawnAgent(agent, ['--once', ...args]).ended,
    cycle: async (code = 0, ...args) => {
      const ended = await agent.once(...args);
      expect(ended.code, ended.stdout + ended.stderr).to.equal(code);
      return ended.stdout;
    },
    runs: () => {
      const path = join(folder, 'runs.jsonl');
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as RecordedRun);
    },
    nodeId: () => JSON.parse(readFileSync(join(stateDir, 'node.json'), 'utf8')).nodeId,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  return agent;
}

/** Makes an agent that knows the server, but has no key for it unless the settings have one. */
export function makeAgentOf(hawser: Hawser, settings: Record<string, string>): AgentUnderTest {
  const server = { SERVER: `https://localhost:${hawser.server.port}` };
  return makeAgent({ ...server, CA_FILE: join(hawser.dataDir, 'tls/ca.crt'), ...settings });
}

function spawnAgent(
  { settings, path, variables: others }: Pick<AgentUnderTest, 'settings' | 'path' | 'variables'>,
  args: readonly string[],
): AgentProcess {
  const variables = Object.entries(settings).map(([name, value]) => [`HAWSER_AGENT_${name}`, value]);
  const env = { PATH: path, ...others, ...Object.fromEntries(variables) };
  const child = spawn(process.execPath, [...programArguments('agent/main'), ...args], {
    cwd: PROJECT,
    env,
  });
  const { ended, stdout } = outputOf(child);
  return { child, ended, stdout };
}
