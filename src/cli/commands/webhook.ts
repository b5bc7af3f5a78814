/** `hawserctl webhook`: whom the server calls with events, and what became of each call. */

import { randomBytes } from 'node:crypto';
import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { readText } from '../input.ts';
import { findNamed } from '../names.ts';
import type { Column } from '../out.ts';
import { doEach, eachCommand, listCommand, type ReadKind, showCommand, updateCommand } from '../resource.ts';

type Webhook = Schemas['Webhook'];
type Delivery = Schemas['WebhookDelivery'];

const STATES = ['Pending', 'Delivered', 'Failed'] as const;

/** Standard Webhooks takes 24 to 64 bytes. */
const SECRET_BYTES = 32;

const WEBHOOK: ReadKind<Webhook, Webhook> = {
  word: 'webhook',
  namesOf: ({ url }) => [url],
  list: (api) => api.all('/api/v1/webhooks'),
  read: (api, id) => api.get('/api/v1/webhooks/{id}', { path: { id } }),
  columns: [
    { title: 'URL', cell: ({ url }) => url },
    { title: 'EVENTS', cell: ({ events }) => events.join(', ') },
    { title: 'ACTIVE', cell: ({ isActive }) => isActive },
    { title: 'ID', cell: ({ id }) => id },
  ],
  fields: (webhook) => ({
    Url: webhook.url,
    Events: webhook.events.join(', '),
    Active: webhook.isActive,
    Created: dateTime(webhook.createdAt),
    Changed: dateTime(webhook.modifiedAt),
    Id: webhook.id,
  }),
};

const EVENT = { value: 'TYPE', isRepeatable: true } as const;
const SECRET_FILE = {
  'secret-file': {
    value: 'FILE',
    summary: 'read the secret from this file, - for stdin; without it one is made',
  },
} as const;
const ONE = { name: 'webhook', summary: 'the address or the id' } as const;

interface Secret {
  secret: string;
  /** It was made here, so nobody else knows it yet. */
  isNew: boolean;
}

