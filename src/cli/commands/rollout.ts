/** `hawserctl rollout`: versions and parameter files that reach the nodes ring by ring. */

import type { Schemas } from '../../client/api-types.ts';
import { isFilesKey } from '../../domain/rollout.ts';
import { OUTCOMES } from '../../domain/rollout-counts.ts';
import { type Command, type Context, command } from '../declaration.ts';
import { Failure, UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import type { Column } from '../out.ts';
import { PLAN_OPTIONS, REST, readPlan } from '../rollout-plan.ts';
import { scopeText, splitScope } from '../scopes.ts';
import { explainRefusal } from './config-deeds.ts';
import { COMPOSITE, CONFIGURATION, checkVersion, MESSAGE, messageOf } from './config-kinds.ts';

type Out = Context['out'];
type Rollout = Schemas['Rollout'];
type Step = Rollout['steps'][number];
type Entry = Rollout['history'][number];
type RolloutNode = Schemas['RolloutNode'];
type Fault = NonNullable<Rollout['cause']>['nodes'][number];

const NAME = { name: 'name', summary: 'the configuration' } as const;
const VERSION = { name: 'version', summary: 'the version, such as 1.2.0' } as const;
const KEY = { name: 'version', summary: 'its key: the version, or parameters@1 for files alone' } as const;
const OF_COMPOSITE = { composite: { summary: 'the name is that of a composite' } } as const;
const STATES = ['Running', 'Paused', 'Halted', 'Completed', 'Superseded'] as const;

const baseOf = (isComposite: boolean) => (isComposite ? COMPOSITE : CONFIGURATION).base;

const start = command({
  path: 'rollout start',
  summary: 'roll a version out, parameter files, or both, ring by ring',
  description:
    'A draft is published into its rollout; of published versions only the highest can be rolled out. Parameter files go with ' +
    'the version, or alone. The gate that the options say is that of every step; a file says it for each.',
  arguments: [
    NAME,
    { ...VERSION, summary: 'a draft, or the version that was published last', isOptional: true },
  ],
  options: {
    parameter: {
      value: 'SCOPE@VERSION',
      isRepeatable: true,
      summary: 'a parameter file that goes with it, such as Default@1.2.0 or Environment/prod@1.2.0',
    },
    ...PLAN_OPTIONS,
    ...MESSAGE,
    ...OF_COMPOSITE,
  },
  examples: [
    `hawserctl rollout start web 1.4.0 --step canary --step early:10 --step ${REST} --on-halt Revert`,
    'hawserctl rollout start web 1.4.0 --plan rings.yaml -m "Port 8443 everywhere"',
    'hawserctl rollout start web --parameter Environment/prod@1.2.0 --step canary --on-halt Revert',
  ],
  async run({ api, out, arguments: { name, version }, options, ...input }) {
    if (version !== undefined) checkVersion(version);
    const files = options.parameter.map(readFile);
    const json = { ...(await readPlan(input, options)), ...messageOf(options.message) };
    const isNothing = version === undefined && files.length === 0 && !Object.hasOwn(json, 'parameters');
    if (isNothing) throw new UsageError('Say what is to roll out: a version, or files by --parameter.');
    const given = { ...json, ...(files.length > 0 && { parameters: files }) };
    const made = await explainRefusal(
      options.composite
        ? api.post(`${COMPOSITE.base}/{name}/rollouts`, {
            path: { name },
            json: { ...given, version: version ?? '' },
          })
        : api.post(`${CONFIGURATION.base}/{name}/rollouts`, {
            path: { name },
            json: { ...given, ...(version !== undefined && { version }) },
          }),
      out,
    );
    out.answer(made, () => {
      showRollout(made, out);
      const key = made.version === null ? ` ${made.key}` : '';
      out.note(`Next: "hawserctl rollout status ${name}${key}${ofComposite(made)}" tells how it goes.`);
    });
  },
});

/** @throws UsageError */
function readFile(text: string): NonNullable<Schemas['NewRollout']['parameters']>[number] {
  const at = text.lastIndexOf('@');
  if (at < 1)
    throw new UsageError(`--parameter: "${text}" is no file; one is written as Environment/prod@1.2.0.`);
  const [scopeTypeName, scopeValue] = splitScope(text.slice(0, at), '--parameter');
  const version = text.slice(at + 1);
  checkVersion(version);
  return { scopeTypeName, scopeValue, version };
}

const list = command({
  path: 'rollout list',
  summary: 'list rollouts, the newest first',
  arguments: [{ ...NAME, summary: 'of this configuration or composite alone', isOptional: true }],
  options: { state: { value: 'STATE', choices: STATES, summary: 'those in this state alone' } },
  examples: ['hawserctl rollout list', 'hawserctl rollout list web --state Running'],
  async run({ api, out, arguments: { name }, options: { state } }) {
    const found = await api.all('/api/v1/rollouts', {
      query: {
        ...(name !== undefined && { configurationName: name }),
        ...(state !== undefined && { state: state as Rollout['state'] }),
      },
    });
    out.answer(found, () => out.table(found, ROLLOUT_COLUMNS, 'There are no such rollouts.'));
  },
});

const ROLLOUT_COLUMNS: readonly Column<Rollout>[] = [
  { title: 'NAME', cell: ({ configurationName }) => configurationName },
  { title: 'COMPOSITE', cell: ({ isComposite }) => isComposite },
  { title: 'VERSION', cell: ({ key }) => key },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'STEP', cell: ({ step, steps }) => `${step + 1} of ${steps.length}` },
  { title: 'RING', cell: ({ step, steps }) => (steps[step] ? ringOf(steps[step]) : null) },
  { title: 'STARTED', cell: ({ createdAt }) => dateTime(createdAt) },
  { title: 'BY', cell: ({ createdBy }) => createdBy },
];

