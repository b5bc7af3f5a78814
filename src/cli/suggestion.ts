/** What somebody may have meant by a name that the server does not know. */

import type { Api } from '../client/api.ts';
import { ApiProblem } from '../client/errors.ts';
import { COMPOSITE, CONFIGURATION } from './commands/config-kinds.ts';
import type { Command, Context } from './declaration.ts';
import { Failure } from './errors.ts';
import { isId } from './names.ts';
import { nearestOf } from './nearest.ts';

/**
 * What to say beside an error that something was not found. It asks the server for the names that there are.
 * @returns a sentence; null where nothing is like what was said, or where the names cannot be read
 */
export async function suggestion(
  error: unknown,
  { path }: Pick<Command, 'path'>,
  context: Context,
): Promise<string | null> {
  const isMissing =
    (error instanceof ApiProblem && error.status === 404) ||
    (error instanceof Failure && error.message.startsWith('not_found:'));
  if (!isMissing) return null;
  const words = context.arguments as Readonly<Record<string, string | readonly string[] | undefined>>;
  try {
    const { name, version, node } = words;
    if (node !== undefined) return await nearNode(context.api, [node].flat(), error.message);
    const isComposite =
      path.startsWith('composite ') || (context.options as Record<string, unknown>)['composite'];
    // What a message quotes is what is missing, such as a child of a composite.
    const [, quoted] = /"([^"]+)"/.exec(error.message) ?? [];
    if (typeof name === 'string' && (quoted === undefined || quoted === name))
      return await nearVersion(context.api, isComposite ? COMPOSITE : CONFIGURATION, name, version);
  } catch {
    // What is asked for here only helps: the error that is there is the one that counts.
  }
  return null;
}

async function nearVersion(
  api: Api,
  { base, noun }: typeof COMPOSITE | typeof CONFIGURATION,
  name: string,
  version: unknown,
): Promise<string | null> {
  const names = (await api.all(base)).map((each) => each.name);
  if (!names.some((each) => each.toLowerCase() === name.toLowerCase())) {
    const nearest = nearestOf(name, names);
    return nearest && `Did you mean the ${noun} "${nearest}"?`;
  }
  if (typeof version !== 'string') return null;
  const versions = await api.all(`${base}/{name}/versions` as const, { path: { name } });
  const nearest = nearestOf(
    version,
    versions.map((each) => each.version),
  );
  return (
    nearest &&
    `Did you mean version ${nearest}? "hawserctl ${noun === 'composite' ? noun : 'config'} show ${name}" lists them.`
  );
}

/** A fleet is not read whole for this: the server looks for both halves of the word. */
async function nearNode(api: Api, words: readonly string[], message: string): Promise<string | null> {
  const word = words.find((each) => message.includes(each)) ?? words[0];
  if (word === undefined || isId(word)) return null;
  const middle = Math.ceil(word.length / 2);
  const halves = [word.slice(0, middle), word.slice(middle)].filter((half) => half.length > 1);
  const found = await Promise.all(
    halves.map((fqdn) => api.get('/api/v1/nodes', { query: { fqdn, take: 1000 } })),
  );
  const nearest = nearestOf(
    word,
    found.flat().map(({ fqdn }) => fqdn),
  );
  return nearest && `Did you mean the node "${nearest}"?`;
}