async function readSecret(
  file: string | undefined,
  surroundings: Pick<Context, 'stdin' | 'cwd'>,
): Promise<Secret> {
  if (file === undefined)
    return { secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`, isNew: true };
  return { secret: (await readText(surroundings, file)).trim(), isNew: false };
}

/** Prints a webhook, and a secret that was made here. With `--json` the secret is a member of the webhook. */
function tell(out: Context['out'], webhook: Webhook, { secret, isNew }: Secret): void {
  if (!isNew) {
    out.answer(webhook, () => out.fields(WEBHOOK.fields(webhook)));
    return;
  }
  out.answer({ ...webhook, secret }, () => {
    out.note(`Events to ${webhook.url} are signed with this secret, which is shown this once:`);
    out.text(secret);
  });
}

const create = command({
  path: 'webhook create',
  summary: 'have events sent to an address',
  description:
    'Has events sent to an address, and prints the secret that signs them, this once. An address that is not public needs HAWSER_WEBHOOK_ALLOW on the server.',
  arguments: [{ name: 'url', summary: 'an https address' }],
  options: {
    event: {
      ...EVENT,
      summary: 'a type of events, or one with a star such as rollout.*; may be said several times',
    },
    ...SECRET_FILE,
  },
  examples: [
    'hawserctl webhook create https://ci.example.org/hawser --event "rollout.*" --event node.status_changed',
    'hawserctl webhook create https://ci.example.org/hawser --event "*" --secret-file secret.txt',
  ],
  async run({ api, out, arguments: { url }, options, ...surroundings }) {
    if (options.event.length === 0)
      throw new UsageError("Say which events, such as --event 'rollout.*'; '*' stands for all.");
    const secret = await readSecret(options['secret-file'], surroundings);
    const json = { url, events: [...options.event], secret: secret.secret };
    tell(out, await api.post('/api/v1/webhooks', { json }), secret);
  },
});

const changeSecret = command({
  path: 'webhook secret',
  summary: 'give a webhook another secret',
  description:
    'Gives a webhook another secret. Without --secret-file it makes one and prints it, this once, and the receiver refuses events until it has that one too. So make one yourself, add it at the receiver beside the old one, and then use --secret-file.',
  arguments: [ONE],
  options: SECRET_FILE,
  examples: ['hawserctl webhook secret https://ci.example.org/hawser --secret-file new.txt'],
  async run({ api, out, arguments: { webhook }, options, ...surroundings }) {
    const { id, url, events, isActive } = await find(api, webhook);
    const secret = await readSecret(options['secret-file'], surroundings);
    const json = { url, events, isActive, secret: secret.secret };
    tell(out, await api.put('/api/v1/webhooks/{id}', { path: { id }, json }), secret);
  },
});

const find = async (api: Api, webhook: string) =>
  findNamed(await WEBHOOK.list(api), webhook, WEBHOOK.word, WEBHOOK.namesOf);

const deliveries = command({
  path: 'webhook deliveries',
  summary: 'list what was sent to a webhook, and what waits, newest first',
  arguments: [ONE],
  options: { state: { value: 'STATE', choices: STATES, summary: 'those in this state alone' } },
  examples: ['hawserctl webhook deliveries https://ci.example.org/hawser --state Failed'],
  async run({ api, out, arguments: { webhook }, options: { state } }) {
    const { id } = await find(api, webhook);
    const found = await deliveriesOf(api, id, state as Delivery['state'] | undefined);
    out.answer(found, () => out.table(found, DELIVERY_COLUMNS, 'There are no such deliveries.'));
  },
});

const deliveriesOf = (api: Api, id: string, state?: Delivery['state']) =>
  api.all('/api/v1/webhooks/{id}/deliveries', { path: { id }, query: { state } });

const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { title: 'CREATED', cell: ({ createdAt }) => dateTime(createdAt) },
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'SUBJECT', cell: ({ subject }) => subject },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'ATTEMPTS', cell: ({ attempts }) => attempts },
  { title: 'LAST', cell: ({ lastStatus, lastError }) => lastError ?? lastStatus },
  { title: 'NEXT', cell: ({ nextAttemptAt }) => dateTime(nextAttemptAt) },
  { title: 'ID', cell: ({ id }) => id },
];

const redeliver = command({
  path: 'webhook redeliver',
  summary: 'send events to a webhook again',
  arguments: [ONE, { name: 'delivery', summary: 'ids of deliveries', isVariadic: true, isOptional: true }],
  options: { failed: { summary: 'all that have failed' } },
  examples: ['hawserctl webhook redeliver https://ci.example.org/hawser --failed'],
  async run({ api, out, arguments: given, options: { failed } }) {
    const wanted: readonly string[] = given.delivery ?? [];
    if (failed === wanted.length > 0) throw new UsageError('Say the ids of deliveries, or --failed.');
    const { id } = await find(api, given.webhook);
    // The oldest comes first, so that events of one subject keep their order.
    const ids = failed ? (await deliveriesOf(api, id, 'Failed')).map((each) => each.id).reverse() : wanted;
    if (ids.length === 0) out.note('None has failed.');
    const chosen = ids.map((deliveryId) => ({ id: deliveryId, name: deliveryId }));
    return doEach(out, 'Sent again', chosen, (deliveryId) =>
      api.post('/api/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver', { path: { id, deliveryId } }),
    );
  },
});

export const WEBHOOK_COMMANDS = [
  listCommand(WEBHOOK, '--filter isActive=false'),
  showCommand(WEBHOOK, 'https://ci.example.org/hawser'),
  create,
  updateCommand(WEBHOOK, {
    options: {
      url: { value: 'URL', summary: 'its new address' },
      event: { ...EVENT, summary: 'the types of events from now on; may be said several times' },
      active: { value: 'WORD', choices: ['yes', 'no'], summary: 'whether events are sent' },
    },
    examples: ['hawserctl webhook update https://ci.example.org/hawser --active no'],
    body: (webhook, { url, event, active }): Schemas['WebhookChange'] => ({
      url: url ?? webhook.url,
      events: event.length > 0 ? [...event] : webhook.events,
      isActive: active === undefined ? webhook.isActive : active === 'yes',
    }),
    replace: (api, id, json) => api.put('/api/v1/webhooks/{id}', { path: { id }, json }),
  }),
  changeSecret,
  eachCommand(WEBHOOK, {
    verb: 'delete',
    done: 'Deleted',
    summary: 'delete webhooks with their deliveries',
    example: 'https://ci.example.org/hawser',
    run: (api, id) => api.delete('/api/v1/webhooks/{id}', { path: { id } }),
  }),
  deliveries,
  redeliver,
];