const status = command({
  path: 'rollout status',
  summary: 'show a rollout with its rings and its history',
  arguments: [NAME, { ...KEY, summary: `${KEY.summary}; without it the newest one`, isOptional: true }],
  options: OF_COMPOSITE,
  examples: ['hawserctl rollout status web', 'hawserctl rollout status web 1.4.0 --json'],
  async run({ api, out, arguments: { name, version }, options: { composite } }) {
    const base = baseOf(composite);
    if (version !== undefined) {
      checkKey(version);
      const found = await api.get(`${base}/{name}/rollouts/{version}` as const, { path: { name, version } });
      out.answer(found, () => showRollout(found, out));
      return;
    }
    const [newest] = await api.get(`${base}/{name}/rollouts` as const, {
      ...{ path: { name }, query: { take: 1 } },
    });
    if (newest === undefined) throw new Failure(`not_found: ${name} has no rollouts.`);
    out.answer(newest, () => showRollout(newest, out));
  },
});

const nodes = command({
  path: 'rollout nodes',
  summary: 'list the nodes of the rings that have opened, each with what it made of the version',
  arguments: [NAME, KEY],
  options: {
    step: { value: 'N', summary: 'those of this step alone, from 1' },
    outcome: { value: 'OUTCOME', choices: OUTCOMES, summary: 'those with this outcome alone' },
    ...OF_COMPOSITE,
  },
  examples: ['hawserctl rollout nodes web 1.4.0 --outcome Regression'],
  async run({ api, out, arguments: { name, version }, options: { step, outcome, composite } }) {
    checkKey(version);
    if (step !== undefined && !/^[1-9]\d{0,3}$/.test(step))
      throw new UsageError(`--step: "${step}" is no step.`);
    const found = await api.all(`${baseOf(composite)}/{name}/rollouts/{version}/nodes` as const, {
      path: { name, version },
      query: {
        ...(step !== undefined && { step: Number(step) - 1 }),
        ...(outcome !== undefined && { outcome: outcome as RolloutNode['outcome'] }),
      },
    });
    out.answer(found, () => out.table(found, NODE_COLUMNS, 'There are no such nodes.'));
  },
});

interface Deed {
  name: 'pause' | 'resume' | 'approve' | 'halt' | 'revert' | 'complete';
  summary: string;
  example: string;
}

const DEEDS: readonly Deed[] = [
  {
    name: 'pause',
    summary: 'open no further ring until the rollout is resumed',
    example: 'The load balancer is being replaced',
  },
  { name: 'resume', summary: 'go on with a rollout that is paused', example: 'It is replaced' },
  {
    name: 'approve',
    summary: 'approve the open step, where its gate asks for it and you did not publish the version',
    example: 'Looked at the canaries',
  },
  {
    name: 'halt',
    summary: 'end a rollout: nobody new gets the version',
    example: 'It closes port 22',
  },
  {
    name: 'revert',
    summary: 'end a rollout, and give the nodes that have the version what they had',
    example: 'It closes port 22',
  },
  { name: 'complete', summary: 'end a rollout: all nodes get the version', example: 'It is urgent' },
];

