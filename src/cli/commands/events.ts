/** `hawserctl events`: the feed of events. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import type { Column } from '../out.ts';

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
    if (follow) {
      for await (const page of pagesOf(api, after, WAIT))
        for (const event of page) out.text(out.isJson ? JSON.stringify(event) : lineOf(event));
      return;
    }
    const all: Event[] = [];
    for await (const page of pagesOf(api, after, 0)) {
      if (page.length === 0) break;
      all.push(...page);
    }
    out.answer(all, () => out.table(all, COLUMNS, 'There are no such events.'));
  },
});

/** The pages of the feed, without an end; one is empty where nothing happened within so many seconds. */
async function* pagesOf(api: Api, after: string | undefined, wait: number): AsyncGenerator<Event[]> {
  for (let last = after; ; ) {
    const page = await api.get('/api/v1/events', { query: { after: last, wait } });
    last = page.at(-1)?.id ?? last;
    yield page;
  }
}

const COLUMNS: readonly Column<Event>[] = [
  { title: 'TIME', cell: ({ time }) => dateTime(time) },
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'SUBJECT', cell: ({ subject }) => subject },
  { title: 'ID', cell: ({ id }) => id },
];

const lineOf = (event: Event) => COLUMNS.map(({ cell }) => cell(event)).join('  ');
