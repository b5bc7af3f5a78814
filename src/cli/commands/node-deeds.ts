/** What `hawserctl node` does to nodes: assign, unassign, tag, untag and delete, many at once. */

import type { Schemas } from '../../client/api-types.ts';
import { type Context, command, YES } from '../declaration.ts';
import { EXIT } from '../errors.ts';
import { readInput } from '../input.ts';
import { findScopeValue } from '../scopes.ts';
import { counted, required, someOf } from '../values.ts';
import { ASSIGNMENT_OPTIONS, readAssignment } from './assignment-options.ts';
import { type ChosenNode, chooseNodes, NODE_FILTER, NODES } from './node-choice.ts';

type Deed = Exclude<Schemas['BulkDeed'], { action: 'Expect' }>;
type Result = Schemas['BulkResult'];

/** So many nodes are changed by one call, which is short enough to show how far it is. */
const SLICE = 1_000;

const OPTIONS = { ...NODE_FILTER, ...YES } as const;
type DeedContext = Context<typeof NODES, typeof OPTIONS>;

const assign = command({
  path: 'node assign',
  summary: 'assign a configuration to nodes, which get it at their next poll',
  description:
    'Without --version nodes follow the highest published version: of one major with --major, and prereleases too with ' +
    '--channel.',
  arguments: NODES,
  options: {
    ...ASSIGNMENT_OPTIONS,
    ...OPTIONS,
  },
  examples: [
    'hawserctl node assign web01.example.com --configuration web --major 1',
    'hawserctl node assign --filter fqdn=web* --configuration web --yes',
  ],
  run(context) {
    const { configuration, version } = context.options;
    const configurationName = required(configuration, '--configuration', '--configuration web');
    const assignment = readAssignment(configurationName, context.options);
    const name = version === undefined ? configurationName : `${configurationName} ${version}`;
    return doToNodes(context, async () => ({
      deed: { action: 'Assign', ...assignment },
      question: (nodes) => `Assign ${name} to ${nodes}?`,
      done: (nodes) => `Assigned ${name} to ${nodes}.`,
    }));
  },
});

const unassign = command({
  path: 'node unassign',
  summary: 'take the configuration from nodes',
  arguments: NODES,
  options: OPTIONS,
  examples: ['hawserctl node unassign web01.example.com'],
  run: (context) =>
    doToNodes(context, async () => ({
      deed: { action: 'Unassign' },
      question: (nodes) => `Take the configuration from ${nodes}?`,
      done: (nodes) => `Took the configuration from ${nodes}.`,
    })),
});

const TAG_OPTIONS = {
  value: { value: 'TYPE/VALUE', summary: 'the scope value, such as Environment/prod' },
  ...OPTIONS,
} as const;

const tag = command({
  path: 'node tag',
  summary: 'tag nodes with a scope value, whose parameters they get at their next poll',
  arguments: NODES,
  options: TAG_OPTIONS,
  examples: ['hawserctl node tag web01.example.com web02.example.com --value Environment/prod'],
  run: (context) =>
    doToNodes(context, async () => {
      const { id, name } = await scopeValueOf(context);
      return {
        deed: { action: 'Tag', scopeValueId: id },
        question: (nodes) => `Tag ${nodes} with ${name}?`,
        done: (nodes) => `Tagged ${nodes} with ${name}.`,
      };
    }),
});

const untag = command({
  path: 'node untag',
  summary: 'take a tag from nodes',
  arguments: NODES,
  options: TAG_OPTIONS,
  examples: ['hawserctl node untag --filter tag=Environment/test --value Environment/test'],
  run: (context) =>
    doToNodes(context, async () => {
      const { id, name } = await scopeValueOf(context);
      return {
        deed: { action: 'Untag', scopeValueId: id },
        question: (nodes) => `Take the tag ${name} from ${nodes}?`,
        done: (nodes) => `Took the tag ${name} from ${nodes}.`,
      };
    }),
});

function scopeValueOf({ api, options }: Context<typeof NODES, typeof TAG_OPTIONS>) {
  const text = required(options.value, '--value', '--value Environment/prod');
  return findScopeValue(api, text, '--value');
}

const mode = command({
  path: 'node mode',
  summary: 'say whether nodes only look at their state, or bring themselves into it',
  description:
    'The first word is Monitor or Remediate. It overrides the mode of the server for these nodes; they take it at their next poll.',
  arguments: [{ name: 'mode', summary: 'Monitor or Remediate', choices: ['Monitor', 'Remediate'] }, ...NODES],
  options: OPTIONS,
  examples: [
    'hawserctl node mode Remediate web01.example.com',
    'hawserctl node mode Monitor --filter fqdn=web*',
  ],
  run: (context) =>
    doToNodes(context, async () => {
      const configurationMode = context.arguments.mode as 'Monitor' | 'Remediate';
      return {
        deed: { action: 'SetLcmConfig', configurationMode },
        question: (nodes) => `Set the mode of ${nodes} to ${configurationMode}?`,
        done: (nodes) => `The mode of ${nodes} is ${configurationMode} now.`,
      };
    }),
});

