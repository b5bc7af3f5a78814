/** A line to copy: the text and a button. */

import { useEffect, useState } from 'preact/hooks';

/** @param label says what the line is, for screen readers and for the button */
export function CopyLine({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div class="copy-line">
      <code>{text}</code>
      <button type="button" class="small" onClick={() => void copy()} aria-label={`Copy ${label}`}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
