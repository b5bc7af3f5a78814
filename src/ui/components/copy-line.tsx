/** Text to copy: a button, and a line with such a button. */

import { useEffect, useState } from 'preact/hooks';

interface CopyButtonProps {
  text: string;
  /** Says what is copied, for screen readers: the button is named `Copy <label>`. */
  label: string;
  /** What stands on the button. */
  deed?: string;
}

export function CopyButton({ text, label, deed = 'Copy' }: CopyButtonProps) {
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
    <button type="button" class="small" onClick={() => void copy()}>
      {isCopied ? 'Copied' : deed}
      <span class="visually-hidden"> {label}</span>
    </button>
  );
}

/** @param label says what the line is, for screen readers and for the button */
export function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <div class="copy-line">
      {/* The space keeps them apart for whoever selects both, and is not shown. */}
      <code>{text}</code> <CopyButton text={text} label={label} />
    </div>
  );
}