const remove = command({
  path: 'node delete',
  summary: 'delete nodes with their reports, tags and assignments; their certificates stop working at once',
  arguments: NODES,
  options: OPTIONS,
  examples: ['hawserctl node delete web01.example.com'],
  run: (context) =>
    doToNodes(context, async () => ({
      deed: { action: 'Delete' },
      question: (nodes) => `Delete ${nodes}?`,
      done: (nodes) => `Deleted ${nodes}.`,
    })),
});

const expect = command({
  path: 'node expect',
  summary: 'make nodes before their machines are there, from a CSV file',
  description:
    'The first line of the file is fqdn,configuration,isComposite,majorVersion,tags; tags are written as Type=value;Type=value, and ' +
    'empty cells say nothing. The first machine that registers with one of these names and a good key becomes that node. A row ' +
    'that is refused stops none of the others.',
  arguments: [{ name: 'file', summary: 'the CSV file, or - for stdin' }],
  examples: ['hawserctl node expect racks.csv'],
  async run({ api, out, arguments: { file }, ...surroundings }) {
    const content = await readInput(surroundings, file);
    const result = await api.post('/api/v1/nodes/bulk', { bytes: { type: 'text/csv', content } });
    out.answer(result, () => {
      out.text(`${counted(result.done, 'node is', 'nodes are')} expected now.`);
      if (result.unchanged > 0)
        out.text(`${counted(result.unchanged, 'node was', 'nodes were')} so already.`);
    });
    showFailed(result, out);
    return result.failed.length > 0 ? EXIT.failed : EXIT.done;
  },
});

interface Plan {
  deed: Deed;
  /** @param nodes such as `3 nodes (a, b, c)` */
  question(nodes: string): string;
  /** @param nodes such as `3 nodes`, or the name of one */
  done(nodes: string): string;
}

/** Asks about several, and does it to all; one refusal stops none of the others. @returns the exit code */
async function doToNodes(
  { api, out, ask, arguments: given, options }: DeedContext,
  makePlan: () => Promise<Plan>,
): Promise<number> {
  const { deed, question, done } = await makePlan();
  const nodes = await chooseNodes(api, given.node, options.filter);
  if (nodes.length === 0) out.note('No node meets the filter. Nothing was done.');
  const names = nodes.map(({ fqdn }) => fqdn);
  if (nodes.length > 1) await ask.confirm(question(`${counted(nodes.length, 'node')} (${someOf(names)})`));
  const result = await doInSlices({ api, out }, deed, nodes);
  out.answer(result, () => {
    if (result.done > 0) out.text(done(nodes.length === 1 ? (names[0] ?? '') : counted(result.done, 'node')));
    if (result.unchanged > 0) out.text(`${counted(result.unchanged, 'node was', 'nodes were')} so already.`);
  });
  showFailed(result, out);
  return result.failed.length > 0 ? EXIT.failed : EXIT.done;
}

async function doInSlices(
  { api, out }: Pick<Context, 'api' | 'out'>,
  deed: Deed,
  nodes: readonly ChosenNode[],
): Promise<Result> {
  let all: Result = { done: 0, unchanged: 0, failed: [] };
  for (let at = 0; at < nodes.length; at += SLICE) {
    if (at > 0) out.progress(`${at} of ${nodes.length} nodes`);
    const nodeIds = nodes.slice(at, at + SLICE).map(({ id }) => id);
    try {
      const part = await api.post('/api/v1/nodes/bulk', { json: { ...deed, nodeIds } });
      // Of one slice the API's answer is printed as it came.
      all = nodes.length <= SLICE ? part : joined(all, part);
    } catch (error) {
      showFailed(all, out);
      if (at > 0) out.note(`Of ${nodes.length} nodes the first ${at} were gone through before this.`);
      throw error;
    }
  }
  return all;
}

/** Each cause once, with the nodes that it holds for. */
function showFailed({ failed }: Result, out: Context['out']): void {
  const causes = new Map<string, string[]>();
  for (const { nodeId, fqdn, code, message } of failed) {
    const cause = `${code}: ${message}`;
    causes.set(cause, [...(causes.get(cause) ?? []), fqdn ?? nodeId ?? '?']);
  }
  for (const [cause, names] of causes)
    out.note(
      names.length === 1
        ? `${names[0]}: ${cause}`
        : `${counted(names.length, 'node')} (${someOf(names)}): ${cause}`,
    );
}

function joined(first: Result, second: Result): Result {
  return {
    done: first.done + second.done,
    unchanged: first.unchanged + second.unchanged,
    failed: [...first.failed, ...second.failed],
  };
}

export const NODE_DEEDS = [assign, unassign, tag, untag, mode, expect, remove];
