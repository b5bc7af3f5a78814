/** `hawserctl change`: many deeds as one proposal, which is seen, applied and taken back as one. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { type Context, command, YES } from '../declaration.ts';
import { Failure, UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import type { Column } from '../out.ts';
import { counted, readTime } from '../values.ts';
import { DEED_COLUMNS, DEED_OPTIONS, readDeeds } from './change-deeds.ts';
import { makePreview, NODES, showCounts, showPreview } from './config-preview.ts';
import { tellHarms, unlessForbidden } from './publish-effect.ts';

type Out = Context['out'];
type ChangeSet = Schemas['ChangeSet'];

const BASE = '/api/v1/change-sets';
const SET = `${BASE}/{id}` as const;
const STATES = ['Open', 'Scheduled', 'Applied', 'Discarded', 'Failed'] as const;
const ID = { name: 'id', summary: 'the number of the change' } as const;

/** @throws UsageError */
function pathOf(id: string): { id: string } {
  if (!/^[1-9]\d{0,14}$/.test(id)) throw new UsageError(`"${id}" is no number of a change, such as 42.`);
  return { id };
}

const list = command({
  path: 'change list',
  summary: 'list changes, the newest first',
  options: {
    state: { value: 'STATE', choices: STATES, summary: 'those in this state alone' },
    author: { value: 'USER', summary: 'those that this user made or edited' },
    configuration: { value: 'NAME', summary: 'those that name this configuration or composite' },
    approvable: { summary: 'those that wait for your approval' },
  },
  examples: ['hawserctl change list --state Open', 'hawserctl change list --approvable'],
  async run({ api, out, options: { state, author, configuration, approvable } }) {
    const found = await api.all(BASE, {
      query: {
        ...(state !== undefined && { state: state as ChangeSet['state'] }),
        ...{ author, configuration },
        ...(approvable && { approvable: true }),
      },
    });
    out.answer(found, () => out.table(found, LIST_COLUMNS, 'There are no such changes.'));
  },
});

const LIST_COLUMNS: readonly Column<ChangeSet>[] = [
  { title: 'NO', cell: ({ id }) => id },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'DEEDS', cell: ({ deeds, hiddenDeeds }) => deeds.length + hiddenDeeds },
  { title: 'MADE', cell: ({ createdAt }) => dateTime(createdAt) },
  { title: 'BY', cell: ({ createdBy }) => createdBy },
  { title: 'APPLY AT', cell: ({ applyAt }) => dateTime(applyAt) },
];

const show = command({
  path: 'change show',
  summary: 'show a change: its deeds, and what stands in its way',
  arguments: [ID],
  examples: ['hawserctl change show 42'],
  async run({ api, out, arguments: given }) {
    const set = await api.get(SET, { path: pathOf(given.id) });
    out.answer(set, () => showSet(set, out));
  },
});

function showSet(set: ChangeSet, out: Out): void {
  const { id, title, description, state, deeds, hiddenDeeds, createdAt, createdBy, check } = set;
  const { applyAt, appliedAt, appliedBy, failure, override, revertOf, revertedBy, protection, approvals } =
    set;
  out.fields({
    Change: `${id}: ${title}`,
    ...(description !== null && { Description: description }),
    State: state,
    Proposed: `${dateTime(createdAt)} by ${createdBy}`,
    ...(applyAt !== null && { 'To be applied': dateTime(applyAt) }),
    ...(appliedAt !== null && { Applied: `${dateTime(appliedAt)} by ${appliedBy}` }),
    ...(override !== null && { Override: `by ${override.by}: ${override.reason}` }),
    ...(failure !== null && { Failed: `${failure.code}: ${failure.message}` }),
    ...(revertOf !== null && { 'Takes back': `change ${revertOf}` }),
    ...(revertedBy !== null && { 'Taken back by': `change ${revertedBy}` }),
  });
  out.text('');
  out.table([...deeds.entries()], DEED_COLUMNS, '');
  if (hiddenDeeds > 0) out.text(`${counted(hiddenDeeds, 'more deed')} may not be seen by you.`);
  if (protection.length > 0) {
    out.text('');
    out.table(protection, PROTECTION_COLUMNS, '');
  }
  for (const { by, at, digest } of approvals)
    out.text(`Approved: ${dateTime(at)} by ${by}${digest === set.digest ? '' : ', before it was changed'}`);
  for (const said of check?.blockers ?? []) out.text(`Blocked: ${sentenceOf(said)}`);
  for (const said of check?.findings ?? []) out.text(`Warning: ${sentenceOf(said)}`);
}

