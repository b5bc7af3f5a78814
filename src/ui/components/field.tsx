/** Labelled fields of forms. What the API says about a member stands below its field. */

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ApiProblem } from '../client.ts';

interface Common {
  label: string;
  /** The member of the body, for the API's faults, such as `name` or `parameters/port`. */
  name: string;
  hint?: string;
  problem?: ApiProblem | null;
}

function faultOf(name: string, problem: ApiProblem | null | undefined): string | undefined {
  return problem?.errors.find(({ path }) => path === `/${name}`)?.message;
}

function Labelled({
  label,
  name,
  hint,
  problem,
  children,
}: Common & { children: (ids: Ids) => ComponentChildren }) {
  const id = useId();
  const fault = faultOf(name, problem);
  const describedBy = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
        ...(fault === undefined ? {} : { 'aria-invalid': 'true' as const }),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {fault !== undefined && (
        <p id={`${id}-fault`} class="fault">
          {fault}
        </p>
      )}
    </div>
  );
}

interface Ids {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: 'true';
}

type InputProps = Common & {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'number' | 'password' | 'email' | 'datetime-local';
  required?: boolean;
  disabled?: boolean;
  autocomplete?: 'off' | 'username' | 'current-password' | 'new-password';
  /** The id of a datalist with proposals. */
  list?: string;
  min?: number;
  max?: number;
};

/** One line of text, a number, a time or a password. */
export function Field({ label, name, hint, problem, value, onInput, type = 'text', ...rest }: InputProps) {
  const common = { label, name, ...(hint === undefined ? {} : { hint }), ...(problem ? { problem } : {}) };
  return (
    <Labelled {...common}>
      {(ids) => (
        <input
          {...rest}
          {...ids}
          // Preact's types tie other attributes to each type.
          {...({ type } as { type: 'text' })}
          name={name}
          value={value}
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

type AreaProps = Common & {
  value: string;
  onInput: (value: string) => void;
  rows?: number;
  required?: boolean;
  maxLength?: number;
};

/** Several lines of text. */
export function TextField({
  label,
  name,
  hint,
  problem,
  value,
  onInput,
  rows = 3,
  required = false,
  maxLength,
}: AreaProps) {
  const common = { label, name, ...(hint === undefined ? {} : { hint }), ...(problem ? { problem } : {}) };
  return (
    <Labelled {...common}>
      {(ids) => (
        <textarea
          {...ids}
          name={name}
          rows={rows}
          required={required}
          maxLength={maxLength}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

export interface Choice {
  value: string;
  label: string;
}

type SelectProps = Common & {
  value: string;
  onInput: (value: string) => void;
  choices: readonly Choice[];
  required?: boolean;
};

/** One of a few choices. */
export function SelectField({
  label,
  name,
  hint,
  problem,
  value,
  onInput,
  choices,
  required = false,
}: SelectProps) {
  const common = { label, name, ...(hint === undefined ? {} : { hint }), ...(problem ? { problem } : {}) };
  return (
    <Labelled {...common}>
      {(ids) => (
        <select
          {...ids}
          name={name}
          required={required}
          value={value}
          onChange={(event) => onInput(event.currentTarget.value)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

interface RadioProps<T extends string> {
  legend: string;
  choices: readonly { value: T; label: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** One of a few choices, all of which are seen. */
export function RadioField<T extends string>({ legend, choices, value, onChange }: RadioProps<T>) {
  const group = useId();
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="radios">
        {choices.map((each) => (
          <label key={each.value}>
            <input
              type="radio"
              name={group}
              checked={each.value === value}
              onChange={() => onChange(each.value)}
            />
            {each.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

type CheckProps = {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  hint?: string;
};

/** Yes or no. */
export function CheckField({ label, checked, onChange, disabled = false, hint }: CheckProps) {
  const id = useId();
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

type FileProps = Common & {
  onChange: (file: File | null) => void;
  /** The endings that the browser proposes, such as `.yaml,.json`. */
  accept?: string;
  required?: boolean;
};

/** One file of the person's machine. */
export function FileField({ label, name, hint, problem, onChange, accept, required = false }: FileProps) {
  const common = { label, name, ...(hint === undefined ? {} : { hint }), ...(problem ? { problem } : {}) };
  return (
    <Labelled {...common}>
      {(ids) => (
        <input
          {...ids}
          type="file"
          name={name}
          accept={accept}
          required={required}
          onChange={(event) => onChange(event.currentTarget.files?.[0] ?? null)}
        />
      )}
    </Labelled>
  );
}
