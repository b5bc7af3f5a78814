/** The fields of a webhook, and the secrets by which its receiver knows the server. */

import { ApiProblem } from '../../client.ts';
import { Field, TextField } from '../../components/field.tsx';

/** What the fields hold. */
export interface WebhookWish {
  url: string;
  /** One type, or glob, on each line. */
  events: string;
}

interface WebhookFieldsProps {
  value: WebhookWish;
  onInput: (member: keyof WebhookWish, text: string) => void;
  problem: ApiProblem | null;
}

export function WebhookFields({ value, onInput, problem }: WebhookFieldsProps) {
  return (
    <>
      <Field
        label="Address"
        name="url"
        hint="It begins with https://. An address that is not public is refused unless HAWSER_WEBHOOK_ALLOW names it."
        autocomplete="off"
        required
        problem={problem}
        value={value.url}
        onInput={(text) => onInput('url', text)}
      />
      <TextField
        label="Event types"
        name="events"
        hint={
          'One on each line, such as node.status_changed. Each may have one star, which stands for any characters: ' +
          'rollout.* is all that becomes of rollouts, and a star alone is every event.'
        }
        required
        problem={atEvents(problem, value.events)}
        value={value.events}
        onInput={(text) => onInput('events', text)}
      />
    </>
  );
}

/** The types of the text as the API takes them. */
export function typesIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const EVENT = /^\/events\/(\d+)$/;

/** The faults of single types stand below the one field that has them all. */
function atEvents(problem: ApiProblem | null, text: string): ApiProblem | null {
  if (problem === null) return null;
  const types = typesIn(text);
  const errors = problem.errors.map((fault) => {
    const place = EVENT.exec(fault.path ?? '')?.[1];
    if (place === undefined) return fault;
    return { ...fault, path: '/events', message: `${types[Number(place)]}: ${fault.message}` };
  });
  return new ApiProblem(problem.status, { ...problem.body, errors }, problem.retryAfter);
}

/** Bytes of a secret; the API takes 24 to 64. */
const SECRET_SIZE = 32;

/** A secret as Standard Webhooks writes them. */
export function makeSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_SIZE))))}`;
}

/** What a webhook is called. Its path may be a secret, so it stands neither in titles nor in the history of the browser. */
export const hostOf = (url: string) => new URL(url).host;