const PROTECTION_COLUMNS: readonly Column<ChangeSet['protection'][number]>[] = [
  {
    title: 'PROTECTED BY',
    cell: ({ by }) => by.configurationName ?? by.compositeName ?? `scope value ${by.scopeValueId}`,
  },
  { title: 'APPROVALS', cell: ({ approvals }) => approvals },
  { title: 'GROUP', cell: ({ group }) => group },
  { title: 'MISSING', cell: ({ missing }) => missing },
];

function sentenceOf({ deed, message, code }: NonNullable<ChangeSet['check']>['blockers'][number]): string {
  return `${deed === null ? '' : `deed ${deed + 1}: `}${message} (${code})`;
}

const DESCRIPTION = {
  message: { value: 'TEXT', short: 'm', summary: 'what it is for, in a few sentences' },
} as const;

const create = command({
  path: 'change create',
  summary: 'propose a change, which does nothing by itself',
  description:
    'The deeds act together, in this order: those of the file, then what is published, then what is done to the nodes of --node ' +
    'or --filter.',
  arguments: [{ name: 'title', summary: 'what it does, in one line' }],
  options: { ...DESCRIPTION, ...DEED_OPTIONS },
  examples: [
    'hawserctl change create "Faster web servers" --publish web@1.2.0 --publish-parameters web:Environment/prod@1.2.0',
    'hawserctl change create "Web 2 for rack 7" --assign web --tag Rack/7 --filter fqdn=web7*',
    'hawserctl change create "Old versions" -f deeds.yaml',
  ],
  async run(context) {
    const { api, out, options } = context;
    const deeds = await readDeeds(context);
    const { title } = context.arguments;
    const set = await api.post(BASE, { json: { title, description: options.message ?? null, deeds } });
    out.answer(set, () => showSet(set, out));
    if (!out.isJson) tellNext(set, out);
  },
});

function tellNext({ id }: ChangeSet, out: Out): void {
  out.note(`Next: "hawserctl change preview ${id}" tells whom it touches, and "change apply ${id}" does it.`);
}

const add = command({
  path: 'change add',
  summary: 'add deeds to a change that is open',
  description: 'They come behind those that it has. Whoever adds becomes an author, and its approvals end.',
  arguments: [ID],
  options: DEED_OPTIONS,
  examples: [
    'hawserctl change add 42 --publish db@3.1.0',
    'hawserctl change add 42 --tag Rack/7 --node web71',
  ],
  async run(context) {
    const { api, out } = context;
    const path = pathOf(context.arguments.id);
    const more = await readDeeds(context);
    // Its ETag guards that nobody has edited it meanwhile.
    const { title, description, deeds, hiddenDeeds } = await api.get(SET, { path });
    if (hiddenDeeds > 0)
      throw new Failure('The change has deeds that you may not see, which would be lost. Nothing was done.');
    // Deeds are shown as they are taken, with null for what was not said.
    const json = { title, description, deeds: [...(deeds as typeof more), ...more] };
    const set = await api.put(SET, { path, json });
    out.answer(set, () => showSet(set, out));
  },
});

const preview = command({
  path: 'change preview',
  summary: 'see which nodes change when a change is applied',
  description:
    'Nothing is changed. Exits with 1 where some node would get an error or nothing in place of what it gets now.',
  arguments: [ID],
  options: NODES,
  examples: ['hawserctl change preview 42 --nodes'],
  run(context) {
    const path = pathOf(context.arguments.id);
    return showPreview(context, () => beginPreview(context.api, path), `Change ${path.id}`);
  },
});

const beginPreview = (api: Api, path: { id: string }) => api.post(`${SET}/preview`, { path });

