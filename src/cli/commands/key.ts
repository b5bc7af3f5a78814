/** `hawserctl key`: registration keys, with which nodes join. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { readText } from '../input.ts';
import { eachCommand, type Kind, listCommand } from '../resource.ts';
import { findScopeValue } from '../scopes.ts';
import { counted, readTime, readWhole } from '../values.ts';
import { ASSIGNMENT_OPTIONS, type AssignmentOptions, readAssignment } from './assignment-options.ts';

type Key = Schemas['RegistrationKey'];
type WantedProfile = NonNullable<Schemas['NewRegistrationKey']['profile']>;

const KEY: Kind<Key> = {
  word: 'key',
  namesOf: ({ keyPrefix }) => [keyPrefix],
  list: (api) => api.all('/api/v1/admin/registration-keys'),
  columns: [
    { title: 'PREFIX', cell: ({ keyPrefix }) => keyPrefix },
    { title: 'STATE', cell: stateOf },
    { title: 'USES', cell: ({ currentUses, maxUses }) => `${currentUses} of ${maxUses ?? 'any'}` },
    { title: 'NODES', cell: ({ nodes }) => nodes },
    { title: 'GIVES', cell: givenText },
    { title: 'EXPIRES', cell: ({ expiresAt }) => dateTime(expiresAt) },
    { title: 'REREGISTERS', cell: ({ allowReregistration }) => allowReregistration },
    { title: 'DESCRIPTION', cell: ({ description }) => description },
    { title: 'ID', cell: ({ id }) => id },
  ],
};

function stateOf({ isRevoked, expiresAt, maxUses, currentUses }: Key): string {
  if (isRevoked) return 'revoked';
  if (Date.parse(expiresAt) <= Date.now()) return 'expired';
  return maxUses !== null && currentUses >= maxUses ? 'used up' : 'valid';
}

/** The agent that the line of each shell sets up. */
const AGENTS = { sh: 'hawser', powershell: 'opendsc' } as const;

/** What nodes get by the key, such as `web to web-*.example.com`. */
function givenText({ profile }: Key): string | null {
  if (profile === null) return null;
  const { assignment, scopeValueIds, fqdnPattern } = profile;
  const given = [
    assignment?.configurationName,
    scopeValueIds.length > 0 ? counted(scopeValueIds.length, 'tag') : undefined,
  ].filter((part) => part !== undefined);
  const what = given.length === 0 ? 'nothing' : given.join(' and ');
  return fqdnPattern === null ? what : `${what} to ${fqdnPattern}`;
}

const create = command({
  path: 'key create',
  summary: 'make a registration key, which is shown this once',
  description:
    'Makes a registration key, and prints it, this once. With --join it prints the one line that makes a machine a node, as the server makes it; whoever has that line has the key. With --configuration and --value, nodes that register by it have these from their first poll.',
  options: {
    ...ASSIGNMENT_OPTIONS,
    value: {
      value: 'TYPE/VALUE',
      isRepeatable: true,
      summary: 'tag them, such as Environment/prod; repeatable',
    },
    fqdn: { value: 'PATTERN', summary: 'only names like this, such as web-*.example.com' },
    join: { summary: 'print the line that joins a machine, instead of the key' },
    shell: {
      value: 'SHELL',
      summary: "with --join: sh (Hawser's agent), the default, or powershell (OpenDSC's agent, on Windows)",
      choices: ['sh', 'powershell'],
    },
    description: { value: 'TEXT', summary: 'what it is for' },
    'max-uses': { value: 'N', summary: 'how many nodes it registers; without it any number' },
    expires: { value: 'TIME', summary: 'such as 12h or 2026-12-31; without it in 7 days' },
    signers: {
      value: 'FILE',
      summary: 'who may sign what the agent runs that the join line sets up, as allowed_signers of OpenSSH',
    },
    'allow-reregistration': { summary: 'let it register a known node anew, with another certificate' },
  },
  examples: [
    'hawserctl key create --max-uses 20 --expires 12h',
    'hawserctl key create --join --max-uses 1 --description "the new web server"',
    'hawserctl key create --configuration web --major 1 --value Environment/prod --fqdn "web-*.example.com"',
    'hawserctl key create --join --shell powershell >join.ps1',
    'hawserctl key create --join --signers allowed_signers',
  ],
  async run({ api, out, options, stdin, cwd }) {
    const { join, shell } = options;
    if (shell !== undefined && !join) throw new UsageError('--shell is for --join.');
    const made = await api.post('/api/v1/admin/registration-keys', {
      json: {
        description: options.description,
        maxUses: readWhole(options['max-uses'], '--max-uses'),
        ...(options.expires !== undefined && { expiresAt: readTime(options.expires, '--expires', 1) }),
        allowReregistration: options['allow-reregistration'],
        profile: await readProfile(api, options),
        ...(options.signers !== undefined && { signers: await readText({ stdin, cwd }, options.signers) }),
      },
    });
    const joining = join ? await joiningBy(api, made, shell === 'powershell' ? shell : 'sh') : null;
    out.answer({ ...made, ...joining }, () => {
      const uses = made.maxUses === null ? 'any number of nodes' : counted(made.maxUses, 'node');
      out.note(`It registers ${uses} until ${dateTime(made.expiresAt)}, and is shown this once:`);
      out.text(joining?.line ?? made.key ?? '');
    });
  },
});

interface ProfileOptions extends AssignmentOptions {
  configuration: string | undefined;
  value: readonly string[];
  fqdn: string | undefined;
}

/** @returns undefined where nothing of a profile was said @throws UsageError, Failure */
async function readProfile(api: Context['api'], options: ProfileOptions): Promise<WantedProfile | undefined> {
  const { configuration, value: values, fqdn: fqdnPattern } = options;
  const isOfNothing = [options.major, options.version, options.channel].some((said) => said !== undefined);
  if (configuration === undefined && (isOfNothing || options.composite))
    throw new UsageError(
      '--composite, --major, --version and --channel say more of --configuration: say that too.',
    );
  if (configuration === undefined && values.length === 0 && fqdnPattern === undefined) return undefined;
  const assignment = configuration === undefined ? null : readAssignment(configuration, options);
  const scopeValueIds: string[] = [];
  for (const value of values) scopeValueIds.push((await findScopeValue(api, value, '--value')).id);
  return { assignment, scopeValueIds, fqdnPattern };
}

/** @throws Problem what the server says where it makes no line */
async function joiningBy(api: Api, { id, key }: Key, shell: keyof typeof AGENTS) {
  const path = { keyId: id };
  try {
    return await api.post('/api/v1/admin/registration-keys/{keyId}/join-line', {
      path,
      json: { key: key ?? '', shell, agent: AGENTS[shell] },
    });
  } catch (error) {
    // What nobody has been shown must not stay valid.
    await api.delete('/api/v1/admin/registration-keys/{keyId}', { path });
    throw error;
  }
}

export const KEY_COMMANDS = [
  create,
  listCommand(KEY, '--filter isRevoked=false'),
  eachCommand(KEY, {
    verb: 'revoke',
    done: 'Revoked',
    summary: 'revoke registration keys; nodes that they have registered stay',
    example: 'hwk_4fQ2',
    run: (api, keyId) => api.delete('/api/v1/admin/registration-keys/{keyId}', { path: { keyId } }),
  }),
];
