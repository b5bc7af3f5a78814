/** A new password: typed twice, or made by the browser and then shown once. */

import type { ApiProblem } from '../client.ts';
import { CheckField, Field } from './field.tsx';

export interface NewPassword {
  isGenerated: boolean;
  /** The one that the browser made; it is used if `isGenerated`. */
  generated: string;
  typed: string;
  repeated: string;
}

/** Letters and digits that are not mistaken for each other. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 24;

export const noPassword: NewPassword = { isGenerated: false, generated: '', typed: '', repeated: '' };

/** The password that goes to the server; null while it cannot be used. */
export function passwordOf({ isGenerated, generated, typed, repeated }: NewPassword): string | null {
  if (isGenerated) return generated;
  return typed !== '' && typed === repeated ? typed : null;
}

function generate(): string {
  const letters: string[] = [];
  while (letters.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      const letter = ALPHABET[byte % 64];
      if (letter !== undefined && letters.length < LENGTH) letters.push(letter);
    }
  }
  return letters.join('');
}

interface PasswordFieldsProps {
  label: string;
  /** The member of the body. */
  name: string;
  value: NewPassword;
  onChange: (value: NewPassword) => void;
  problem?: ApiProblem | null;
  /** False where people choose their own password. */
  canGenerate?: boolean;
}

export function PasswordFields(props: PasswordFieldsProps) {
  const { label, name, value, onChange, problem = null, canGenerate = true } = props;
  const { isGenerated, generated, typed, repeated } = value;
  const differs = repeated !== '' && typed !== repeated;
  return (
    <>
      {!isGenerated && (
        <>
          <Field
            label={label}
            name={name}
            type="password"
            autocomplete="new-password"
            hint="12 to 256 characters, neither the user name nor a common password."
            required
            problem={problem}
            value={typed}
            onInput={(text) => onChange({ ...value, typed: text })}
          />
          <Field
            label="Repeat it"
            name={`${name}Repeated`}
            type="password"
            autocomplete="new-password"
            required
            {...(differs && { hint: 'The two do not match yet.' })}
            value={repeated}
            onInput={(text) => onChange({ ...value, repeated: text })}
          />
        </>
      )}
      {canGenerate && (
        <CheckField
          label="Generate it"
          hint="The browser makes a password of 24 characters. It is shown once, when it is set."
          checked={isGenerated}
          onChange={(checked) =>
            onChange({ ...value, isGenerated: checked, generated: generated || generate() })
          }
        />
      )}
    </>
  );
}

/** Tells password managers whose password the form is about. */
export function HiddenUsername({ username }: { username: string }) {
  return <input type="text" name="username" autocomplete="username" value={username} hidden readOnly />;
}
