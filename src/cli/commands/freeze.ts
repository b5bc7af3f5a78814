/** `hawserctl freeze`: until a time nobody may change what nodes get. */

import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { readTime } from '../values.ts';

const PATH = '/api/v1/settings/freeze';

const show = command({
  path: 'freeze show',
  summary: 'show whether what nodes get is frozen, until when and why',
  examples: ['hawserctl freeze show'],
  async run({ api, out }) {
    const freeze = await api.get(PATH);
    out.answer(freeze, () => showFreeze(freeze, out));
  },
});

function showFreeze({ isFrozen, until, ...freeze }: Schemas['Freeze'], out: Context['out']): void {
  if (!isFrozen || until === null) out.text('Nothing is frozen.');
  else out.text(`Frozen until ${dateTime(until)} by ${freeze.frozenBy}: ${freeze.reason}`);
}

const set = command({
  path: 'freeze set',
  summary: 'let nobody change what nodes get until a time',
  arguments: [{ name: 'reason', summary: 'why, for everybody whose change is refused' }],
  options: {
    until: {
      value: 'TIME',
      summary: 'when it ends by itself, such as 2026-12-27 or 12h; at most 90 days ahead',
    },
  },
  examples: ['hawserctl freeze set --until 72h "Christmas sales"'],
  async run({ api, out, options: { until }, arguments: { reason } }) {
    if (until === undefined) throw new UsageError('A freeze needs an end: say --until.');
    const json = { reason, until: readTime(until, '--until', 1) };
    const freeze = await api.put(PATH, { json });
    out.answer(freeze, () => showFreeze(freeze, out));
  },
});

const end = command({
  path: 'freeze end',
  summary: 'end the freeze before its time',
  examples: ['hawserctl freeze end'],
  async run({ api, out }) {
    await api.delete(PATH);
    out.note('Nothing is frozen any more.');
  },
});

export const FREEZE_COMMANDS = [show, set, end];