const apply = command({
  path: 'change apply',
  summary: 'do all deeds of a change as one step, now or at a time',
  description:
    'Looks first at what nodes would get, and asks. It is done only if the change is still the one that you see here, and, where ' +
    'it is done now, if it changes as many nodes as it says.',
  arguments: [ID],
  options: {
    at: { value: 'TIME', summary: 'do it then, such as 2026-12-31T18:00:00Z or 12h; at most 30 days ahead' },
    override: {
      value: 'REASON',
      summary: 'do it although approvals are missing; needs the admin-overrides, and is shown for good',
    },
    'no-preview': { summary: 'apply it without a look at what nodes would get' },
    ...YES,
  },
  examples: ['hawserctl change apply 42', 'hawserctl change apply 42 --at 2026-12-31T04:00:00Z --yes'],
  async run(context) {
    const { api, out, ask, options } = context;
    const path = pathOf(context.arguments.id);
    const applyAt = options.at === undefined ? undefined : readTime(options.at, '--at', 1);
    const { digest, title } = await api.get(SET, { path });
    const expectedChanged = options['no-preview'] ? null : await lookAtSet(context, path);
    await ask.confirm(`Apply change ${path.id}, ${title}${applyAt ? `, at ${dateTime(applyAt)}` : ''}?`);
    const guard = applyAt === undefined ? { expectedChanged } : { applyAt };
    const override = options.override === undefined ? {} : { override: options.override };
    const set = await api.post(`${SET}/apply`, { path, json: { digest, ...guard, ...override } });
    out.answer(set, () => showSet(set, out));
  },
});

/** @returns how many nodes get something else, or nothing; null where the caller may not see nodes */
async function lookAtSet(
  { api, out }: Pick<Context, 'api' | 'out'>,
  path: { id: string },
): Promise<number | null> {
  const found = await unlessForbidden(
    makePreview(api, () => beginPreview(api, path), out),
    out,
  );
  if (found === null) return null;
  if (!out.isJson) showCounts(`Change ${path.id}`, found, out);
  tellHarms(await api.all('/api/v1/previews/{id}/groups', { path: { id: found.id } }), out);
  return found.counts.changed + found.counts.unresolvable;
}

const approve = command({
  path: 'change approve',
  summary: 'approve a change as it is, where somebody else has made it',
  description:
    'It shows the change before it asks. The approval counts for what you see here, and ends when a deed or a draft is changed.',
  arguments: [ID],
  options: { 'take-back': { summary: 'take your own approval back' }, ...YES },
  examples: ['hawserctl change approve 42', 'hawserctl change approve 42 --take-back'],
  async run({ api, out, ask, options, arguments: given }) {
    const path = pathOf(given.id);
    if (options['take-back']) {
      const open = await api.delete(`${SET}/approve`, { path });
      return out.answer(open, () => showSet(open, out));
    }
    const seen = await api.get(SET, { path });
    if (!out.isJson) showSet(seen, out);
    await ask.confirm(`Approve change ${given.id}, ${seen.title}?`);
    const set = await api.post(`${SET}/approve`, { path, json: { digest: seen.digest } });
    out.answer(set, () => tellMissing(set, out));
  },
});

function tellMissing({ id, protection }: ChangeSet, out: Out): void {
  const missing = Math.max(0, ...protection.map((each) => each.missing));
  const rest =
    missing === 0 ? 'No approval is missing' : `${counted(missing, 'approval is', 'approvals are')} missing`;
  out.text(`Change ${id} is approved by you. ${rest}.`);
}

const revert = command({
  path: 'change revert',
  summary: 'propose the change that takes an applied one back',
  description: 'It does nothing before it is applied. What was changed again since stays as it is.',
  arguments: [ID],
  examples: ['hawserctl change revert 42'],
  async run({ api, out, arguments: given }) {
    const set = await api.post(`${SET}/revert`, { path: pathOf(given.id) });
    out.answer(set, () => showSet(set, out));
    if (!out.isJson) tellNext(set, out);
  },
});

export const CHANGE_COMMANDS = [create, add, show, list, preview, approve, apply, revert];
