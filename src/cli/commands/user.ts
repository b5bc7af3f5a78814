/** `hawserctl user`: people and service accounts. */

import type { Schemas } from '../../client/api-types.ts';
import { command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { findNamed } from '../names.ts';
import { PASSWORD_FILE, readNewPassword } from '../passwords.ts';
import {
  createCommand,
  eachCommand,
  listCommand,
  type ReadKind,
  showCommand,
  updateCommand,
} from '../resource.ts';
import { required } from '../values.ts';
import { roleCommands } from './role.ts';

type User = Schemas['User'];

export const USER: ReadKind<User, Schemas['UserDetails']> = {
  word: 'user',
  namesOf: ({ username }) => [username],
  list: (api) => api.all('/api/v1/users'),
  read: (api, id) => api.get('/api/v1/users/{id}', { path: { id } }),
  columns: [
    { title: 'NAME', cell: ({ username }) => username },
    { title: 'EMAIL', cell: ({ email }) => email },
    { title: 'KIND', cell: ({ accountType }) => KINDS[accountType] },
    { title: 'STATE', cell: stateOf },
    { title: 'CREATED', cell: ({ createdAt }) => dateTime(createdAt) },
  ],
  fields: (user) => ({
    Name: user.username,
    Email: user.email,
    Kind: KINDS[user.accountType],
    State: stateOf(user),
    'Locked until': dateTime(user.lockoutEnd),
    'Failed sign-ins': user.accessFailedCount,
    Roles: user.roles.map(({ name }) => name).join(', '),
    Groups: user.groups.map(({ name }) => name).join(', '),
    Created: dateTime(user.createdAt),
    Changed: dateTime(user.modifiedAt),
    Id: user.id,
  }),
};

const KINDS = { User: 'person', ServiceAccount: 'service account' } as const;

function stateOf({ isActive, lockoutEnd, requirePasswordChange }: User): string {
  if (!isActive) return 'inactive';
  if (lockoutEnd !== null) return 'locked';
  return requirePasswordChange ? 'must change the password' : 'active';
}

const create = createCommand(USER, {
  options: {
    email: { value: 'EMAIL', summary: 'the e-mail address' },
    'service-account': { summary: 'make an account for programs, which has tokens and no password' },
    ...PASSWORD_FILE,
    'keep-password': { summary: 'the password need not be changed at the first sign-in' },
  },
  examples: [
    'hawserctl user create alice --email alice@example.com',
    'hawserctl user create builds --email builds@example.com --service-account',
  ],
  async body(username, context): Promise<Schemas['NewUser']> {
    const { options } = context;
    const email = required(options.email, '--email', '--email alice@example.com');
    const file = options['password-file'];
    if (options['service-account']) {
      if (file !== undefined || options['keep-password'])
        throw new UsageError(
          'A service account has no password, so --password-file and --keep-password do not fit.',
        );
      return { username, email, accountType: 'ServiceAccount' };
    }
    const password = await readNewPassword(file, username, context);
    return { username, email, password, requirePasswordChange: !options['keep-password'] };
  },
  create: (api, json) => api.post('/api/v1/users', { json }),
});

const update = updateCommand(USER, {
  options: {
    name: { value: 'NAME', summary: 'the new name' },
    email: { value: 'EMAIL', summary: 'the new e-mail address' },
    active: { summary: 'let the user sign in again' },
    inactive: { summary: 'end all sessions and tokens, and let the user sign in no more' },
  },
  examples: ['hawserctl user update alice --email alice@example.org', 'hawserctl user update bob --inactive'],
  body: (user, options): Schemas['UserChange'] => {
    if (options.active && options.inactive)
      throw new UsageError('--active and --inactive are opposites; say one of them.');
    return {
      username: options.name ?? user.username,
      email: options.email ?? user.email,
      isActive: options.active || (!options.inactive && user.isActive),
    };
  },
  replace: (api, id, json) => api.put('/api/v1/users/{id}', { path: { id }, json }),
});

const password = command({
  path: 'user password',
  summary: 'set a password, which the user must change at the next sign-in',
  description:
    'Sets a password, which the user must change at the next sign-in. All sessions of the user end, and so does a lock.',
  arguments: [{ name: 'user', summary: 'the name or the id' }],
  options: PASSWORD_FILE,
  examples: ['hawserctl user password alice', 'hawserctl user password alice --password-file new.txt'],
  async run(context) {
    const { api, out, options, arguments: given } = context;
    const { id, username } = findNamed(await USER.list(api), given.user, USER.word, USER.namesOf);
    const newPassword = await readNewPassword(options['password-file'], username, context);
    await api.post('/api/v1/users/{id}/reset-password', { path: { id }, json: { newPassword } });
    out.answer({ id, username }, () => out.text(`The password of ${username} is set.`));
  },
});

export const USER_COMMANDS = [
  listCommand(USER, '--filter accountType=ServiceAccount'),
  showCommand(USER, 'alice'),
  ...[create, update],
  eachCommand(USER, {
    verb: 'delete',
    done: 'Deleted',
    summary: 'delete users with their sessions, tokens and grants',
    example: 'alice',
    run: (api, id) => api.delete('/api/v1/users/{id}', { path: { id } }),
  }),
  password,
  eachCommand(USER, {
    verb: 'unlock',
    done: 'Unlocked',
    summary: 'let users sign in again whom failed sign-ins have locked',
    example: 'alice',
    run: (api, id) => api.post('/api/v1/users/{id}/unlock', { path: { id } }),
  }),
  ...roleCommands(USER, '/api/v1/users/{id}', {
    summaries: {
      add: 'let a user hold roles, beside those of the groups',
      remove: 'take roles from a user; those of the groups stay',
    },
    example: 'alice Operator',
  }),
];
