/** Dialogs with fields that are data. What is typed is text; what it means is said where it is sent. */

import type { ComponentChildren, ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { DeedDialog, type Run } from './dialog.tsx';
import { type Choice, Field, SelectField, TextField } from './field.tsx';

/** A field by the member of the body that it gives. */
export interface FormField<M extends string = string> {
  name: M;
  label: string;
  hint?: string;
  required?: boolean;
  /** Default: one line of text. */
  kind?: { lines: number } | { choices: readonly Choice[] };
}

export const DESCRIPTION = { name: 'description', label: 'Description', kind: { lines: 3 } } as const;

type Typed = Record<string, string>;

interface Props<T extends Typed>
  extends Omit<ComponentProps<typeof DeedDialog>, 'run' | 'children' | 'collected'> {
  /** What stands in the fields at first. */
  initial: T;
  fields: readonly FormField<keyof T & string>[];
  run: (typed: T) => ReturnType<Run>;
  /** What stands above the fields. */
  children?: ComponentChildren;
}

export function FormDialog<T extends Typed>({ initial, fields, run, children, ...dialog }: Props<T>) {
  const [typed, setTyped] = useState(initial);
  return (
    <DeedDialog {...dialog} run={() => run(typed)}>
      {(problem) => (
        <>
          {children}
          {fields.map(({ kind, ...field }) => {
            const value = typed[field.name] ?? '';
            const onInput = (text: string) => setTyped((before) => ({ ...before, [field.name]: text }));
            const all = { ...field, value, onInput, problem };
            if (kind === undefined) return <Field key={field.name} {...all} autocomplete="off" />;
            if ('lines' in kind) return <TextField key={field.name} {...all} rows={kind.lines} />;
            return <SelectField key={field.name} {...all} choices={kind.choices} />;
          })}
        </>
      )}
    </DeedDialog>
  );
}

/** Nothing but space says nothing. */
export const textOrNull = (text: string) => (text.trim() === '' ? null : text.trim());
