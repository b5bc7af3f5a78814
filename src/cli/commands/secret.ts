/**
 * `hawserctl secret`: one value of parameters, encrypted or in the clear, which comes from a file, stdin or a prompt; and change
 * sets that encrypt what is stored.
 */

import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { readSecretLine, readText } from '../input.ts';
import { counted, required } from '../values.ts';
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

const OF_CONFIGURATION = {
  configuration: {
    value: 'NAME',
    summary: 'of this configuration alone; default: of all whose parameters you may change',
  },
} as const;

/** Both make a change set, or say that nothing is left to do. */
async function proposeAnew(
  {
    api,
    out,
    options: { configuration },
  }: Pick<Context, 'api' | 'out'> & { options: { configuration: string | undefined } },
  path: '/api/v1/change-sets/rekey' | '/api/v1/change-sets/seal',
): Promise<void> {
  const made = await api.post(path, {
    json: configuration === undefined ? {} : { configurationName: configuration },
  });
  if (made === undefined) {
    if (out.isJson) out.json(null);
    out.note('Nothing is left to do.');
    return;
  }
  out.answer(made, () => {
    const { id, title, description, deeds } = made;
    out.text(`Change set ${id} publishes ${counted(deeds.length, 'parameter file')} anew: ${title}.`);
    if (description !== null) out.note(description);
    out.note('Nothing is changed before it is applied. A preview of it tells what nodes would get.');
  });
}

const seal = command({
  path: 'secret seal',
  summary: 'propose a change set that encrypts secrets which stand in the clear',
  description:
    'The newest file of each scope and major that holds any is published anew, as the next patch. Nodes get the same files, under ' +
    'other checksums once. Older versions keep the secrets in the clear until they are removed.',
  options: OF_CONFIGURATION,
  examples: ['hawserctl secret seal', 'hawserctl secret seal --configuration web'],
  run: (context) => proposeAnew(context, '/api/v1/change-sets/seal'),
});

const rekey = command({
  path: 'secret rekey',
  summary: 'propose a change set that encrypts secrets by the newest key',
  description:
    'The newest file of each scope and major with a secret under an older key is published anew, as the next patch. It changes no ' +
    'checksum. Do it after "hawser rotate-secrets-key", before an old key is taken out of the key file.',
  options: OF_CONFIGURATION,
  examples: ['hawserctl secret rekey', 'hawserctl secret rekey --configuration web'],
  run: (context) => proposeAnew(context, '/api/v1/change-sets/rekey'),
});

export const SECRET_COMMANDS = [encrypt, reveal, seal, rekey];
