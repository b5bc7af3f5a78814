/** `hawserctl events`: the feed of events. */

import type { Schemas } from '../../client/api-types.ts';
import { command } from '../declaration.ts';
import { dateTime } from '../formats.ts';

type Event = Schemas['CloudEvent'];

/** Seconds for which the server keeps a call open that has nothing to tell. */
const WAIT = 30;

export const events = command({
  path: 'events',
  summary: 'list what has happened, oldest first, and what happens',
  description:
    'Lists the events that are kept, which are those of 30 days. With --follow it goes on, one line for each event; with --json too, each line is an event in JSON.',
  options: {
    after: { value: 'ID', summary: 'those behind this event alone' },
    follow: { summary: 'wait for what happens, until it is stopped by Ctrl-C' },
  },
  examples: ['hawserctl events', 'hawserctl events --follow --json'],
  async run({ api, out, options: { after, follow } }) {
    const read = (behind: string | undefined, wait: number) =>
      api.get('/api/v1/events', { query: { after: behind, wait } });
    let last = after;
    const all: Event[] = [];
    for (;;) {
      const page = await read(last, follow ? WAIT : 0);
      last = page.at(-1)?.id ?? last;
      if (!follow && page.length === 0) break;
      if (!follow) all.push(...page);
      else for (const event of page) out.text(out.isJson ? JSON.stringify(event) : lineOf(event));
    }
    out.answer(all, () => out.table(all, COLUMNS, 'There are no such events.'));
  },
});

const COLUMNS = [
  { title: 'TIME', cell: ({ time }: Event) => dateTime(time) },
  { title: 'TYPE', cell: ({ type }: Event) => type },
  { title: 'SUBJECT', cell: ({ subject }: Event) => subject },
  { title: 'ID', cell: ({ id }: Event) => id },
];

const lineOf = (event: Event) => COLUMNS.map(({ cell }) => cell(event)).join('  ');