function deedCommand({ name: deed, summary, example }: Deed): Command {
  return command({
    path: `rollout ${deed}`,
    summary,
    arguments: [NAME, KEY],
    options: {
      message: { value: 'REASON', short: 'm', summary: 'why, which is kept in the history' },
      ...OF_COMPOSITE,
    },
    examples: [`hawserctl rollout ${deed} web 1.4.0 -m "${example}"`],
    async run({ api, out, arguments: { name, version }, options: { message, composite } }) {
      checkKey(version);
      if (message === undefined) throw new UsageError('Say why by -m.');
      const path = `${baseOf(composite)}/{name}/rollouts/{version}` as const;
      const given = { path: { name, version } };
      const { state } = await api.get(path, given);
      const json = { reason: message, expectedState: state };
      const done = await api.post(`${path}/${deed}` as const, { ...given, json });
      out.answer(done, () => showRollout(done, out));
    },
  });
}

/** @throws UsageError */
function checkKey(text: string): void {
  if (!isFilesKey(text)) checkVersion(text);
}

const ofComposite = ({ isComposite }: Rollout) => (isComposite ? ' --composite' : '');

function showRollout(rollout: Rollout, out: Out): void {
  const { configurationName, key, state, step, steps, onHalt, createdBy, createdAt } = rollout;
  const { cause, history, parameters } = rollout;
  const files = parameters.map((file) => `${scopeText(file)} ${file.version}`);
  out.fields({
    Rollout: `${configurationName} ${key}`,
    ...(files.length > 0 && { Parameters: files.join(', ') }),
    State: state,
    ...(cause && { Why: cause.summary }),
    Step: `${step + 1} of ${steps.length}`,
    'On halt': onHalt,
    Started: `${dateTime(createdAt)} by ${createdBy}`,
  });
  out.text('');
  out.table(steps, STEP_COLUMNS, '');
  out.text('');
  if (cause && cause.nodes.length > 0) {
    out.table(cause.nodes, FAULT_COLUMNS, '');
    out.text('');
  }
  out.table(history, HISTORY_COLUMNS, '');
}

function ringOf({ ring, percent }: Step): string {
  return `${ring ?? REST}${percent === 100 ? '' : `:${percent}`}`;
}

const STEP_COLUMNS: readonly Column<Step>[] = [
  { title: 'RING', cell: ringOf },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'OFFERED', cell: ({ counts }) => counts.offered },
  { title: 'TAKEN', cell: ({ counts }) => counts.taken },
  { title: 'SUCCESS', cell: ({ counts }) => counts.success },
  { title: 'REGRESSION', cell: ({ counts }) => counts.regression },
  { title: 'BAD BEFORE', cell: ({ counts }) => counts.alreadyBad },
  { title: 'SILENT', cell: ({ counts }) => counts.silent },
  { title: 'ABSENT', cell: ({ counts }) => counts.absent },
  { title: 'OPENED', cell: ({ startedAt }) => dateTime(startedAt) },
  { title: 'CLOSED', cell: ({ endedAt }) => dateTime(endedAt) },
];

const FAULT_COLUMNS: readonly Column<Fault>[] = [
  { title: 'NODE', cell: ({ fqdn }) => fqdn },
  { title: 'BEFORE', cell: ({ before }) => before },
  { title: 'AFTER', cell: ({ after }) => after },
  { title: 'WHAT', cell: ({ message }) => message },
];

const NODE_COLUMNS: readonly Column<RolloutNode>[] = [
  { title: 'NODE', cell: ({ fqdn }) => fqdn },
  { title: 'STEP', cell: ({ step }) => step + 1 },
  { title: 'OUTCOME', cell: ({ outcome }) => outcome },
  { title: 'BEFORE', cell: ({ before }) => before },
  { title: 'AFTER', cell: ({ after }) => after },
  { title: 'WHAT', cell: ({ message }) => message },
];

const HISTORY_COLUMNS: readonly Column<Entry>[] = [
  { title: 'AT', cell: ({ at }) => dateTime(at) },
  { title: 'BY', cell: ({ actorName }) => actorName },
  { title: 'FROM', cell: ({ from }) => from },
  { title: 'TO', cell: ({ to }) => to },
  { title: 'WHY', cell: ({ reason }) => reason },
];

export const ROLLOUT_COMMANDS = [start, list, status, nodes, ...DEEDS.map(deedCommand)];
