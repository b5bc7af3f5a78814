/** What a page asks of an editor. These types are all that the page's own program needs of it at first. */

/** A problem of the document, which the editor shows beside its line. */
export interface EditorProblem {
  /** JSON Pointer to the value; it is looked up in the text. */
  path?: string | null | undefined;
  /** Counted from 1. It goes before `path`. */
  line?: number | null | undefined;
  /** The place in the line at which it begins; the first place is 1. */
  column?: number | null | undefined;
  message: string;
  severity?: 'error' | 'warning' | 'info' | undefined;
}

/** The part of JSON Schema that helps whoever writes a document. */
export interface DocumentSchema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, DocumentSchema>;
  additionalProperties?: boolean | DocumentSchema;
  items?: boolean | DocumentSchema;
  required?: string[];
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  /** The value is a secret. */
  writeOnly?: boolean;
}

export type EditorLanguage = 'yaml' | 'json' | 'text';

export interface EditorSettings {
  /** The path of the file, which is the name of the text box. */
  path: string;
  /** The name of the text box, if it is not the path. */
  label?: string | undefined;
  text: string;
  language: EditorLanguage;
  isReadOnly?: boolean | undefined;
  problems?: readonly EditorProblem[] | undefined;
  /** JSON Schema of the whole document, as `GET /configurations/{name}/parameters` answers. */
  schema?: object | null | undefined;
  /** Called with the whole text after each change by the user. */
  onChange?: ((text: string) => void) | undefined;
  /** Called when the user presses Ctrl+S. */
  onSave?: (() => void) | undefined;
}

/** An editor that is there. */
export interface EditorHandle {
  /** Makes the editor what the settings say. What is equal already, such as the history of changes, stays. */
  update(settings: EditorSettings): void;
  destroy(): void;
}
