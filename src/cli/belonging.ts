/** Commands that add things to a holder and take them away, such as members of a group: the API replaces all at once. */

import type { Api } from '../client/api.ts';
import { type Command, command } from './declaration.ts';
import { findAllNamed, findNamed } from './names.ts';
import type { Kind } from './resource.ts';

export interface Belonging<Holder extends { id: string }, Item extends { id: string }> {
  holder: Kind<Holder>;
  item: Kind<Item>;
  /** The second words of the commands. */
  verbs: { add: string; remove: string };
  summaries: { add: string; remove: string };
  /** What stands behind the verb in the examples. */
  example: string;
  /** The ids that are there now. It reads the holder, whose ETag guards the change. */
  read(api: Api, holderId: string): Promise<readonly string[]>;
  /** @returns all that are there afterwards */
  replace(api: Api, holderId: string, ids: string[]): Promise<Item[]>;
}

/** @returns the command that adds, and the one that removes */
export function belongingCommands<Holder extends { id: string }, Item extends { id: string }>(
  belonging: Belonging<Holder, Item>,
): Command[] {
  return [makeCommand(belonging, 'add'), makeCommand(belonging, 'remove')];
}

function makeCommand<Holder extends { id: string }, Item extends { id: string }>(
  belonging: Belonging<Holder, Item>,
  deed: 'add' | 'remove',
): Command {
  const { holder, item, verbs, summaries, example } = belonging;
  const path = `${holder.word} ${verbs[deed]}`;
  return command({
    path,
    summary: summaries[deed],
    arguments: [
      { name: 'holder', summary: `the ${holder.word}, by name or id` },
      { name: 'items', summary: `${item.word}s, by names or ids`, isVariadic: true },
    ],
    examples: [`hawserctl ${path} ${example}`],
    async run({ api, out, arguments: { holder: name, items } }) {
      const { id } = findNamed(await holder.list(api), name, holder.word, holder.namesOf);
      const chosen = findAllNamed(await item.list(api), items, item.word, item.namesOf).map(
        (each) => each.id,
      );
      const ids = await belonging.read(api, id);
      const others = ids.filter((each) => !chosen.includes(each));
      const now = await belonging.replace(api, id, deed === 'add' ? [...others, ...chosen] : others);
      if (deed === 'remove')
        for (const each of now.filter((one) => chosen.includes(one.id)))
          out.note(`${item.namesOf(each)[0]} stays: that comes from an identity provider.`);
      out.answer(now, () => {
        const title = `${item.word.toUpperCase()}S OF ${name}`;
        const cell = (each: Item) => item.namesOf(each)[0];
        out.table(now, [{ title, cell }], `${name} has no ${item.word}s now.`);
      });
    },
  });
}
