/** `hawserctl secret`: one value of parameters, encrypted or in the clear. Values come from a file, stdin or a prompt. */

import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { readSecretLine, readText } from '../input.ts';
import { required } from '../values.ts';
import { checkVersion } from './config-kinds.ts';
import { CONFIGURATION_ARGUMENT, findSet, SCOPE, VERSION_PATH } from './param-files.ts';

const PATH = {
  path: { value: 'POINTER', summary: 'where it stands, such as /parameters/password' },
} as const;

type Surroundings = Pick<Context, 'ask' | 'stdin' | 'cwd'>;

/** @throws UsageError where there is neither a file nor somebody to ask */
export async function readSecret(
  surroundings: Surroundings,
  path: string,
  { file, json }: { file: string | undefined; json: boolean },
): Promise<unknown> {
  if (!json) {
    if (file !== undefined) return readSecretLine(surroundings, file);
    return surroundings.ask.secret(`Value of ${path}`, 'say -f FILE, or -f - for stdin');
  }
  try {
    return JSON.parse(await readText(surroundings, required(file, '--file', '-f value.json')));
  } catch (error) {
    // The error of JSON.parse quotes the value.
    if (error instanceof SyntaxError) throw new UsageError(`What ${file} holds is no JSON.`);
    throw error;
  }
}

const encrypt = command({
  path: 'secret encrypt',
  summary: 'encrypt one value for its place in the parameters of a scope',
  description:
    'Prints the text that a file may hold there, for files that are pushed with git. The value is a line that is asked for ' +
    'or read from a file; it is never an argument. Nothing is stored on the server.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: {
    ...SCOPE,
    ...PATH,
    file: { value: 'FILE', short: 'f', summary: 'read the value from this file, - for stdin' },
    json: { summary: 'the file holds JSON, such as a number or a list' },
  },
  examples: [
    'hawserctl secret encrypt web --scope Environment/prod --path /parameters/password',
    'hawserctl secret encrypt web --scope Default --path /parameters/keys --json -f keys.json',
  ],
  async run(context) {
    const { api, out, options } = context;
    const path = required(options.path, '--path', '--path /parameters/password');
    const files = await findSet(api, context.arguments.name, options.scope);
    const value = await readSecret(context, path, options);
    const sealed = await api.post('/api/v1/parameters/{scopeTypeId}/{configurationId}/encrypt', {
      path: files.path,
      json: { ...files.query, path, value },
    });
    out.answer(sealed, () => out.text(sealed.text));
  },
});

const reveal = command({
  path: 'secret reveal',
  summary: 'see one secret of a version in the clear, with a reason for the audit trail',
  description: 'Needs the permission secrets.reveal. Each user may see 30 secrets an hour.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: {
    ...SCOPE,
    ...PATH,
    version: { value: 'VERSION', summary: 'the version, such as 1.2.0' },
    reason: { value: 'TEXT', summary: 'why; it stands in the audit trail' },
  },
  examples: [
    'hawserctl secret reveal web --scope Environment/prod --version 1.2.0 --path /parameters/password --reason "moving the database"',
  ],
  async run(context) {
    const { api, out, options } = context;
    const path = required(options.path, '--path', '--path /parameters/password');
    const version = required(options.version, '--version', '--version 1.2.0');
    checkVersion(version);
    const reason = required(options.reason, '--reason', '--reason "moving the database"');
    const files = await findSet(api, context.arguments.name, options.scope);
    const seen = await api.post(`${VERSION_PATH}/reveal`, {
      path: { ...files.path, version },
      json: { ...files.query, path, reason },
    });
    const { value } = seen;
    out.answer(seen, () => out.text(typeof value === 'string' ? value : JSON.stringify(value)));
  },
});

export const SECRET_COMMANDS = [encrypt, reveal];
