/** An editor for one file. CodeMirror, which is in it, is loaded when a page shows an editor for the first time. */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { EditorHandle, EditorSettings } from './editor/settings.ts';

export type { EditorLanguage, EditorProblem, EditorSettings } from './editor/settings.ts';

/** A text box that is named by its path. Its text is in an open shadow root. */
export function Editor(settings: EditorSettings) {
  const host = useRef<HTMLDivElement>(null);
  const handle = useRef<EditorHandle | null>(null);
  const latest = useRef(settings);
  latest.current = settings;
  const [state, setState] = useState<'loading' | 'ready' | 'failed'>('loading');
  useEffect(() => {
    let isGone = false;
    const open = async () => {
      const { openEditor } = await import('./editor/open.ts');
      if (isGone || host.current === null) return;
      handle.current = openEditor(host.current, latest.current);
      setState('ready');
    };
    open().catch(() => !isGone && setState('failed'));
    return () => {
      isGone = true;
      handle.current?.destroy();
      handle.current = null;
    };
  }, []);
  useLayoutEffect(() => handle.current?.update(settings));
  if (state === 'failed') return <PlainEditor {...settings} />;
  return (
    <div class="editor" ref={host} aria-busy={state === 'loading'}>
      {state === 'loading' && <Waiting {...settings} />}
    </div>
  );
}

/** The text until the editor is there. It is no text box yet, so nobody types into what will go away. */
function Waiting({ path, label, text }: EditorSettings) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, which must be possible by the keyboard
    <section class="editor-waiting" aria-label={`${label ?? path}, loading`} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  );
}

/** Where CodeMirror cannot be loaded, the text can be changed all the same. */
function PlainEditor({ path, label, text, isReadOnly, onChange }: EditorSettings) {
  return (
    <textarea
      class="editor-plain"
      aria-label={label ?? path}
      value={text}
      readOnly={isReadOnly === true}
      spellcheck={false}
      onInput={(event) => onChange?.(event.currentTarget.value)}
    />
  );
}
