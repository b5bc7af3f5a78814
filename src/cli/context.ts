/** Makes what a command works with from the surroundings of the process. */

import type { Api } from '../client/api.ts';
import type { Connection } from '../client/connection.ts';
import { Ask } from './ask.ts';
import type { Context } from './declaration.ts';
import { findDestination, openApi } from './destination.ts';
import { HostStore } from './hosts.ts';
import { Out } from './out.ts';

/** What the program takes from its process. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

/** What was read for a command, by the names of its declaration. */
export interface Given {
  arguments: Record<string, unknown>;
  options: Record<string, unknown>;
}

/** @returns the context, and what closes its connection */
export function openContext(
  given: Given,
  { env, cwd, stdin, stdout, stderr }: Surroundings,
): { context: Context; close: () => void } {
  const hosts = new HostStore(env);
  let opened: { api: Api; connection: Connection } | null = null;
  const out = new Out({
    ...{ stdout, stderr },
    isJson: given.options['json'] === true,
    isPlain: Boolean(env['NO_COLOR']),
  });
  const onWait = (seconds: number) => {
    out.progress(`The server asks to wait ${Math.ceil(seconds)} s.`);
  };
  const context = {
    ...(given as Pick<Context, 'arguments' | 'options'>),
    get api(): Api {
      opened ??= openApi(findDestination({ env, cwd, hosts }), onWait);
      return opened.api;
    },
    ...{ out, hosts, env, cwd, stdin },
    ask: new Ask({ stdin, stderr, isYes: given.options['yes'] === true }),
  };
  return { context, close: () => opened?.connection.close() };
}
