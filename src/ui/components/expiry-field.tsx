/** When something expires: after some days, at a chosen time, or never. */

import type { ApiProblem } from '../client.ts';
import { Field, SelectField } from './field.tsx';

export interface Expiry {
  /** A number of days, `at` or `never`. */
  choice: string;
  /** The time for `at`, in the time zone of the browser. */
  at: string;
}

/** In milliseconds. */
const DAY = 86_400_000;

export const inDays = (days: number): Expiry => ({ choice: String(days), at: '' });

/** As the API takes it; null is never. */
export function expiryTime({ choice, at }: Expiry): string | null {
  if (choice === 'never') return null;
  return new Date(choice === 'at' ? at : Date.now() + Number(choice) * DAY).toISOString();
}

/** Says whether there is a time at all. */
export const isExpiryGiven = ({ choice, at }: Expiry) =>
  choice !== 'at' || !Number.isNaN(new Date(at).getTime());

interface ExpiryFieldProps {
  days: readonly number[];
  canBeNever?: boolean;
  value: Expiry;
  onChange: (value: Expiry) => void;
  problem?: ApiProblem | null;
}

export function ExpiryField({ days, canBeNever = false, value, onChange, problem = null }: ExpiryFieldProps) {
  const choices = [
    ...days.map((count) => ({ value: String(count), label: count === 1 ? 'in 1 day' : `in ${count} days` })),
    { value: 'at', label: 'at a time that I choose' },
    ...(canBeNever ? [{ value: 'never', label: 'never' }] : []),
  ];
  return (
    <>
      <SelectField
        label="Expires"
        name="expiresAt"
        choices={choices}
        problem={problem}
        value={value.choice}
        onInput={(choice) => onChange({ ...value, choice })}
      />
      {value.choice === 'at' && (
        <Field
          label="Expires at"
          name="expiresAtTime"
          type="datetime-local"
          required
          value={value.at}
          onInput={(at) => onChange({ ...value, at })}
        />
      )}
    </>
  );
}
