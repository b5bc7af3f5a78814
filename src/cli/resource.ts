/**
 * Families of commands for what has an id and a name: list, show, create, update and delete are made from one
 * description of each kind.
 */

import type { Api } from '../client/api.ts';
import { ApiProblem } from '../client/errors.ts';
import { type Command, type Context, command, type OptionDeclaration, YES } from './declaration.ts';
import { EXIT, UsageError } from './errors.ts';
import { applyFilters, FILTER } from './filters.ts';
import { findAllNamed, findNamed } from './names.ts';
import type { Column } from './out.ts';
import { counted, someOf } from './values.ts';

type Options = Record<string, OptionDeclaration>;
type Fields = Parameters<Context['out']['fields']>[0];

/** What a kind of thing is called, how it is found and listed. */
export interface Kind<Item extends { id: string }> {
  /** Also the first word of its commands, such as `user`. */
  word: string;
  /** The names of an item that can be typed; the first one is shown. */
  namesOf(item: Item): readonly string[];
  list(api: Api): Promise<Item[]>;
  columns: readonly Column<Item>[];
}

/** A kind of which one can be read whole. */
export interface ReadKind<Item extends { id: string }, Details extends Item> extends Kind<Item> {
  read(api: Api, id: string): Promise<Details>;
  fields(details: Details): Fields;
}

export function listCommand<Item extends { id: string }>(kind: Kind<Item>, example: string): Command {
  return command({
    path: `${kind.word} list`,
    summary: `list the ${kind.word}s`,
    options: FILTER,
    examples: [`hawserctl ${kind.word} list`, `hawserctl ${kind.word} list ${example}`],
    async run({ api, out, options }) {
      const all = await kind.list(api);
      const chosen = options.filter.length === 0 ? all : applyFilters(all, options.filter);
      out.answer(chosen, () => out.table(chosen, kind.columns, `There are no such ${kind.word}s.`));
    },
  });
}

export function showCommand<Item extends { id: string }, Details extends Item>(
  kind: ReadKind<Item, Details>,
  example: string,
): Command {
  return command({
    path: `${kind.word} show`,
    summary: `show one ${kind.word}`,
    arguments: [{ name: kind.word, summary: 'the name or the id' }],
    examples: [`hawserctl ${kind.word} show ${example}`],
    async run({ api, out, arguments: given }) {
      const { id } = findNamed(await kind.list(api), given[kind.word] ?? '', kind.word, kind.namesOf);
      const details = await kind.read(api, id);
      out.answer(details, () => out.fields(kind.fields(details)));
    },
  });
}

export function createCommand<
  Item extends { id: string },
  Details extends Item,
  const O extends Options,
  Body,
>(
  kind: ReadKind<Item, Details>,
  maker: {
    options: O;
    examples: readonly string[];
    /** @param name as it was typed */
    body(name: string, context: Context<readonly [], O>): Promise<Body> | Body;
    create(api: Api, body: Body): Promise<Details>;
  },
): Command {
  return command({
    path: `${kind.word} create`,
    summary: `make a ${kind.word}`,
    arguments: [{ name: 'name', summary: `the name of the new ${kind.word}` }],
    options: maker.options,
    examples: maker.examples,
    async run(context) {
      const body = await maker.body(context.arguments.name, context as unknown as Context<readonly [], O>);
      const made = await maker.create(context.api, body);
      context.out.answer(made, () => {
        context.out.note(`Made the ${kind.word} ${kind.namesOf(made)[0]}.`);
        context.out.fields(kind.fields(made));
      });
    },
  });
}

export function updateCommand<
  Item extends { id: string },
  Details extends Item,
  const O extends Options,
  Body,
>(
  kind: ReadKind<Item, Details>,
  changer: {
    options: O;
    examples: readonly string[];
    /** The whole of it with what was said; the API replaces all at once. */
    body(details: Details, options: Context<readonly [], O>['options']): Body;
    replace(api: Api, id: string, body: Body): Promise<Details>;
  },
): Command {
  return command({
    path: `${kind.word} update`,
    summary: `change a ${kind.word}; what is not said stays`,
    arguments: [{ name: kind.word, summary: 'the name or the id' }],
    options: changer.options,
    examples: changer.examples,
    async run({ api, out, arguments: given, options }) {
      const names = Object.keys(changer.options);
      if (!names.some((name) => isSaid(options[name])))
        throw new UsageError(`Say what to change: ${names.map((name) => `--${name}`).join(', ')}.`);
      const { id } = findNamed(await kind.list(api), given[kind.word] ?? '', kind.word, kind.namesOf);
      const body = changer.body(await kind.read(api, id), options as Context<readonly [], O>['options']);
      const changed = await changer.replace(api, id, body);
      out.answer(changed, () => out.fields(kind.fields(changed)));
    },
  });
}

/** An empty text was said: it takes what was there away. */
function isSaid(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** For `delete`, `revoke` and the like. */
export function eachCommand<Item extends { id: string }>(
  kind: Kind<Item>,
  deed: {
    verb: string;
    /** Such as `Deleted`. */
    done: string;
    summary: string;
    example: string;
    run(api: Api, id: string): Promise<unknown>;
  },
): Command {
  return command({
    path: `${kind.word} ${deed.verb}`,
    summary: deed.summary,
    arguments: [{ name: kind.word, summary: 'names or ids', isVariadic: true }],
    options: YES,
    examples: [`hawserctl ${kind.word} ${deed.verb} ${deed.example}`],
    async run({ api, out, ask, arguments: given }) {
      const wanted = (given[kind.word] ?? []) as unknown as readonly string[];
      const chosen = findAllNamed(await kind.list(api), wanted, kind.word, kind.namesOf).map((item) => {
        return { id: item.id, name: kind.namesOf(item)[0] ?? item.id };
      });
      const verb = deed.verb.charAt(0).toUpperCase() + deed.verb.slice(1);
      await confirmSeveral(ask, verb, kind.word, chosen);
      return doEach(out, `${deed.done} the ${kind.word}`, chosen, (id) => deed.run(api, id));
    },
  });
}

interface Named {
  id: string;
  name: string;
}

/** Asks only where it is more than one. */
export async function confirmSeveral(
  ask: Context['ask'],
  verb: string,
  word: string,
  chosen: readonly Named[],
): Promise<void> {
  if (chosen.length < 2) return;
  await ask.confirm(`${verb} ${counted(chosen.length, word)}: ${someOf(chosen.map(({ name }) => name))}?`);
}

/**
 * Does the same to each, and says so at once. A refusal of one stops none of the others.
 * @param done what is printed before the name, such as `Deleted the user`
 * @returns the exit code
 */
export async function doEach(
  out: Context['out'],
  done: string,
  chosen: readonly Named[],
  work: (id: string) => Promise<unknown>,
): Promise<number> {
  const outcomes: (Named & { refused: { code: string; message: string } | null })[] = [];
  for (const { id, name } of chosen) {
    try {
      await work(id);
      outcomes.push({ id, name, refused: null });
      if (!out.isJson) out.text(`${done} ${name}.`);
    } catch (error) {
      if (!(error instanceof ApiProblem) || chosen.length === 1) throw error;
      outcomes.push({ id, name, refused: { code: error.code, message: error.message } });
      out.note(`${name}: ${error.code}: ${error.message}`);
    }
  }
  if (out.isJson) out.json(outcomes);
  return outcomes.some(({ refused }) => refused !== null) ? EXIT.failed : EXIT.done;
}
